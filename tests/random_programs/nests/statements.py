"""Statements of nests, loops aside: assignments, accumulators, counters, branches, and what leaves a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..choices import Choices
from .expressions import atom, bounds, call, condition, element, index, integer, real, row
from .overlaps import alias, of_tuples, overlapping
from .scope import (
    ANY,
    DEEP,
    GRID,
    INT,
    INTS,
    MATRICES,
    MATRIX,
    REAL,
    REALS,
    VECTOR,
    VECTORS,
    Int,
    Place,
    Size,
    Variable,
    indented,
)  # fmt: skip

Lines = list[str]
DEEPEST = 6  # branches, blocks and loops around a statement


def body(place: Place, least: int = 1) -> Lines:
    """Some statements."""
    c, out = place.choices, []
    for k in range(place.most if least else 1):
        if k < least or c.chance(50):
            with c.span():
                made = statement(place)
            out += made
            if made and made[-1] == "}" and place.depth and c.chance(60):
                out += shown(place)
    return out


def shown(place: Place) -> Lines:
    """What is left of a variable behind a loop or a branch shows, in the target or in what all iterations add to."""
    c, known = place.choices, [v for v in place.variables if v.assignable and v.kind != INTS and v.use == "free"]
    if not known:
        return []
    v = c.pick(known[::-1])
    some = _whole(v)
    if place.target and c.chance(50):
        return [f"target += {c.pick(['0.3', '0.7', *(i.text for i in place.indices)])} * tanh({some});"]
    sums, rows = (place.assignable(*kinds, uses=("sum", "free")) for kinds in ((REAL,), (VECTOR, REALS)))
    at = element(place, c.pick(rows)) if rows and c.chance(50) else None
    return [f"{at or c.pick(sums[::-1]).name} += 0.4 * tanh({some});"] if at or sums else []


def statement(place: Place) -> Lines:
    from .loops import loop  # which has bodies

    c = place.choices
    kinds: list[tuple[int, str, Callable[[Place], Lines]]] = [
        (14, "", assignment), (8, "elements", on_element), (5, "rows", on_row), (5, "ints", on_int),
        (5, "counters", counted), (3, "swaps", swap), (4, "extremes", extreme), (6, "locals", declaration),
        (8, "branches", branch), (35 if place.depth < 3 else 6, "", loop), (18, "escapes", escape),
        (4, "increments", increment), (2, "blocks", nested), (3, "arrays of ints", of_ints), (8, "columns", on_column),
        (6, "apart elements", either), (8, "kinds of functions", performed),
        (20, "overlaps", overlapping), (8, "overlaps", alias), (10, "arrays of tuples", of_tuples),
    ]  # fmt: skip
    chosen = [(weight, make) for weight, name, make in kinds if not name or name in place.features
              if place.level < DEEPEST or make not in (branch, nested, loop)]
    return c.weighted(chosen)(place) or assignment(place)


FEATURES = ("elements", "rows", "ints", "counters", "swaps", "extremes", "locals", "branches", "escapes", "increments",
            "blocks", "arrays of ints", "items", "while", "dynamic", "parts", "apart")  # fmt: skip
RARE = ("names again", "chains", "deep", "columns", "kinds of functions", "apart elements", "choices of ints",
        "changed parts", "items of parts", "target", "overlaps", "arrays of tuples", "changed bounds", "changed items",
        "sizes asked", "quotients", "algebra")  # fmt: skip


def assignment(place: Place) -> Lines:
    """Of a scalar, perhaps of what it was."""
    c, known = place.choices, place.assignable(REAL, uses=ANY)
    if not known:
        return [f"real {place.fresh('t')} = {real(place, 1)};"]
    return [_changed(place, v := c.pick(known[:2] if c.chance(50) else known), v.name)]


def _changed(place: Place, v: Variable, name: str) -> str:
    """An assignment to a number, a variable or an element of one."""
    value = real(place, 2)
    if v.use != "free":
        return f"{name} {'+=' if v.use == 'sum' else '='} {value};"
    compound = place.choices.pick(_compound(place, name))
    return place.choices.weighted([(5, f"{name} = {value};"), (4, f"{name} += {value};"), (3, compound)])


def _compound(place: Place, name: str) -> Lines:
    """Assignments that keep a number of moderate size."""
    c = place.choices
    return [f"{name} -= {real(place, 1)};", f"{name} *= {c.pick(['0.5', f'tanh({atom(place)})', '-1'])};",
            f"{name} /= {c.pick(['2', f'(1 + square({atom(place)}))'])};", f"{name} = 0;",
            f"{name} = 0.5 * {name} + {atom(place)};"]  # fmt: skip


def on_element(place: Place) -> Lines:
    """Of a number in a container."""
    c, known = place.choices, place.assignable(VECTOR, REALS, *DEEP, uses=ANY)
    if not known:
        return []
    v = c.pick(known)
    at = element(place, v)
    return [_changed(place, v, at)] if at else []


def on_row(place: Place) -> Lines:
    """Of a vector, a row, or a part of a vector."""
    c, known = place.choices, place.assignable(VECTOR, *DEEP, uses=("free", "last"))
    if not known:
        return []
    v = c.pick(known)
    if v.use == "last":
        return [f"{v.name} = {row(place, v.sizes[0])};"] if v.kind == VECTOR else []
    if v.kind == VECTOR:
        return _vector(place, v.name, v.sizes[0])
    indices = [index(place, s) for s in v.sizes[:-1]]
    if None in indices:
        return []
    i = c.pick([", ", "]["]).join(i for i in indices if i)
    if v.kind in (VECTORS, GRID):
        return _vector(place, f"{v.name}[{i}]", v.sizes[-1])
    return [f"{v.name}[{i}] {c.pick(['=', '+='])} ({row(place, v.sizes[-1])})';"]


def _vector(place: Place, name: str, size: Size) -> Lines:
    c, some = place.choices, row(place, size, 1)
    parts = [part for low, high in bounds(place, size) for part in (
        f"{name}[{low}:{high}] = tanh({name}[{low}:{high}] + {atom(place)});",
        f"{name}[1:{high}] = rep_vector({real(place, 1)}, {high});", *_changed_part(place, f"{name}[{low}:{high}]"))]
    return [c.pick([f"{name} = {some};", f"{name} += {some};", f"{name} .*= tanh({some});", f"{name} -= {some};",
                    f"{name} *= {c.pick(['0.5', f'tanh({atom(place)})'])};", f"{name} = 0.5 * {name} + {some};",
                    *parts])]  # fmt: skip


def _changed_part(place: Place, part: str) -> Lines:
    """Compound assignments to a part of a vector."""
    if "changed parts" not in place.features:
        return []
    return [f"{part} += {atom(place)};", f"{part} *= tanh({atom(place)});", f"{part} -= 0.5 * {part};",
            f"{part} .*= tanh({part} + {atom(place)});"]  # fmt: skip


def on_column(place: Place) -> Lines:
    """Of a column of a matrix, or a part of one."""
    c, known = place.choices, place.assignable(MATRIX)
    if not known:
        return []
    v = c.pick(known)
    j = index(place, v.sizes[1])
    if j is None:
        return []
    name = f"{v.name}[, {j}]"
    parts = [line for low, high in bounds(place, v.sizes[0]) for line in (
        f"{v.name}[{low}:{high}, {j}] = tanh({v.name}[{low}:{high}, {j}] + {atom(place)});",
        *_changed_part(place, f"{v.name}[{low}:{high}, {j}]"))]  # fmt: skip
    some = row(place, v.sizes[0], 1)
    return [c.pick([f"{name} = {some};", f"{name} += {some};", f"{name} *= tanh({atom(place)});", *parts, *parts])]


def either(place: Place) -> Lines:
    """Of one element or another, in the branches of a condition."""
    c, known = place.choices, place.assignable(VECTOR, REALS, *DEEP)
    if not known:
        return []
    v = c.pick(known)
    one, other = element(place, v), element(place, c.pick(known) if c.chance(30) else v)
    if not one or not other:
        return []
    test = condition(place, not place.has_dynamic or c.chance(60))
    return [f"if ({test}) {_changed(place, v, one)}", f"else {other} {c.pick(['=', '+='])} {real(place, 1)};"]


def performed(place: Place) -> Lines:
    """A call that is a statement."""
    made = call(place, "void", 1)
    return [f"{made};"] if made else []


def increment(place: Place) -> Lines:
    """To the target, or a law of an element of a container."""
    c = place.choices
    if not place.target:
        return []
    y = place.having(lambda v: v.kind == VECTOR and v.static and not v.assignable)
    at = element(place, y[0]) if y else None
    forms = [f"target += {real(place, 2)};"]
    if at:
        forms += [f"{at} ~ normal({real(place, 2)}, 1.5);", f"target += normal_lpdf({at} | {real(place, 2)}, 2);"]
    return [c.pick(forms)]


# --- ints ------------------------------------------------------------------------------------------------------------


def on_int(place: Place) -> Lines:
    """Of an int: another one that fits, the next, or the next of a circle."""
    c, known = place.choices, [v for v in place.assignable(INT) if v.room is None]
    if not known:
        return []
    v = c.pick(known)
    other = integer(place, v.low, v.high, v.static)
    forms = [f"{v.name} = {other.text};"] if other else []
    if v.high > 0:
        forms += [f"if ({v.name} < {v.high}) {v.name} += 1;", f"{v.name} = {v.name} % {v.high} + 1;"]
    return [c.pick(forms or [f"{v.name} = {v.low};"])]


def of_ints(place: Place) -> Lines:
    """Of an element of an array of ints."""
    c, known = place.choices, place.assignable(INTS)
    if not known:
        return []
    v = c.pick(known)
    at, value = index(place, v.sizes[0]), integer(place, v.low, v.high, v.static)
    if not at or not value or v.name in at:  # stanc takes no index of what is assigned
        return []
    return [f"{v.name}[{at}] = {value.text};"]


def counted(place: Place) -> Lines:
    """A counter that goes on, and the row that it has come to."""
    c = place.choices
    known = [v for v in place.assignable(INT) if v.room is not None]
    if not known:
        return []
    v = c.pick(known)
    containers = [w for w in place.assignable(VECTOR, REALS) if w.sizes[0].value >= v.high]
    lines = [f"{v.name} += 1;"]
    if containers:
        lines.append(f"{c.pick(containers).name}[{v.name}] {c.pick(['=', '+='])} {real(place, 2)};")
    times = place.around // max(v.loops, 1)
    if times <= (v.room or 0) and c.chance(70):
        v.room = (v.room or 0) - times
        test = f"if ({condition(place, v.static or place.data_only)}) " if c.chance(30) else ""
        return [f"{test}{{", *indented(lines), "}"] if test else lines
    return [f"if ({v.name} < {v.high}) {{", *indented(lines), "}"]


# --- several variables -----------------------------------------------------------------------------------------------


def swap(place: Place) -> Lines:
    known = place.assignable(REAL)
    if len(known) < 2:
        return []
    c = place.choices
    at = c.below(len(known))
    one, other, kept = known[at], known[(at + 1 + c.below(len(known) - 1)) % len(known)], place.inner().fresh("t")
    return ["{", f"  real {kept} = {one.name};", f"  {one.name} = {other.name};", f"  {other.name} = {kept};", "}"]


def extreme(place: Place) -> Lines:
    """The greatest or least so far, and perhaps where it was."""
    c, known = place.choices, place.assignable(REAL)
    if not known or not (place.has_dynamic or place.data_only):
        return []
    best, value, sign = c.pick(known), real(place, 1), c.pick([">", "<"])
    lines = [f"{best.name} = {value};"]
    where = [v for v in place.assignable(INT) if not v.static and v.room is None]
    if where and c.chance(50):
        v = c.pick(where)
        at = integer(place, v.low, v.high)
        lines += [f"{v.name} = {at.text};"] if at else []
    return [f"if ({value} {sign} {best.name}) {{", *indented(lines), "}"]


def declaration(place: Place) -> Lines:
    """A variable of this place's own, which what follows may read and change."""
    kinds = [REAL, REAL, INT, VECTOR, REALS, MATRIX, VECTORS, "counter", INTS]
    return declared(place, place.choices.pick(kinds + [GRID, MATRICES] * ("deep" in place.features)))


def declared(place: Place, kind: str) -> Lines:
    """A variable of a kind, with its first value."""
    c = place.choices
    n, m = (place.sizes[s] for s in c.pick([("N", "M"), ("M", "N"), ("N", "N")]))
    if kind in (INT, "counter"):
        return [_int(place, n, kind)]
    sizes = {REAL: (), MATRIX: (n, m), VECTORS: (n, m), GRID: (n, m, n), MATRICES: (n, n, m)}.get(kind, (n,))
    start, letter = "0" if c.chance(40) else atom(place), {REAL: "x", INTS: "k", MATRIX: "m"}.get(kind, "v")
    name = place.fresh(letter)
    text = {
        REAL: f"real {name} = {start};", VECTOR: f"vector[{n.text}] {name} = rep_vector({start}, {n.text});",
        REALS: f"array[{n.text}] real {name} = rep_array({start}, {n.text});",
        MATRIX: f"matrix[{n.text}, {m.text}] {name} = rep_matrix({start}, {n.text}, {m.text});",
        VECTORS: f"array[{n.text}] vector[{m.text}] {name} = rep_array(rep_vector({start}, {m.text}), {n.text});",
        GRID: f"array[{n.text}, {m.text}] vector[{n.text}] {name} = "
              f"rep_array(rep_vector({start}, {n.text}), {n.text}, {m.text});",
        MATRICES: f"array[{n.text}] matrix[{n.text}, {m.text}] {name} = "
                  f"rep_array(rep_matrix({start}, {n.text}, {m.text}), {n.text});",
        INTS: f"array[{n.text}] int {name} = rep_array(1, {n.text});",
    }[kind]  # fmt: skip
    static = place.data_only or kind == INTS and not place.is_decided and c.chance(50)
    place.variables.append(Variable(name, kind, sizes, 1, max(n.value, 1), static, True, loops=place.around))
    return [text]


def _int(place: Place, n: Size, kind: str) -> str:
    c, name = place.choices, place.fresh("c" if kind == "counter" else "k")
    static = place.data_only or not place.is_decided and c.chance(60)
    if kind == "counter":
        place.variables.append(Variable(name, INT, (), 0, n.value, static, True, n.value, place.around))
        return f"int {name} = 0;"
    low = c.pick([1, 0])
    start = integer(place, low, n.value, static) if n.value >= low else None
    place.variables.append(Variable(name, INT, (), low, max(n.value, low), static, True, loops=place.around))
    return f"int {name} = {start.text if start else low};"


# --- control flow ----------------------------------------------------------------------------------------------------


def branch(place: Place) -> Lines:
    c = place.choices
    static = not place.has_dynamic or c.chance(60)
    dynamic = place.dynamic or not static
    lines = [f"if ({condition(place, static)}) {{", *indented(body(place.inner(dynamic=dynamic))), "}"]
    if c.chance(40):
        lines[-1:] = ["} else {", *indented(body(place.inner(dynamic=dynamic))), "}"]
    return lines


def escape(place: Place) -> Lines:
    """`break`, `continue` or `return` under a condition."""
    c = place.choices
    if place.dynamic and not place.escapes:
        return []
    options = ["break;", "continue;"] if place.breakable else []
    if place.returns:
        options.append(_returned(place))
    if not options:
        return []
    return [f"if ({condition(place, place.data_only or not place.escapes)}) {c.pick(options)}"]


def _returned(place: Place) -> str:
    if place.returns == "void":
        return "return;"
    return f"return {real(place, 1) if place.returns == 'real' else row(place, place.sizes['N'], 1)};"


def nested(place: Place) -> Lines:
    return ["{", *indented(body(place.inner())), "}"]


def read(place: Place, variables: Sequence[Variable]) -> str:
    """A number in which all of some variables show, each with a factor of its own."""
    terms = [f"{0.7 + 0.3 * k:.1f} * {_whole(v)}" for k, v in enumerate(variables)]
    return " + ".join(terms) or "0"


def _whole(v: Variable) -> str:
    if v.kind in (REAL, INT):
        return v.name
    if v.kind == VECTORS:
        return f"(size({v.name}) > 0 ? dot_product({v.name}[1], linspaced_vector(size({v.name}[1]), 1, 2)) : 0)"
    if v.kind in (GRID, MATRICES):
        first, last = f"{v.name}[1]", f"{v.name}[size({v.name})]"
        first, last = (first, last) if v.kind == MATRICES else (f"{first}[1]", f"{last}[size({first})]")
        return f"(sum({first}) - 0.7 * sum({last}))"
    return f"sum({v.name})"


__all__ = ["Choices", "Int", "body", "declaration", "declared", "read", "statement"]
