"""Random real expressions whose values stay moderate."""

from __future__ import annotations

from .containers import row_vector_of, vector_of
from .integers import condition, integer
from .kinds import COMPLEX, INT, REAL, Kind, is_empty
from .scope import Place, Variable

UNARY = (
    "tanh({})", "inv_logit({})", "atan({})", "sin({})", "cos({})", "abs({})", "log1p_exp({})", "square(tanh({}))",
    "exp(-square({}))", "sqrt(1 + square({}))", "expm1(tanh({}))", "Phi_approx({})", "erf({})", "fmin({}, 1.3)",
    "fmax(0.2, {})", "log1p(square({}))", "asinh({})", "cbrt(1.5 + square({}))", "floor({})", "step({})",
    "lgamma(1.2 + square({}))", "log_inv_logit({})", "round({})", "trunc({})", "inv(1 + square({}))", "exp2(tanh({}))",
    "({}) ^ 2", "pow({}, 3)", "-({})", "Phi({})", "digamma(2 + square({}))", "log(0.3 + abs({}))",
)  # fmt: skip
BINARY = (
    "normal_lcdf(tanh({}) | tanh({}), 1.3)", "normal_cdf({} | {}, 2)", "logistic_lccdf(tanh({}) | tanh({}), 0.7)",
    "log_mix(inv_logit({}), tanh({}), -0.4)", "log_mix(0.3, {}, {})", "exponential_cdf(exp({}) | exp(tanh({})))",
    "log_diff_exp(3 + tanh({}), tanh({}))", "student_t_lcdf(tanh({}) | 4, tanh({}), 1.2)",
    "{} + {}", "{} - ({})", "({}) * ({})", "({}) / (1.5 + square({}))", "hypot(0.7 + square({}), {})", "fdim({}, {})",
    "log_sum_exp({}, {})", "atan2({}, 1.1 + square({}))", "({}) * tanh({})", "fmin({}, {})", "fmax({}, {})",
    "lmultiply(1 + square({}), 0.5 + square({}))", "logical_gt({}, 0.31) * ({})",
)  # fmt: skip
REDUCTIONS = (
    "sum({})", "mean({})", "max({})", "min({})", "log_sum_exp({})", "dot_self({})", 
    "variance({})", "sd({} + cumulative_sum({}))",
)  # fmt: skip
OF_TWO = ("dot_product({}, {})", "squared_distance({}, {})", "({})' * ({})")


def real(place: Place, depth: int = 2, data: bool = False) -> str:
    """A real expression; `data` if only data may occur."""
    with place.choices.span():
        makers = [(2, _literal), (10, _variable), (6, _element)]
        if depth > 0:
            makers += [(8, _binary), (4, _unary), (2, _reduction), (2, _ternary), (1, _promoted), (1, _of_two)]
            makers += [(2, _ragged)]
            if place.functions and not data:
                makers.append((5, _call))
            if "library" in place.features:
                makers.append((3, _library))
            if "complex" in place.features:
                makers.append((1, _of_complex))
            if "tuples" in place.features:
                makers.append((1, _item))
            if place.solvers and not data and place.loops < 2:
                makers.append((2, _solved))
            if place.draws:
                makers.append((2, _drawn))
            if place.target and not data and "target" in place.features:
                makers.append((1, _target))
        maker = place.choices.weighted(makers)
        return maker(place, depth, data) or _variable(place, depth, data) or _literal(place, depth, data)


def _literal(place: Place, depth: int, data: bool) -> str:
    return place.choices.pick(["0.5", "1.0", "-0.3", "1.7", "2", "0.0", "1e-2", "-1.25"])


def _drawn(place: Place, depth: int, data: bool) -> str:
    from .certain import drawn_real

    return drawn_real(place, depth, data)


def _variable(place: Place, depth: int, data: bool) -> str:
    known = place.of(REAL, data)
    return place.choices.pick(known[::-1]).name if known else ""


def _element(place: Place, depth: int, data: bool) -> str:
    """A component of a container."""

    def fits(v: Variable) -> bool:
        return scalar(v.kind) == REAL and v.kind != REAL and not is_empty(v.kind) and (v.data or not data)

    known = place.having(fits)
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    return v.name + f"[{', '.join(integer(place, 1, n, min(depth, 1)) for n in axes(v.kind))}]"


def scalar(kind: Kind) -> Kind | None:
    """The kind of the components of a container that is no tuple."""
    while kind.name == "array":
        kind = kind.element
    if kind.name in ("vector", "row_vector", "matrix"):
        return REAL
    if kind.name in ("complex_vector", "complex_matrix", "complex_row_vector"):
        return COMPLEX
    return kind if kind.name != "tuple" else None


def axes(kind: Kind) -> list[int]:
    out: list[int] = []
    while kind.name == "array":
        out += kind.dims
        kind = kind.element
    return [*out, *kind.dims]


def _binary(place: Place, depth: int, data: bool) -> str:
    form = place.choices.pick(BINARY)
    return "(" + form.format(real(place, depth - 1, data), real(place, depth - 1, data)) + ")"


def _unary(place: Place, depth: int, data: bool) -> str:
    return place.choices.pick(UNARY).format(real(place, depth - 1, data))


def length(place: Place, least: int = 1) -> int:
    """The length of a vector inside an expression: mostly one that variables have."""
    known = sorted({v.kind.dims[0] for v in place.variables if v.kind.name == "vector" and v.kind.dims[0] >= least})
    return place.choices.pick([*known, least]) if known else least + place.choices.below(3)


def _reduction(place: Place, depth: int, data: bool) -> str:
    form = place.choices.pick(REDUCTIONS)
    n = length(place, 2 if form.startswith("sd") else 1)
    inner = vector_of(place, n, depth - 1, data)
    return form.replace("{}", inner if form.count("{}") == 1 else f"({inner})")


def _of_two(place: Place, depth: int, data: bool) -> str:
    n = length(place)
    one, other = vector_of(place, n, depth - 1, data), vector_of(place, n, depth - 1, data)
    return "(" + place.choices.pick(OF_TWO).format(one, other) + ")"


def _ternary(place: Place, depth: int, data: bool) -> str:
    test = condition(place, depth - 1, data)
    return f"({test} ? {real(place, depth - 1, data)} : {real(place, depth - 1, data)})"


def _promoted(place: Place, depth: int, data: bool) -> str:
    return f"({integer(place, -3, 4, depth - 1, static=data)}) * {place.choices.pick(['0.3', '1.0', '-0.2'])}"


def _ragged(place: Place, depth: int, data: bool) -> str:
    """A reduction of a stretch whose ends differ between groups."""
    c = place.choices
    if "ragged" not in place.features:
        return ""
    known = place.having(lambda v: v.kind.name in ("vector", "row_vector") and v.kind.dims[0] == place.sizes["NR"]
                         and (v.data or not data))  # fmt: skip
    if not known:
        return ""
    v, group = c.pick(known[::-1]).name, integer(place, 1, place.sizes["NG"], 1, static=True)
    form = c.pick([
        "{v}[start_g[{g}] : start_g[{g}] + length_g[{g}] - 1]", "segment({v}, start_g[{g}], length_g[{g}])",
        "{v}[start_g[{g}] : end_g[{g}]]", "{v}[: end_g[{g}]]", "{v}[start_g[{g}] :]", "head({v}, end_g[{g}])",
    ])  # fmt: skip
    return c.pick(["sum({})", "dot_self({})", "sum(tanh({}))"]).format(form.format(v=v, g=group))


def _call(place: Place, depth: int, data: bool) -> str:
    from .calls import call

    return call(place, REAL, depth)


def _library(place: Place, depth: int, data: bool) -> str:
    from .library import library_call

    return library_call(place, depth, data)


def _solved(place: Place, depth: int, data: bool) -> str:
    return place.choices.pick(place.solvers)(place, min(depth - 1, 1))


def _of_complex(place: Place, depth: int, data: bool) -> str:
    from .complexes import complex_number

    form = place.choices.pick(["get_real({})", "get_imag({})", "abs(1.1 + {})", "norm({})"])
    return form.format(complex_number(place, depth - 1, data))


def _item(place: Place, depth: int, data: bool) -> str:
    """An item of a tuple."""

    def fits(v: Variable) -> bool:
        kind = v.kind.element if v.kind.name == "array" and v.kind.dims[0] else v.kind
        return kind.name == "tuple" and REAL in kind.items and (v.data or not data)

    known = place.having(fits)
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    kind, at = v.kind, ""
    if kind.name == "array":
        kind, at = kind.element, f"[{integer(place, 1, kind.dims[0], 1)}]"
    return f"{v.name}{at}.{place.choices.pick([i for i, k in enumerate(kind.items, 1) if k == REAL])}"


def _target(place: Place, depth: int, data: bool) -> str:
    return "tanh(0.01 * target())"


__all__ = ["INT", "axes", "length", "real", "row_vector_of", "scalar"]
