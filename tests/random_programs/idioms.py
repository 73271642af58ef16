"""Random programs do what programs do over and over: values by cases, counters, ragged locals, searches, extremes,
exchanges, symmetric matrices, sums over states."""

from __future__ import annotations

from functools import partial

from .containers import expression, vector_of
from .integers import condition, integer, is_static
from .kinds import INT, REAL, Kind, array, declared, matrix, vector
from .laws import both
from .reals import real
from .scope import Place, Variable, size

Lines = list[str]


def idiom(place: Place) -> Lines:
    """One of them; nothing where it does not fit."""
    from . import layouts

    makers = [(4, by_cases), (3, ragged_locals), (2, sums_over_states), (2, symmetric), (1, exchanged),
              (2, layouts.rows_of_matrices), (2, layouts.one_behind_the_other), (2, layouts.tuples_of_containers),
              (2, layouts.boxes), (3, layouts.arrays_of_tuples)]  # fmt: skip
    if not place.outermost:  # transformed parameters are no ints
        makers += [(4, counter), (3, search), (2, extreme)]
    return place.choices.weighted(makers)(place)


def _length(place: Place) -> int:
    known = sorted({n for n in place.sizes.values() if 0 < n < 5})
    return place.choices.pick(known) if known else 2


def _around(place: Place, index: str, n: int, first: int = 1) -> Place:
    """The body of a loop over `first` to n."""
    inner = place.inner(loops=place.loops + 1, budget=place.budget // max(1, n))
    inner.add(Variable(index, INT, first, max(n, first), True, True))
    return inner


def _some(place: Place, most: int, percent: int = 40) -> Lines:
    from .statements import statements

    return statements(place, most, percent)


def _indented(lines: Lines) -> Lines:
    return ["  " + line for line in lines]


def _test(place: Place) -> tuple[str, bool]:
    """A condition, and whether it depends on data alone."""
    static = place.data_only or place.choices.chance(50)
    text = condition(place, 1, static)
    return text, static or is_static(place, text)


def _real(place: Place, depth: int = 1) -> str:
    return real(place, depth, place.data_only)


def by_cases(place: Place) -> Lines:
    """A variable without a value, which every branch gives it."""
    c, n = place.choices, _length(place)
    kinds = [REAL, vector(n), array(REAL, n)]
    kind = c.pick(kinds if place.outermost else [*kinds, INT])
    name = place.names.fresh()
    tests = [_test(place) for _ in range(c.between(1, 2))]
    dynamic = place.dynamic or not all(known for _, known in tests)
    heads = [f"if ({tests[0][0]}) {{", *(f"}} else if ({t}) {{" for t, _ in tests[1:]), "} else {"]
    lines = [declared(kind, [size(place, d) for d in kind.dims], name) + ";"]
    for head in heads:
        lines += [head, *_indented(_case(place.inner(dynamic=dynamic), name, kind))]
    place.add(Variable(name, kind, 1, 3, place.data_only, place.data_only, True))
    return [*lines, "}"]


def _case(place: Place, name: str, kind: Kind) -> Lines:
    lines = _some(place, 1)
    if kind.name != "vector" or place.choices.chance(60):
        return [*lines, f"{name} = {expression(place, kind, 1, place.data_only, 1, 3)};"]
    index, n = place.names.fresh(), kind.dims[0]
    return [*lines, f"for ({index} in 1:{size(place, n)}) {name}[{index}] = {_real(_around(place, index, n))};"]


def counter(place: Place) -> Lines:
    """How often something was so, and when."""
    c, n = place.choices, _length(place)
    if n > place.budget:
        return []
    count, when, index = (place.names.fresh() for _ in range(3))
    inner = _around(place, index, n)
    before = _some(inner, 1)
    test, known = _test(inner)
    static = place.data_only or known and place.static
    inside = inner.inner(dynamic=inner.dynamic or not static)
    inside.add(Variable(count, INT, 1, n, place.data_only, static))
    found = [f"{count} += 1;", f"{when}[{count}] = {index};", *_some(inside, 1)]
    lines = [f"int {count} = 0;", f"array[{size(place, n)}] int {when} = rep_array(1, {size(place, n)});",
             f"for ({index} in 1:{size(place, n)}) {{",
             *_indented([*before, f"if ({test}) {{", *_indented(found), "}"]), "}"]  # fmt: skip
    place.add(Variable(when, array(INT, n), 1, n, place.data_only, static))
    place.add(Variable(count, INT, 0, n, place.data_only, static))
    return lines if c.chance(50) else lines + _so_often(place, count, n, static)


def _so_often(place: Place, count: str, n: int, static: bool) -> Lines:
    """A loop with a counted number of iterations."""
    from .statements import body

    index = place.names.fresh()
    inner = place.inner(loops=place.loops + 1, budget=place.budget // n, dynamic=place.dynamic or not static)
    inner.add(Variable(index, INT, 1, n, place.data_only, static))
    return [f"for ({index} in 1:{count}) {{", *_indented(body(inner, 2, 85)), "}"]


def ragged_locals(place: Place) -> Lines:
    """A variable whose size differs between the iterations of a loop."""
    c, n = place.choices, _length(place)
    if n * n > place.budget or place.loops > 2:
        return []
    total, index, local, other = (place.names.fresh() for _ in range(4))
    inner = _around(place, index, n)
    length, before = c.pick([index, f"{n} - {index} + 1", f"({integer(inner, 0, n, 1, static=True)})"]), Lines()
    if c.chance(30):
        length, before = _chosen(inner, n)
    form = c.pick(["head({v}, {n})", "tail({v}, {n})", "segment({v}, 1, {n})", "rep_vector(({v})[1], {n})"])
    inside = _around(inner, other, n)
    change = c.pick(["{w}[{j}] += {x};", "{w}[{j}] = {w}[1] * tanh({x});",
                     "if ({j} > 1) {w}[{j}] -= 0.4 * {w}[{j} - 1] + sin({x});"])  # fmt: skip
    taken = c.pick(["sum({})", "dot_self({})", "sum(tanh({}))", "sum(cumulative_sum({}))",
                    "log_sum_exp(append_row(0, {}))"])  # fmt: skip
    lines = [*before, f"vector[{length}] {local} = {form.format(v=vector_of(inner, n, 1, place.data_only), n=length)};",
             f"for ({other} in 1:{length}) {change.format(w=local, j=other, x=_real(inside))}", *_some(inner, 1)]
    if place.target and c.chance(30):
        lines.append(f"target += normal_lpdf({local} | {_real(inner)}, 1.5);")
    added = c.pick(["{t} += tanh({x});", "{t} = 0.5 * {t} + tanh({x});"])
    lines.append(added.format(t=total, x=taken.format(local)))
    place.add(Variable(total, REAL, 0, 0, place.data_only, place.data_only, True))
    return [f"real {total} = 0;", f"for ({index} in 1:{size(place, n)}) {{", *_indented(lines), "}"]


def _chosen(place: Place, most: int) -> tuple[str, Lines]:
    """An int up to `most` that a condition on data chooses, and the statements that make it."""
    name, known = place.names.fresh(), partial(integer, place, 0, most, 1, static=True)
    test, other = (condition(place, 1, True) for _ in range(2))
    changed = f"{name} = {known()};" if place.choices.chance(50) else f"if ({other}) {name} = 0;"
    return name, [f"int {name} = {known()};", f"if ({test}) {{ {name} = {known()}; }} else {{ {changed} }}"]


def search(place: Place) -> Lines:
    """The first place where something is so."""
    c, n = place.choices, _length(place)
    if n > place.budget or place.loops > 3:
        return []
    at = place.names.fresh()
    inside = place.inner(loops=place.loops + 1, budget=place.budget // n, breakable=False, returns=False)
    inside.add(Variable(at, INT, 1, n, place.data_only, place.data_only))
    what = f"({vector_of(place, n, 0, place.data_only)})[{at}]" if c.chance(60) else f"({_real(inside)})"
    test = f"{at} < {n} && {what} {c.pick(['<', '>'])} {c.pick(['0.137', '-0.431', '0.713'])}"
    inner = inside.inner(dynamic=not place.data_only)
    # stanli 0.24 goes wrong in `while`, see counted_while
    head = both(f"while ({test}) {{", f"for ({place.names.fresh()} in 1:{n + 2}) {{ if (!({test})) break;")
    lines = [f"int {at} = 1;", head, *_indented([*_some(inner, 1), f"{at} += 1;"]), "}"]
    place.add(Variable(at, INT, 1, n, place.data_only, place.data_only))
    return lines


def extreme(place: Place) -> Lines:
    """The largest or smallest value of a loop, and where it is."""
    c, n = place.choices, _length(place)
    if n > place.budget:
        return []
    best, at, index, value = (place.names.fresh() for _ in range(4))
    start, sign = c.pick([("negative_infinity()", ">"), ("positive_infinity()", "<"), ("0.2", ">")])
    inner = _around(place, index, n)
    lines = [f"real {value} = {_real(inner, 2)};", f"if ({value} {sign} {best}) {{", f"  {best} = {value};",
             f"  {at} = {index};", "}"]  # fmt: skip
    place.add(Variable(at, INT, 1, n, place.data_only, place.data_only))
    place.add(Variable(best, REAL, 0, 0, place.data_only, place.data_only))
    return [f"real {best} = {start};", f"int {at} = 1;", f"for ({index} in 1:{size(place, n)}) {{",
            *_indented([*_some(inner, 1), *lines]), "}"]  # fmt: skip


def exchanged(place: Place) -> Lines:
    """Neighbours that change places, as in sorting."""
    c, n = place.choices, _length(place)
    name, index, kept = (place.names.fresh() for _ in range(3))
    first, second = f"{name}[{index} - 1]", f"{name}[{index}]"
    test = c.pick([f"{first} > {second}", f"{first} * {second} < 0", condition(_around(place, index, n, 2), 1,
                                                                               place.data_only)])  # fmt: skip
    lines = [f"vector[{size(place, n)}] {name} = {vector_of(place, n, 1, place.data_only)};"]
    place.add(Variable(name, vector(n), 0, 0, place.data_only, place.data_only, True))
    return [*lines, f"for ({index} in 2:{size(place, n)}) if ({test}) {{", f"  real {kept} = {first};",
            f"  {first} = {second};", f"  {second} = {kept};", "}"]  # fmt: skip


def symmetric(place: Place) -> Lines:
    """A positive definite matrix, one triangle of which is computed, and what is computed of it."""
    c, n = place.choices, min(3, _length(place))
    if n * n > place.budget or place.loops > 2:
        return []
    name, i, j = (place.names.fresh() for _ in range(3))
    outer = _around(place, i, n)
    inner = _around(outer, j, n)
    bounds = c.pick([f"1:({i} - 1)", f"({i} + 1):{n}"])
    part = [f"{name}[{i}, {j}] = 0.2 * tanh({_real(inner)});", f"{name}[{j}, {i}] = {name}[{i}, {j}];"]
    diagonal = f"{name}[{i}, {i}] = 1.5 + exp(tanh({_real(outer)}));"
    lines = [f"matrix[{n}, {n}] {name};", f"for ({i} in 1:{n}) {{",
             *_indented([*_some(outer, 1), diagonal, f"for ({j} in {bounds}) {{", *_indented(part), "}"]), "}"]
    place.add(Variable(name, matrix(n, n), 0, 0, place.data_only, place.data_only))
    if place.target and c.chance(50):
        y, mu = vector_of(place, n, 1), vector_of(place, n, 1)
        lines.append(f"target += multi_normal_lpdf({y} | {mu}, {name});")
    elif c.chance(50) and not place.outermost:
        total = place.names.fresh()
        lines.append(f"real {total} = log_determinant({name}) + sum(cholesky_decompose({name}));")
        place.add(Variable(total, REAL, 0, 0, place.data_only, place.data_only))
    return lines


def sums_over_states(place: Place) -> Lines:
    """Log weights of states that go on from step to step, as of a hidden Markov model."""
    n = _length(place)
    if 4 * n > place.budget or place.loops > 1:
        return []
    weights, following, terms, t, i, j = (place.names.fresh() for _ in range(6))
    one = _around(place, t, n)
    two = _around(one, j, 2)
    three = _around(two, i, 2)
    lines = [f"array[2] real {terms};", f"for ({i} in 1:2) {terms}[{i}] = {weights}[{i}] + tanh({_real(three)});",
             f"{following}[{j}] = log_sum_exp({terms}) + sin({_real(two)});"]  # fmt: skip
    place.add(Variable(weights, vector(2), 0, 0, place.data_only, place.data_only, True))
    return [f"vector[2] {weights} = [0.1, -0.2]';", f"for ({t} in 1:{size(place, n)}) {{", f"  vector[2] {following};",
            *_indented(_some(one, 1)), f"  for ({j} in 1:2) {{", *_indented(_indented(lines)), "  }",
            f"  {weights} = {following};", "}"]  # fmt: skip
