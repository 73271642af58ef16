"""Random functions: plain, recursive, with early returns, _lp, _jacobian, _lpdf, _lpmf and _rng."""

from __future__ import annotations

from .containers import expression
from .kinds import COMPLEX, INT, REAL, Kind, array, matrix, tuple_of, unsized, vector
from .reals import real
from .scope import Place, Signature, Variable
from .statements import accumulator, indented, statements

Lines = list[str]


def function(place: Place, sizes: list[int]) -> Lines:
    """A new function, added to the place."""
    c = place.choices
    suffixes = [(6, ""), (2, "lp"), (2, "lpdf"), (1, "lpmf")]
    suffixes += [(6, s) for s in ("jacobian", "rng") if s in place.features]
    suffix = c.weighted(suffixes)
    if suffix == "" and c.chance(15):
        return recursive(place)
    n = c.pick(sizes)
    options = [REAL, vector(n), INT, array(REAL, n), matrix(n, 2), array(INT, n)]
    if "tuples" in place.features:
        options += [tuple_of(REAL, vector(n)), array(tuple_of(REAL, INT), max(n, 1))]
    if "complex" in place.features:
        options += [COMPLEX]
    first = {"lpdf": REAL if c.chance(60) else vector(n), "lpmf": INT}.get(suffix)
    kinds = ([first] if first else []) + [c.pick(options) for _ in range(c.between(1, 2))]
    result: Kind | None = REAL
    if suffix not in ("lpdf", "lpmf"):
        adds = suffix in ("lp", "jacobian")
        results = [(5, REAL), (2, vector(n)), (1, None if adds else REAL), (1, array(REAL, n))]
        results += [(1, INT)] if suffix in ("rng", "") else []
        result = c.weighted([*results, *((2, k) for k in options if k.name in ("tuple", "complex"))])
    return _written(place, kinds, result, suffix)


def _written(place: Place, kinds: list[Kind], result: Kind | None, suffix: str) -> Lines:
    c = place.choices
    stem = place.names.fresh()
    name = f"{stem}_{suffix}" if suffix else stem
    data = tuple(kind in (REAL, INT) and i > 0 and c.chance(15) for i, kind in enumerate(kinds))
    bounds = (1, 3)
    inside = Place(c, place.names, place.features - {"ragged", "target"}, "function", functions=list(place.functions),
                   budget=8, result=result, returns=True, escapes=c.chance(50), target=suffix == "lp",
                   jacobian=suffix == "jacobian", random=suffix == "rng")  # fmt: skip
    arguments = []
    for kind, is_data in zip(kinds, data):
        argument = inside.add(Variable(place.names.fresh(), kind, *bounds, is_data, is_data))
        arguments.append(f"{'data ' if is_data else ''}{unsized(kind)} {argument.name}")
        if kind.name == "vector" and kind.dims[0]:
            inside.sizes[f"num_elements({argument.name})"] = kind.dims[0]
    sums = accumulator(inside) if c.chance(50) else []
    body = [*sums, *statements(inside, 3, 65)]
    if result is not None:
        value = expression(inside, result, 2)
        if suffix == "rng":
            value = drawn_around(inside, result, value)
        elif sums and result.name in ("real", "vector"):
            value = f"{value} + tanh({inside.variables[len(kinds)].name})"
        body.append(f"return {value};")
    place.functions.append(Signature(name, tuple(kinds), data, result, suffix, (bounds,) * len(kinds)))
    head = f"{unsized(result) if result else 'void'} {name}({', '.join(arguments)}) {{"
    return [head, *indented(body), "}"]


def drawn_around(place: Place, kind: Kind, value: str) -> str:
    """A draw whose law depends on a value."""
    if kind == INT:
        return f"poisson_rng(exp(tanh({real(place, 1)})))"
    if kind == REAL or kind.name == "array" and kind.element == REAL:
        return f"normal_rng({value}, 1)"
    return f"to_vector(normal_rng({value}, 1))" if kind.name == "vector" else value


def recursive(place: Place) -> Lines:
    """A function that calls itself, a known number of times."""
    c = place.choices
    name, n, x = (place.names.fresh() for _ in range(3))
    inside = Place(c, place.names, place.features - {"ragged", "target"}, "function", functions=list(place.functions))
    inside.add(Variable(x, REAL))
    inside.add(Variable(n, INT, 0, 3, True, True))
    step = expression(inside, REAL, 1)
    place.functions.append(Signature(name, (REAL, INT), (False, True), REAL, "", ((0, 0), (0, 3))))
    return [f"real {name}(real {x}, data int {n}) {{", f"  if ({n} <= 0) return {x};",
            f"  return {name}({step}, {n} - 1) * 0.5 + {x};", "}"]  # fmt: skip
