"""Random statements that Stan has and few programs use: several variables at once, `while` in steps, printing,
operators that assign, elements taken in several steps."""

from __future__ import annotations

from .containers import expression, vector_of
from .idioms import Lines, _indented, _length, _real, _some
from .integers import integer
from .kinds import INT, REAL, Kind, array, matrix, vector
from .laws import both
from .reals import real
from .scope import Place, Variable, size


def rare(place: Place) -> Lines:
    """One of them; nothing where it does not fit."""
    makers = [(2, divided), (2, chained), (1, printed), (2, sorted_by), (2, shaped), (2, scattered_twice)]
    if not place.outermost:
        makers += [(3, steps)]
    if "tuples" in place.features:
        makers += [(8, unpacked), (4, exchanged)]
    return place.choices.weighted(makers)(place)


def divided(place: Place) -> Lines:
    """`/=` and `./=` of a variable or a stretch of it."""
    c, n = place.choices, max(1, _length(place))
    name = place.names.fresh()
    low, high = sorted((c.between(1, n), c.between(1, n)))
    by = f"(1.5 + square({_real(place)}))"
    count = high - low + 1
    change = c.pick([
        f"{name} /= {by};", f"{name}[{low}:{high}] /= {by};",
        f"{name}[{low}:{high}] ./= 1.5 + square({vector_of(place, count, 1, place.data_only)});",
        f"{name}[{low}] /= {by};", f"{name}[{{{low}, {high}}}] += [0.3, {_real(place)}]';",
        f"{name}[{low}:{high}] *= {_real(place)};",
    ])  # fmt: skip
    lines = [f"vector[{size(place, n)}] {name} = {vector_of(place, n, 1, place.data_only)};", change]
    place.add(Variable(name, vector(n), 0, 0, place.data_only, place.data_only, True))
    return lines


def chained(place: Place) -> Lines:
    """An element of an element of a part."""
    c = place.choices
    rows, columns = max(1, _length(place)), c.between(1, 3)
    held, taken = place.names.fresh(), place.names.fresh()
    i, j = integer(place, 1, rows, 1, place.data_only), integer(place, 1, columns, 1, place.data_only)
    forms = [(array(vector(columns), rows), ["{v}[{i}][{j}]", "{v}[{i}, {j}]", "{v}[1:{r}][{i}, {j}]",
                                             "{v}[:, {j}][{i}]"]),
             (matrix(rows, columns), ["{v}[{i}][{j}]", "{v}[, {j}][{i}]", "{v}[1:{r}][{i}][{j}]", "{v}[{i}, 1:][{j}]",
                                      "col({v}, {j})[{i}]", "({v}')[{j}, {i}]"]),
             (array(matrix(2, columns), rows), ["{v}[{i}][2][{j}]", "{v}[{i}][2, {j}]", "{v}[{i}, 1][{j}]",
                                                "{v}[{i}][:, {j}][1]", "{v}[, 2, {j}][{i}]"])]  # fmt: skip
    kind, texts = c.pick(forms)
    value = expression(place, kind, 1, place.data_only)
    sizes = {"matrix": f"matrix[{rows}, {columns}]", "array": ""}
    head = sizes[kind.name] or (f"array[{rows}] vector[{columns}]" if kind.element.name == "vector"
                                else f"array[{rows}] matrix[2, {columns}]")  # fmt: skip
    place.add(Variable(held, kind, 0, 0, place.data_only, place.data_only, True))
    place.add(Variable(taken, REAL, 0, 0, place.data_only, place.data_only, True))
    return [f"{head} {held} = {value};", f"real {taken} = {c.pick(texts).format(v=held, i=i, j=j, r=rows)};"]


def printed(place: Place) -> Lines:
    """Something is printed, of which nothing that is compared depends; Stan is told nothing of it."""
    c = place.choices
    if "wild" in place.features:  # Stan's compiler is run without a stream for messages: it does not compute them then
        return []
    parts = ['"at "']
    for _ in range(c.between(1, 2)):
        kind = c.pick([REAL, vector(2), matrix(2, 2), array(REAL, 2), INT])
        parts.append(expression(place, kind, 1, place.data_only))
    return [both(f"print({', '.join(parts)});", "")]


def sorted_by(place: Place) -> Lines:
    """Values in the order of others."""
    c, n = place.choices, max(2, _length(place))
    name = place.names.fresh()
    value, by = (vector_of(place, n, 1, place.data_only) for _ in range(2))
    ranks = f"linspaced_vector({n}, 0, 0.01)"
    text = c.pick([f"({value})[sort_indices_asc({by} + {ranks})]", f"sort_desc({value})", f"sort_asc({value})",
                   f"({value})[sort_indices_desc({by} - {ranks})[1:{n}]]"])  # fmt: skip
    place.add(Variable(name, vector(n), 0, 0, place.data_only, place.data_only, True))
    return [f"vector[{size(place, n)}] {name} = {text};"]


def shaped(place: Place) -> Lines:
    """A matrix made of a vector, of columns, or of rows, and multiplied."""
    c, n = place.choices, max(1, _length(place))
    name = place.names.fresh()
    one, two = (vector_of(place, n, 1, place.data_only) for _ in range(2))
    text = c.pick([
        f"to_matrix(append_row({one}, {two}), {n}, 2)", f"append_col({one}, {two})",
        f"to_matrix(append_row({one}, {two}), {n}, 2, 0)", f"append_row(({one})', ({two})')'",
        f"diag_post_multiply(append_col({one}, {two}), [0.5, {_real(place)}]')",
        f"append_col({one}, {two}) * [[1, 0.2], [-0.3, 0.5]]", f"rep_matrix({one}, 2) .* append_col({two}, {one})",
        f"(({_real(place)} > 0.1) ? append_col({one}, {two}) : rep_matrix(0.4, {n}, 2))",
        f"diag_pre_multiply({one}, append_col({one}, {two}))",
    ])  # fmt: skip
    place.add(Variable(name, matrix(n, 2), 0, 0, place.data_only, place.data_only, True))
    return [f"matrix[{size(place, n)}, 2] {name} = {text};"]


def scattered_twice(place: Place) -> Lines:
    """Several entries at once, of which some are the same: the last one stays."""
    c, n = place.choices, max(1, _length(place))
    name = place.names.fresh()
    at = [c.between(1, n) for _ in range(3)]
    index = "{" + ", ".join(map(str, at)) + "}"
    value = vector_of(place, 3, 1, place.data_only)
    own = c.chance(40)
    lines = [f"vector[{size(place, n)}] {name} = {vector_of(place, n, 1, place.data_only)};",
             f"{name}[{index}] = {f'{name}[{index}] .* ' if own else ''}{value};"]  # fmt: skip
    place.add(Variable(name, vector(n), 0, 0, place.data_only, place.data_only, True))
    return lines


def steps(place: Place) -> Lines:
    """`while` whose counter goes in steps, up or down, with `continue`, and which tells how long a stretch is."""
    c, n = place.choices, max(1, _length(place))
    if n > place.budget or place.loops > 2:
        return []
    total, at = place.names.fresh(), place.names.fresh()
    held = vector_of(place, n, 1, place.data_only)
    values = place.names.fresh()
    inner = place.inner(loops=place.loops + 1, budget=place.budget // n, breakable=False, returns=False,
                        dynamic=not place.data_only)  # fmt: skip
    inner.add(Variable(at, INT, 1, n, place.data_only, False))
    up = c.chance(60)
    by = c.pick([1, 2])
    step = f"{at} {'+' if up else '-'}= {by};"
    first, test = ("1", f"{at} <= {n}") if up else (f"{n}", f"{at} >= 1")
    if c.chance(50):
        test += f" && {total} < {c.pick(['1.137', '0.431'])}"
    stretch = c.pick(["head({v}, {i})", "{v}[1:{i}]", "{v}[{i}:]", "tail({v}, {i})", "segment({v}, {i}, 1)"])
    added = f"{total} += tanh({c.pick(['sum', 'dot_self', 'max'])}({stretch.format(v=values, i=at)}));"
    skipped = real(inner, 1, place.data_only)
    skips = [f"if ({skipped} > {c.pick(['0.137', '-0.431'])}) {{ {step} continue; }}"] if c.chance(60) else []
    lines = [*_some(inner, 1), *skips, added, step]
    if c.chance(20):
        lines.insert(0, f"if ({total} < -0.713) break;")
    place.add(Variable(total, REAL, 0, 0, place.data_only, place.data_only, True))
    # stanli goes wrong in `while`, see statements.counted_while; `for` does not let a counter be changed
    head = both(f"while ({test}) {{", f"for ({place.names.fresh()} in 1:{n + 2}) {{ if (!({test})) break;")
    return [f"real {total} = 0;", "{", f"  vector[{n}] {values} = {held};", f"  int {at} = {first};",
            f"  {head}", *_indented(_indented(lines)), "  }", f"  {total} += 0.1 * {at};", "}"]  # fmt: skip


def unpacked(place: Place) -> Lines:
    """Several variables that get their values at once, from a tuple or what a function returns."""
    n = max(1, _length(place))
    one, other = place.names.fresh(), place.names.fresh()
    kind = Kind("tuple", (), (REAL, vector(n)))
    value = expression(place, kind, 2, place.data_only)
    place.add(Variable(one, REAL, 0, 0, place.data_only, place.data_only, True))
    place.add(Variable(other, vector(n), 0, 0, place.data_only, place.data_only, True))
    lines = [f"real {one};", f"vector[{size(place, n)}] {other};"]
    return [*lines, f"({one}, {other}) = {value};"]


def exchanged(place: Place) -> Lines:
    """Two variables that change their values."""
    c = place.choices
    static = place.static or place.data_only
    known = place.having(lambda v: v.kind == REAL and v.assignable and (not v.static or static))
    if len(known) < 2:
        return []
    first = c.below(len(known) - 1)
    one, other = known[first].name, known[first + 1].name
    value = c.pick([other, real(place, 1, place.data_only)])
    return [f"({one}, {other}) = ({value}, {one});"]
