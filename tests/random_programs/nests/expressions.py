"""Expressions of nests: ints that stay between bounds, indices, conditions, numbers and vectors."""

from __future__ import annotations

from collections.abc import Iterator

from .scope import (
    DEEP,
    INT,
    INTS,
    MATRICES,
    MATRIX,
    REAL,
    REALS,
    VECTOR,
    VECTORS,
    Function,
    Int,
    Place,
    Size,
    Variable,
)  # fmt: skip


def ints(place: Place) -> list[Int]:
    """What ints there are."""
    return [i for _, known in _by_kind(place) for i in known]


def _by_kind(place: Place) -> list[tuple[int, list[Int]]]:
    """The ints that there are with how often they are chosen: of loops, variables, sizes, data, computed, literals."""
    loops, variables = place.indices[::-1], [_of_variable(v) for v in reversed(place.of(INT))]
    sizes = [Int(s.text, s.value, s.value) for s in place.sizes.values()]
    elements = [e for v in place.of(INTS) for i in (*loops, *variables) for e in _elements(v, i)]
    moved = [i.moved(by) for i in (*loops, *variables) for by in (-1, 1)]
    back = [Int(f"{s.text} + 1 - {i.text}", s.value + 1 - i.high, s.value + 1 - i.low, i.static)
            for i in (*loops, *variables) for s in place.sizes.values()]  # fmt: skip
    literals = [Int("1", 1, 1), Int("2", 2, 2)]
    return [(10, loops), (4, variables), (6, sizes), (5, elements), (3, moved), (3, back), (1, literals),
            (4, _either(place, [*loops, *variables, *sizes[:1]])),
            (3, _quotients(place, [*loops, *variables]))]  # fmt: skip


def _quotients(place: Place, known: list[Int]) -> list[Int]:
    """Quotients and remainders, which go towards zero."""
    if "quotients" not in place.features:
        return []
    plain = [i for i in known if 0 <= i.low <= i.high]
    halves = [Int(f"({i.text} + 1) %/% 2", (i.low + 1) // 2, (i.high + 1) // 2, i.static) for i in plain]
    below = [Int(f"(3 + (-{i.text}) %/% 2)", 3 - i.high // 2, 3 - i.low // 2, i.static) for i in plain]
    rests = [Int(f"({i.text} % 2 + 1)", 1, 2, i.static) for i in plain]
    return [*halves, *below, *rests, *(Int(f"((-{i.text}) % 3 + 3)", 1, 3, i.static) for i in plain)]


def asked(place: Place) -> list[Int]:
    """The sizes of variables, as bounds of loops: stanc takes none as an index of what is assigned."""
    if "sizes asked" not in place.features:
        return []
    sized = [(f"size({v.name})", v.sizes[0]) for v in place.of(VECTOR, REALS, INTS)]
    sized += [(f"cols({v.name})", v.sizes[1]) for v in place.of(MATRIX)]
    sized += [(f"size({v.name}[1])", v.sizes[1]) for v in place.of(VECTORS) if v.sizes[0].value > 0]
    return [Int(text, s.value, s.value) for text, s in sized]


def _either(place: Place, known: list[Int]) -> list[Int]:
    """Ternaries of two ints, by flags that data hold."""
    flags = place.having(lambda v: v.name == "z") if "choices of ints" in place.features else []
    at = [i.text for v in flags for i in known if i.static and i.fits(1, v.sizes[0].value)]
    if not at or len(known) < 2:
        return []
    one, other = known[0], place.choices.pick(known[1:])
    if one.low > one.high or other.low > other.high:
        return []
    low, high = min(one.low, other.low), max(one.high, other.high)
    return [Int(f"(z[{at[0]}] > 0 ? {one.text} : {other.text})", low, high, one.static and other.static)]


def _of_variable(v: Variable) -> Int:
    return Int(v.name, v.low, v.high, v.static)


def _elements(v: Variable, i: Int) -> Iterator[Int]:
    if i.fits(1, v.sizes[0].value):
        yield Int(f"{v.name}[{i.text}]", v.low, v.high, v.static and i.static)


def integer(place: Place, low: int, high: int, static: bool = False) -> Int | None:
    """An int that stays between bounds, perhaps of those that depend on data alone; None if there is none."""
    fitting = [(weight, [i for i in known if i.fits(low, high) and (i.static or not static)])
               for weight, known in _by_kind(place)]  # fmt: skip
    some = [(weight, known) for weight, known in fitting if known]
    return place.choices.pick(place.choices.weighted(some)) if some else None


def index(place: Place, size: Size) -> str | None:
    found = integer(place, 1, size.value)
    return found.text if found else None


# --- conditions ------------------------------------------------------------------------------------------------------


def condition(place: Place, static: bool) -> str:
    """What decides a branch; where it is static by data and loops alone."""
    c = place.choices
    if c.chance(20):
        return f"{condition(place, static)} {c.pick(['&&', '||'])} {condition(place, static)}"
    if static and not place.data_only or c.chance(30):
        known = [i for i in ints(place) if i.static or not static]
        left, right = c.pick(known), c.pick(known)
        forms = [f"{left.text} > {right.text}", f"{left.text} == {right.text}", f"{left.text} > {c.between(0, 2)}"]
        return c.pick([*forms, f"({left.text} + {right.text}) % 2 == 0", *_of_data(place)])
    return f"{real(place, 1)} {c.pick(['>', '<'])} {c.pick([real(place, 0), '0.2', '-0.1'])}"


def _of_data(place: Place) -> list[str]:
    """Comparisons of elements of data, where an index of a loop is one of theirs."""
    vectors = place.having(lambda v: v.kind == VECTOR and v.static and not v.assignable)
    return [f"{v.name}[{i.text}] > 0.1" for v in vectors for i in place.indices
            if i.static and i.fits(1, v.sizes[0].value)]  # fmt: skip


# --- numbers ---------------------------------------------------------------------------------------------------------


def real(place: Place, depth: int) -> str:
    """A number of moderate size, whatever the variables hold."""
    c = place.choices
    if depth <= 0 or c.chance(15):
        return atom(place)
    forms = (_sum, _product, _bounded, _ternary, _reduced, _extreme, *(called,) * (2 * bool(place.functions)))
    more = (_algebra, _promoted) if "algebra" in place.features else ()
    return c.pick([*forms, *more])(place, depth - 1)


def _algebra(place: Place, depth: int) -> str:
    """A product of a row vector and a vector."""
    c, n = place.choices, place.sizes["N"]
    one, other = row(place, n, 0), row(place, n, 0)
    return c.pick([f"tanh(({one})' * ({other}))", f"tanh(sum(({one})' .* ({other})' + 0.5))",
                   f"tanh((({one}) * ({other})')[1, {n.text}])" if n.value else "0.1"])  # fmt: skip


def _promoted(place: Place, depth: int) -> str:
    """An int where a real number may stand, too."""
    c, known = place.choices, ints(place)
    i, test = c.pick(known).text, condition(place, not place.has_dynamic or c.chance(60))
    some = real(place, depth)
    return c.pick([f"(0.2 * sum({{{i}, {some}}}))", f"(0.1 * ({test} ? {i} : {some}))", f"(0.1 * ({i} / 2.0))",
                   f"(0.2 * [{some}, {i}] * [1, {some}]')", f"(0.1 * ({{{i}, 2}})[1] * {_factor(some)})"])  # fmt: skip


def atom(place: Place) -> str:
    """A literal, a scalar, an element, or an int as a number."""
    c = place.choices
    elements = [e for e in (_chained(place, v) or element(place, v) for v in _some(place)) if e]
    scalars = [v.name for v in place.of(REAL)][-4:]
    numbers = [f"0.2 * {i.text}" for i in place.indices[-2:]] + [f"0.3 * {v.name}" for v in place.of(INT)[-2:]]
    if place.target and "target" in place.features:
        numbers.append("tanh(0.1 * target())")
    return c.pick(["0.5", "1.2", *scalars, *scalars, *elements, *elements, *numbers])


def _some(place: Place) -> list[Variable]:
    """A few of the containers of numbers."""
    known = place.of(VECTOR, REALS, *DEEP)
    return [place.choices.pick(known) for _ in range(2)] if known else []


def _chained(place: Place, v: Variable) -> str | None:
    """One number of rows or elements that ints or bounds pick, as `v[ix][n]`; None mostly."""
    c = place.choices
    if "chains" not in place.features or not c.chance(40):
        return None
    picked = [(w.name, w.sizes[0]) for w in place.of(INTS) if 1 <= w.low and w.high <= v.sizes[0].value]
    picked += [(f"1:{size.text}", size) for size in place.sizes.values() if size.value <= v.sizes[0].value]
    if not picked:
        return None
    by, size = c.pick(picked)
    indices = [index(place, s) for s in (size, *v.sizes[1:])]
    if None in indices:
        return None
    return _at(place, f"{v.name}[{by}]", v.kind, [i for i in indices if i])


def element(place: Place, v: Variable) -> str | None:
    """One number of a container, None where no index is known to be one of its."""
    indices = [index(place, s) for s in v.sizes]
    if None in indices:
        return None
    return _at(place, v.name, v.kind, [i for i in indices if i])


def _at(place: Place, text: str, kind: str, indices: list[str]) -> str:
    """The element at some indices, in one pair of brackets or in several; a matrix's stand together mostly."""
    c = place.choices
    likely = {VECTORS: 40, MATRIX: 40 * ("chains" in place.features)}.get(kind, 30)
    out, group = text, [indices[0]]
    for i in indices[1:]:
        if c.chance(likely):
            out, group = f"{out}[{', '.join(group)}]", []
        group.append(i)
    return f"{out}[{', '.join(group)}]"


def _sum(place: Place, depth: int) -> str:
    return f"{real(place, depth)} {place.choices.pick(['+', '-'])} {_factor(real(place, depth))}"


def _product(place: Place, depth: int) -> str:
    return f"{place.choices.pick(['0.5', '0.8', 'tanh(' + real(place, depth) + ')'])} * {_factor(real(place, depth))}"


def _factor(text: str) -> str:
    return f"({text})" if any(sign in text for sign in (" + ", " - ", " ? ")) else text


def _bounded(place: Place, depth: int) -> str:
    return f"{place.choices.pick(['tanh', 'inv_logit', 'sin'])}({real(place, depth)})"


def _ternary(place: Place, depth: int) -> str:
    test = condition(place, not place.has_dynamic or place.choices.chance(60))
    return f"({test} ? {real(place, depth)} : {real(place, depth)})"


def _extreme(place: Place, depth: int) -> str:
    return f"{place.choices.pick(['fmax', 'fmin'])}({real(place, depth)}, {real(place, depth)})"


def _reduced(place: Place, depth: int) -> str:
    """A sum over a vector or a part of one."""
    c = place.choices
    known = place.of(VECTOR, REALS)
    if not known:
        return real(place, depth)
    v = c.pick(known[::-1])
    forms = [f"sum({v.name})", f"0.5 * sum({v.name})", *(f"sum({column})" for _, column in columns(place))]
    for low, high in bounds(place, v.sizes[0]):
        forms += [f"sum({v.name}[{low}:{high}])", f"sum({v.name}[1:{high}])"]
        forms += [f"dot_self({v.name}[{low}:{high}])"] if v.kind == VECTOR else []
    return c.pick(forms)


def bounds(place: Place, size: Size) -> list[tuple[str, str]]:
    """Bounds of a part of a vector, empty ones too, which data decide: there may be none."""
    if place.is_decided or "parts" not in place.features:
        return []
    low, high = (integer(place, 1, size.value, static=True) for _ in range(2))
    return [(low.text, high.text)] if low and high else []


def called(place: Place, depth: int) -> str:
    """A call of a function of the program that gives a number."""
    return call(place, "real", depth) or real(place, depth)


def call(place: Place, gives: str, depth: int) -> str | None:
    """A call of a function of the program that gives a kind of value, or None."""
    known = [(f, first) for f in place.functions if f.gives == gives and (not f.adds or place.target)
             for first in _arguments(place, f)[::-1]] if place.around <= 12 else []  # fmt: skip
    if not known:
        return None
    f, first = place.choices.pick(known)
    count = integer(place, 0, place.sizes["N"].value, static=True) or Int("0", 0, 0)
    return f"{f.name}({first}, {real(place, depth)}, {count.text})"


def _arguments(place: Place, f: Function) -> list[str]:
    """What may be the first argument of a function: variables, and rows of such of more dimensions."""
    n, m = (place.sizes[s].value for s in "NM")
    if f.first == MATRIX:
        return [v.name for v in place.of(MATRIX) if (v.sizes[0].value, v.sizes[1].value) == (n, m)]
    whole = [v.name for v in place.of(VECTOR) if v.sizes[0].value == n]
    return [*rows(place, n), *whole] if "kinds of functions" in place.features else whole


def columns(place: Place) -> list[tuple[int, str]]:
    """Columns of a matrix, with their numbers of elements."""
    if "columns" not in place.features:
        return []
    out = []
    for v in place.of(MATRIX)[-2:]:
        if j := index(place, v.sizes[1]):
            out.append((v.sizes[0].value, f"{v.name}[, {j}]"))
            out += [(-1, f"{v.name}[{low}:{high}, {j}]") for low, high in bounds(place, v.sizes[0])]
    return out


def rows(place: Place, size: int) -> list[str]:
    """Vectors of a size that are rows of variables of more dimensions."""
    out = [column for n, column in columns(place) if n == size]
    for v in place.of(*DEEP):
        indices = [index(place, s) for s in v.sizes[:-1]] if v.sizes[-1].value == size else [None]
        if None not in indices:
            at = _at(place, v.name, v.kind, [i for i in indices if i])
            out.append(at + "'" * (v.kind in (MATRIX, MATRICES)))
    return out


# --- vectors ---------------------------------------------------------------------------------------------------------


def row(place: Place, size: Size, depth: int = 2) -> str:
    """A vector of a size."""
    c = place.choices
    known = [*(v.name for v in place.of(VECTOR) if v.sizes[0].value == size.value), *rows(place, size.value)]
    if size.value == place.sizes["N"].value and c.chance(20):
        known += [made] if (made := call(place, "vector", 1)) else []
    plain = [f"rep_vector({real(place, 1)}, {size.text})", *known, *known]
    if depth <= 0 or c.chance(30):
        return c.pick(plain)
    one, other = c.pick(plain), row(place, size, depth - 1)
    forms = [f"tanh({one})", f"0.5 * {one}", f"tanh({one}) + {other}", f"tanh({one}) .* ({other})",
             f"({condition(place, True)} ? {one} : {other})", *_picked(place, size)]  # fmt: skip
    return c.pick(forms)


def _picked(place: Place, size: Size) -> list[str]:
    """Vectors in the order that arrays of ints tell."""
    arrays = [v for v in place.of(INTS) if v.sizes[0].value == size.value and v.low >= 1 and v.high <= size.value]
    vectors = [v.name for v in place.of(VECTOR) if v.sizes[0].value == size.value]
    return [f"{v}[{i.name}]" for v in vectors for i in arrays]
