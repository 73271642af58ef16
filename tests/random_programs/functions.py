"""Random functions: plain, recursive, with early returns, _lp, _jacobian, _lpdf, _lpmf and _rng."""

from __future__ import annotations

from typing import Any

from .certain import drawn_real, drawn_vector, number
from .containers import expression
from .kinds import (
    COMPLEX,
    INT,
    REAL,
    Kind,
    array,
    complex_matrix,
    complex_vector,
    matrix,
    row_vector,
    tuple_of,
    unsized,
    vector,
)  # fmt: skip
from .laws import both
from .reals import real
from .scope import Place, Signature, Variable
from .statements import accumulator, indented, nested_tuples, statements

Lines = list[str]


def function(place: Place, sizes: list[int]) -> Lines:
    """A new function, added to the place."""
    c = place.choices
    if "target" in place.features and "constrained" not in place.features and c.chance(40):
        return reading_target(place)
    suffixes = [(6, ""), (2, "lp"), (2, "lpdf"), (1, "lpmf")]
    suffixes += [(6, s) for s in ("jacobian", "rng") if s in place.features]
    suffix = c.weighted(suffixes)
    if suffix == "" and c.chance(25):
        return c.pick([recursive, recursive_by_size, overloaded, at_once, of_several_sizes])(place)
    if suffix == "lpdf" and c.chance(30):
        return without_constants(place)
    n = c.pick(sizes)
    options = [REAL, vector(n), INT, array(REAL, n), matrix(n, 2), array(INT, n)]
    if "tuples" in place.features:
        options += [tuple_of(REAL, vector(n)), array(tuple_of(REAL, INT), max(n, 1)), *nested_tuples(n)]
    if "complex" in place.features:
        options += [COMPLEX, complex_vector(n), complex_matrix(n, 2), array(COMPLEX, max(n, 1))]
    first = {"lpdf": REAL if c.chance(60) else vector(n), "lpmf": INT}.get(suffix)
    kinds = ([first] if first else []) + [c.pick(options) for _ in range(c.between(1, 2))]
    result: Kind | None = REAL
    if suffix not in ("lpdf", "lpmf"):
        adds = suffix in ("lp", "jacobian")
        results = [(5, REAL), (2, vector(n)), (1, None if adds else REAL), (1, array(REAL, n))]
        results += [(1, INT)] if suffix in ("rng", "") else []
        results += [(1, matrix(n, 2)), (1, row_vector(n)), (1, array(vector(2), max(n, 1)))] if suffix != "rng" else []
        result = c.weighted([*results, *((2, k) for k in options if holds_tuple(k) or k.name.startswith("complex"))])
    return _written(place, kinds, result, suffix)


def holds_tuple(kind: Kind) -> bool:
    return kind.name == "tuple" or any(map(holds_tuple, kind.items))


def _written(place: Place, kinds: list[Kind], result: Kind | None, suffix: str) -> Lines:
    c = place.choices
    stem = place.names.fresh()
    name = f"{stem}_{suffix}" if suffix else stem
    data = tuple(i > 0 and c.chance(15) for i in range(len(kinds)))
    bounds = (1, 3)
    features = place.features - {"ragged"}
    if suffix != "lp" or "constrained" in features:
        features -= {"target"}
    inside = Place(c, place.names, features, "function", functions=list(place.functions),
                   solvers=list(place.solvers), budget=8, result=result, returns=True, escapes=c.chance(50),
                   target=suffix == "lp", jacobian=suffix == "jacobian",
                   random=suffix == "rng")  # fmt: skip
    arguments = []
    for kind, is_data in zip(kinds, data):
        argument = inside.add(Variable(place.names.fresh(), kind, *bounds, is_data, is_data))
        arguments.append(f"{'data ' if is_data else ''}{unsized(kind)} {argument.name}")
        if kind.name == "vector" and kind.dims[0]:
            inside.sizes[f"num_elements({argument.name})"] = kind.dims[0]
    sums = accumulator(inside) if c.chance(50) else []
    body = [*sums, *statements(inside, 3, 65)]
    certain = suffix == "rng" and c.chance(60)
    if result is not None:
        value = expression(inside, result, 2)
        if suffix == "rng":
            value = certainly(inside, result, value) if certain else drawn_around(inside, result, value)
        elif sums and result.name in ("real", "vector"):
            value = f"{value} + tanh({inside.variables[len(kinds)].name})"
        body.append(f"return {value};")
    place.functions.append(Signature(name, tuple(kinds), data, result, suffix, (bounds,) * len(kinds), certain))
    head = f"{unsized(result) if result else 'void'} {name}({', '.join(arguments)}) {{"
    return [head, *indented(body), "}"]


def certainly(place: Place, kind: Kind, value: str) -> str:
    """A draw whose outcome is certain, or a value."""
    if kind == INT:
        return number(place)[0]
    if kind == REAL:
        return drawn_real(place, 2, False)
    return drawn_vector(place, *kind.dims, 2, False) if kind.name == "vector" else value


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


def _inside(place: Place, *arguments: tuple[str, Kind]) -> Place:
    inside = Place(place.choices, place.names, place.features - {"ragged", "target"}, "function",
                   functions=[f for f in place.functions if not f.suffix], budget=4)  # fmt: skip
    for name, kind in arguments:
        inside.add(Variable(name, kind))
    return inside


def recursive_by_size(place: Place) -> Lines:
    """A function of a vector that calls itself on what is left of it."""
    name, v, x = (place.names.fresh() for _ in range(3))
    step = real(_inside(place, (x, REAL)), 1)
    rest = place.choices.pick([f"tail({v}, size({v}) - 1)", f"{v}[2:]", f"{v}[2 : size({v})]"])
    place.functions.append(Signature(name, (vector(3),), (False,), REAL, "", ((0, 0),)))
    return [f"real {name}(vector {v}) {{", f"  if (size({v}) == 0) return 0.3;", f"  real {x} = {v}[1];",
            f"  return tanh({step}) + 0.5 * {name}({rest});", "}"]  # fmt: skip


def overloaded(place: Place) -> Lines:
    """One name for functions of reals, of vectors and of ints."""
    c = place.choices
    name, x, v = (place.names.fresh() for _ in range(3))
    whole = c.pick([f"sum({v})", f"{name}({v}[1]) + {name}({v}[2])", f"dot_self({v})"])
    lines = [f"real {name}(real {x}) {{", f"  return {real(_inside(place, (x, REAL)), 2)};", "}",
             f"real {name}(vector {v}) {{",
             f"  return {whole};", "}"]  # fmt: skip
    place.functions.append(Signature(name, (REAL,), (False,), REAL, "", ((0, 0),)))
    place.functions.append(Signature(name, (vector(2),), (False,), REAL, "", ((0, 0),)))
    return lines


def at_once(place: Place) -> Lines:
    """A function that returns from a loop, with the first value for which something is so."""
    c = place.choices
    name, v, i, x, total = (place.names.fresh() for _ in range(5))
    step = real(_inside(place, (x, REAL)), 1)
    how = c.pick([f"if ({total} > 0.137) return {total};", f"if ({x} < -0.431) return {total} + {i};",
                  f"if ({x} < 0.137) continue;", f"if (is_nan({x})) reject(\"no number\", {x});",
                  f"if ({x} > 1.019) {{ {total} -= {x}; break; }}"])  # fmt: skip
    place.functions.append(Signature(name, (vector(3),), (False,), REAL, "", ((0, 0),)))
    return [f"real {name}(vector {v}) {{", f"  real {total} = 0;", f"  for ({i} in 1:num_elements({v})) {{",
            f"    real {x} = {v}[{i}];", f"    {how}", f"    {total} += tanh({step});", "  }",
            f"  return 0.5 * {total};", "}"]  # fmt: skip


def of_several_sizes(place: Place) -> Lines:
    """A function of what another one returns, which an int gives one size or another."""
    c = place.choices
    name, inner, k, v, i = (place.names.fresh() for _ in range(5))
    some = [v, f"{v}[1:2]", f"append_row({v}, 0.3)", f"rep_vector({k} * 0.4, 2)", f"{v}[2:1]", f"{v} * 0.5"]
    one, other, third = c.pick(some), c.pick(some), c.pick(some)
    first, second = c.pick(["> 2", "== 1", "< 2"]), c.pick(["== 2", "> 1", "< 0"])
    body = c.pick([
        [f"if ({k} {first}) return {one};", f"return {other};"],
        [f"if ({k} {first}) {{ return {one}; }} else if ({k} {second}) return {other};", f"return {third};"],
        [f"return {k} {first} ? {one} : {other};"],
        [f"for ({i} in 1:3) {{ if ({i} == {k}) return {v}[1:{i}]; }}", f"return {one};"],
        [f"int {i} = 1;", f"if ({k} {first}) {i} = 3;", f"return {i} > 1 ? {one} : {v}[1:{i}];"],
    ])  # fmt: skip
    place.functions.append(Signature(name, (INT, vector(3)), (False, False), REAL, "", ((-1, 4), (0, 0))))
    return [f"vector {inner}(int {k}, vector {v}) {{", *indented(body), "}",
            f"real {name}(int {k}, vector {v}) {{", f"  return sum(tanh({inner}({k}, {v})));", "}"]  # fmt: skip


def without_constants(place: Place) -> Lines:
    """A law of the program that is another one without its constants, and something."""
    c = place.choices
    name, y, m, s = (place.names.fresh() for _ in range(4))
    inside = _inside(place, (y, REAL), (m, REAL), (s, REAL))
    law = c.pick(["normal", "student_t", "logistic"])
    given = f"{'4, ' if law == 'student_t' else ''}{m}, exp(tanh({s}))"
    place.functions.append(Signature(f"{name}_lpdf", (REAL, REAL, REAL), (False,) * 3, REAL, "lpdf", ((0, 0),) * 3))
    density = both(f"{law}_lupdf({y} | {given})", f"{law}_lpdf({y} | {given})")
    return [f"real {name}_lpdf(real {y}, real {m}, real {s}) {{", f"  return {density} - tanh({real(inside, 1)});",
            "}"]  # fmt: skip


def reading_target(place: Place) -> Lines:
    """A function that adds to the target and returns what it was, before or after."""
    c = place.choices
    name, x, before = (place.names.fresh() for _ in range(3))
    term = real(_inside(place, (x, REAL)), 1)
    place.functions.append(Signature(f"{name}_lp", (REAL,), (False,), REAL, "lp", ((0, 0),)))
    result = c.pick([before, "target()", f"target() - {before}"])
    return [f"real {name}_lp(real {x}) {{", f"  real {before} = target();", f"  target += 0.3 * tanh({term});",
            f"  return tanh(0.1 * ({result}));", "}"]  # fmt: skip


def counting(place: Place, data: dict[str, Any]) -> Lines:
    """A function that counts entries of data, by which variables are declared then."""
    known = place.having(lambda v: v.kind.name == "array" and v.kind.element == INT)
    if not known:
        return []
    x = place.choices.pick(known)
    name, a, n, i = (place.names.fresh() for _ in range(4))
    least = place.choices.between(0, 2)
    place.sizes[f"{name}({x.name})"] = sum(value >= least for value in data[x.name])
    return [f"int {name}(array[] int {a}) {{", f"  int {n} = 0;", f"  for ({i} in 1:size({a})) {{",
            f"    if ({a}[{i}] >= {least}) {n} += 1;", "  }", f"  return {n};", "}"]  # fmt: skip
