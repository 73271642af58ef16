"""A program that is a nest or two, with its data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..choices import Choices
from ..program import RandomProgram
from .expressions import called, real, row
from .loops import loop
from .scope import (
    GRID,
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
    Names,
    Place,
    Size,
    Variable,
    indented,
)  # fmt: skip
from .statements import FEATURES, RARE, Lines, body, declared, read

ORDER = ("functions", "data", "transformed data", "parameters", "transformed parameters", "model",
         "generated quantities")  # fmt: skip
INTEGERS = (INT, "counter")


def program(c: Choices) -> RandomProgram:
    """A program by its choices: nests in one block at least, whose variables the density or the quantities show."""
    data: dict[str, Any] = {}
    place = Place(c, Names(), {}, _features(c),
                  most=c.weighted([(5, 2), (2, 1), (2, 3)]))
    blocks = {"data": _data(place, data)}
    wanted = c.weighted([(8, ("model",)), (5, ("generated quantities",)), (3, ("transformed parameters",)),
                         (4, ("functions", "model")), (1, ("functions", "generated quantities")),
                         (2, ("transformed data", "model")), (1, ORDER)])  # fmt: skip
    if "functions" in wanted:
        blocks["functions"] = _functions(place)
    if "transformed data" in wanted:
        blocks["transformed data"] = _computed(place, True)
    blocks["parameters"] = _parameters(place)
    if "transformed parameters" in wanted:
        blocks["transformed parameters"] = _computed(place, False, ())
    blocks["model"] = _model(place, "model" in wanted)
    if "generated quantities" in wanted:
        blocks["generated quantities"] = _computed(place, False)
    text = "".join(_block(b, blocks[b]) for b in ORDER if blocks.get(b))
    return RandomProgram(text, text, data)


def _features(c: Choices) -> frozenset[str]:
    often = {name for name in FEATURES if c.chance(70 if name == "apart" else 45)}
    return frozenset(often | {name for name in RARE if c.chance(25)})


def _block(name: str, lines: Lines) -> str:
    return f"{name} {{\n" + "".join(f"{line}\n" for line in indented(lines)) + "}\n"


def _data(place: Place, data: dict[str, Any]) -> Lines:
    """Sizes; segments, counts, flags and places of N rows; numbers."""
    c = place.choices
    n, m = c.pick([3, 2, 4, 1]), c.pick([2, 3, 4, 1])
    place.sizes |= {"N": Size("N", n), "M": Size("M", m)}
    sizes = (place.sizes["N"], place.sizes["M"])
    starts = [c.between(1, n + 1) for _ in range(n)]
    data |= {"N": n, "M": m, "s": starts, "e": [min(n, a + c.between(-1, 2)) for a in starts],
             "p": [c.between(0, m) for _ in range(n)], "ix": [c.between(1, n) for _ in range(n)],
             "z": [c.between(0, 1) for _ in range(n)], "y": _numbers(c, n),
             "X": [_numbers(c, m) for _ in range(n)]}  # fmt: skip
    for name in ("s", "e", "p", "ix", "z"):
        low, high = {"s": (1, n + 1), "e": (0, n), "p": (0, m), "ix": (1, n), "z": (0, 1)}[name]
        place.variables.append(Variable(name, INTS, sizes[:1], low, high, True))
    place.variables += [Variable("X", MATRIX, sizes, static=True), Variable("y", VECTOR, sizes[:1], static=True)]
    return ["int N;", "int M;", "array[N] int s;", "array[N] int e;", "array[N] int p;", "array[N] int ix;",
            "array[N] int z;", "vector[N] y;", "matrix[N, M] X;"]  # fmt: skip


def _numbers(c: Choices, n: int) -> list[float]:
    return [(c.below(41) - 18) / 10 for _ in range(n)]


def _parameters(place: Place) -> Lines:
    n, m = place.sizes["N"], place.sizes["M"]
    place.variables += [Variable("a", REAL), Variable("b", VECTOR, (n,)), Variable("g", VECTORS, (n, m))]
    return ["real a;", "vector[N] b;", "array[N] vector[M] g;"]


def _functions(place: Place) -> Lines:
    """One or two functions, of which the second may call the first."""
    c, out, made = place.choices, [], []
    for k in range(1 + c.chance(40)):
        gives, first = "real", VECTOR
        if "kinds of functions" in place.features:
            gives, first = c.pick(["real", "vector", "void"]), c.pick([VECTOR, VECTOR, MATRIX])
        adds = gives == "void" or c.chance(20)
        f = Function(f"f{k + 1}" + "_lp" * adds, adds, gives, first)
        out += _function(place, f, made)
        made.append(f)
    place.functions += made
    return out


def _function(place: Place, f: Function, known: list[Function]) -> Lines:
    sizes = _sizes_inside(place, f)
    inner = Place(place.choices, place.names, sizes, place.features, functions=list(known),
                  returns=f.gives, target=f.adds, around=6, most=place.most)  # fmt: skip
    inner.escapes = inner.has_dynamic and place.choices.chance(30)
    n, m = sizes["N"], sizes["M"]
    inner.variables += [Variable("q", f.first, (n, m) if f.first == MATRIX else (n,)), Variable("r", REAL)]
    inner.indices.append(Int("d", 0, n.value))
    lines = _nest(inner)
    result = read(inner, [v for v in inner.variables if v.assignable])
    last = {"real": f"return {result};", "void": f"target += 0.1 * ({result});",
            "vector": f"return {row(inner, n, 1)} + 0.1 * ({result});"}[f.gives]  # fmt: skip
    return [f"{f.gives} {f.name}({f.first} q, real r, int d) {{", *indented([*lines, last]), "}"]


def _sizes_inside(place: Place, f: Function) -> dict[str, Size]:
    """The sizes as a function knows them, of its first argument; of a vector there is but one."""
    n, m = place.sizes["N"].value, place.sizes["M"].value
    if f.first == MATRIX:
        return {"N": Size("rows(q)", n), "M": Size("cols(q)", m)}
    return dict.fromkeys("NM", Size("size(q)", n))


def _nest(place: Place) -> Lines:
    """A few variables, and loops over them."""
    return [*_outer(place, INTEGERS), *_loops(place)]


def _outer(place: Place, also: Sequence[str]) -> Lines:
    """Variables around the loops."""
    c, lines, deep = place.choices, [], [GRID, MATRICES] * 3 * ("deep" in place.features)
    for kinds in [[REAL], [REAL, VECTOR], [REAL, VECTOR, *also], [VECTOR, REALS, MATRIX, VECTORS, REAL, *also, *deep]]:
        lines += declared(place, c.pick(kinds))
    return lines


def _loops(place: Place) -> Lines:
    c, lines = place.choices, []
    if any(f.gives == "real" for f in place.functions):
        lines += [f"{place.assignable(REAL)[-1].name} += {called(place, 1)};"]
    for k in range(2):
        if k == 0 or not place.returns and c.chance(25):
            with c.span():
                lines += loop(place) or loop(place)
    with c.span():
        lines += body(place, 0)
    return lines


def _computed(place: Place, data_only: bool, ints: Sequence[str] = INTEGERS) -> Lines:
    """A block whose variables are seen from outside; without ints the others are in a block inside of it."""
    inner = place.inner(data_only=data_only, functions=[f for f in place.functions if not f.adds])
    lines = _outer(inner, ints)
    hidden = inner if ints else inner.inner()
    own = [] if ints else [line for kind in INTEGERS for line in declared(hidden, kind)]
    more = _loops(hidden)
    place.taken |= inner.taken  # a counter of a loop may stand there, too
    lines += more if ints else ["{", *indented([*own, *more]), "}"]
    for v in inner.variables[len(place.variables) :]:
        place.variables.append(Variable(v.name, v.kind, v.sizes, v.low, v.high, v.static))
    return lines


def _model(place: Place, has_nest: bool) -> Lines:
    """The priors, and perhaps a nest of which the target reads what is left."""
    lines = ["a ~ normal(0, 1);", "b ~ normal(0, 1);", "for (i in 1:N) g[i] ~ normal(0, 1);"]
    inner = place.inner(target=True)
    if not has_nest:
        return [*lines, *_seen(inner)]
    lines += _nest(inner)
    own = [v for v in inner.variables[len(place.variables) :] if place.choices.chance(70)]
    return [*lines, f"target += {real(inner, 1)} + 0.1 * ({read(inner, own)});"]


def _seen(place: Place) -> Lines:
    """What the target reads of other blocks."""
    made = [v for v in place.variables if v.name not in ("s", "e", "p", "ix", "z", "X", "y", "a", "b", "g")]
    return [f"target += {real(place, 1)} + 0.1 * ({read(place, made)});"]
