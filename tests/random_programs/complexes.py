"""Random complex expressions: numbers, vectors, row vectors and matrices."""

from __future__ import annotations

from .integers import condition, integer
from .kinds import COMPLEX, Kind, complex_matrix, complex_row_vector, complex_vector
from .scope import Place, Variable

UNARY = (
    "conj({})", "-({})", "exp(0.1 * ({}))", "sqrt(2.2 + {})", "({}) * 0.7", "pow(2.2 + {}, 2)", "log(3.2 + 0.1 * ({}))",
    "sin(0.2 * ({}))", "tanh(0.3 * ({}))", "1 / (2.5 + 0.1 * ({}))", "cosh(0.2 * ({}))", "proj({})", "cos(0.2 * ({}))",
    "asinh(0.2 * ({}))", "atan(0.2 * ({}))", "to_complex(arg(2.2 + 0.1 * ({})), 0.4)",
)  # fmt: skip
BINARY = (
    "{} + {}", "{} - {}", "({}) * ({})", "({}) / (4.1 + 0.1 * ({}))", "polar(1 + square(get_real({})), get_imag({}))",
    "pow(3.0 + 0.1 * ({}), 0.3 * ({}))",
)  # fmt: skip
ELEMENTWISE = ("-({})", "({}) * 0.4", "({}) * to_complex(0.3, -0.5)", "({}) / 1.3", "conj({})", "({}) .^ 2",
               "0.3 - ({})", "({}) + 0.7", "to_complex(-0.2, 0.6) + ({})", "pow({}, 2)")  # fmt: skip
OF_TWO = ("({}) + {}", "({}) - ({})", "({}) .* ({})", "({}) ./ (5.1 + 0.01 * ({}))")
OF_ONE_AXIS = ("reverse({})", "cumulative_sum({})")
CONTAINERS = ("complex_vector", "complex_row_vector", "complex_matrix")


def complex_number(place: Place, depth: int = 2, data: bool = False) -> str:
    from .reals import real

    c = place.choices
    with c.span():
        known = place.of(COMPLEX, data)
        what = c.below(8 if depth > 0 else 3)
        if what == 1 and known:
            return c.pick(known[::-1]).name
        if what == 2:
            element = _element(place, data)
            if element:
                return element
        if what in (3, 4):
            return c.pick(UNARY).format(complex_number(place, depth - 1, data))
        if what in (5, 6):
            one, other = complex_number(place, depth - 1, data), complex_number(place, depth - 1, data)
            return "(" + c.pick(BINARY).format(one, other) + ")"
        if what == 7:
            return _reduced(place, depth, data)
        return f"to_complex({real(place, depth - 1, data)}, {real(place, depth - 1, data)})"


def _containers(place: Place, data: bool) -> list[Variable]:
    return place.having(lambda v: v.kind.name in CONTAINERS and 0 not in v.kind.dims and (v.data or not data))


def _element(place: Place, data: bool) -> str:
    known = _containers(place, data)
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    return f"{v.name}[{', '.join(integer(place, 1, n, 1) for n in v.kind.dims)}]"


def _reduced(place: Place, depth: int, data: bool) -> str:
    """A number that all of a container enters."""
    c, n = place.choices, place.choices.between(1, 2)
    one, other = (complex_container(place, complex_vector(n), depth - 1, data) for _ in range(2))
    square = complex_container(place, complex_matrix(n, n), depth - 1, data)
    return c.pick([f"sum({one})", f"dot_product({one}, {other})", f"(({one})' * ({other}))", f"trace({square})",
                   f"dot_self({one})", f"prod({one})", f"sum({square})"])  # fmt: skip


def complex_container(place: Place, kind: Kind, depth: int = 2, data: bool = False) -> str:
    """A complex vector, row vector or matrix."""
    c = place.choices
    with c.span():
        makers = [(2, _display), (8, _known), (2, _of_reals), (2, _sliced)]
        if depth > 0:
            makers += [(3, _elementwise), (3, _two), (2, _product), (2, _transposed), (1, _choice), (1, _transformed)]
            makers += [(1, _joined)]
            makers += [(2, _of_matrix)] if kind.name != "complex_matrix" else [(1, _outer)]
            if place.functions and not data:
                makers.append((3, _called))
        made = c.weighted(makers)(place, kind, depth, data)
        return made or _known(place, kind, depth, data) or _display(place, kind, depth, data)


def _known(place: Place, kind: Kind, depth: int, data: bool) -> str:
    known = place.of(kind, data)
    return place.choices.pick(known[::-1]).name if known else ""


def _display(place: Place, kind: Kind, depth: int, data: bool) -> str:
    if 0 in kind.dims:
        return _of_reals(place, kind, 0, data)
    if kind.name == "complex_matrix":
        rows = (complex_container(place, complex_row_vector(kind.dims[1]), min(depth - 1, 1), data)
                for _ in range(kind.dims[0]))  # fmt: skip
        return f"[{', '.join(rows)}]"
    inner = ", ".join(complex_number(place, min(depth - 1, 1), data) for _ in range(kind.dims[0]))
    return f"[{inner}]'" if kind.name == "complex_vector" else f"[{inner}]"


def _real_kind(kind: Kind) -> Kind:
    return Kind(kind.name.removeprefix("complex_"), kind.dims)


def _of_reals(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .containers import expression

    one, other = (expression(place, _real_kind(kind), depth - 1, data) for _ in range(2))
    return f"to_complex({one}, {other})"


def _elementwise(place: Place, kind: Kind, depth: int, data: bool) -> str:
    forms = ELEMENTWISE + (OF_ONE_AXIS if kind.name != "complex_matrix" else ())
    return place.choices.pick(forms).format(complex_container(place, kind, depth - 1, data))


def _two(place: Place, kind: Kind, depth: int, data: bool) -> str:
    """Of two containers, of which one may be real."""
    from .containers import expression

    one, c = complex_container(place, kind, depth - 1, data), place.choices
    other = expression(place, _real_kind(kind) if c.chance(25) else kind, depth - 1, data)
    return "(" + c.pick(OF_TWO).format(one, other) + ")"


def _product(place: Place, kind: Kind, depth: int, data: bool) -> str:
    if 0 in kind.dims:
        return ""
    c, n = place.choices, place.choices.between(1, 2)
    one, other = {
        "complex_vector": (complex_matrix(kind.dims[0], n), complex_vector(n)),
        "complex_row_vector": (complex_row_vector(n), complex_matrix(n, kind.dims[0])),
        "complex_matrix": (complex_matrix(kind.dims[0], n), complex_matrix(n, kind.dims[-1])),
    }[kind.name]
    left, right = complex_container(place, one, depth - 1, data), complex_container(place, other, depth - 1, data)
    if c.chance(20):
        from .containers import expression

        left = expression(place, _real_kind(one), depth - 1, data)
    return f"(({left}) * ({right}))"


def _transposed(place: Place, kind: Kind, depth: int, data: bool) -> str:
    other = {"complex_vector": "complex_row_vector", "complex_row_vector": "complex_vector"}.get(kind.name, kind.name)
    return f"({complex_container(place, Kind(other, kind.dims[::-1]), depth - 1, data)})'"


def _choice(place: Place, kind: Kind, depth: int, data: bool) -> str:
    one, other = (complex_container(place, kind, depth - 1, data) for _ in range(2))
    return f"({condition(place, depth - 1, data)} ? {one} : {other})"


def _transformed(place: Place, kind: Kind, depth: int, data: bool) -> str:
    """A Fourier transform, or a diagonal."""
    c = place.choices
    if 0 in kind.dims:
        return ""
    inner = complex_container(place, kind, depth - 1, data)
    if kind.name == "complex_vector":
        square = complex_container(place, complex_matrix(kind.dims[0], kind.dims[0]), depth - 1, data)
        return c.pick([f"fft({inner})", f"inv_fft({inner})", f"diagonal({square})"])
    if kind.name == "complex_row_vector":
        return ""
    forms = [f"fft2({inner})", f"inv_fft2({inner})"]
    own = complex_container(place, complex_vector(kind.dims[0]), depth - 1, data)
    forms.append(f"diag_pre_multiply({own}, {inner})")
    if kind.dims[0] == kind.dims[1]:
        forms += [f"diag_matrix({own})", f"add_diag({inner}, {own})"]
    return c.pick(forms)


def _joined(place: Place, kind: Kind, depth: int, data: bool) -> str:
    n = kind.dims[0]
    if 0 in kind.dims:
        return ""
    if kind.name == "complex_matrix":
        if n == 1:
            return ""
        one, other = (complex_container(place, complex_matrix(k, kind.dims[1]), depth - 1, data) for k in (1, n - 1))
        return f"append_row({one}, {other})"
    rest = complex_container(place, Kind(kind.name, (n - 1,)), depth - 1, data)
    function = "append_row" if kind.name == "complex_vector" else "append_col"
    return f"{function}({complex_number(place, depth - 1, data)}, {rest})"


def _outer(place: Place, kind: Kind, depth: int, data: bool) -> str:
    column = complex_container(place, complex_vector(kind.dims[0]), depth - 1, data)
    row = complex_container(place, complex_row_vector(kind.dims[1]), depth - 1, data)
    return f"(({column}) * ({row}))"


def _of_matrix(place: Place, kind: Kind, depth: int, data: bool) -> str:
    """A row or a column of a matrix."""
    n, along = kind.dims[0], 0 if kind.name == "complex_vector" else 1
    known = place.having(lambda v: v.kind.name == "complex_matrix" and v.kind.dims[along] == n
                         and v.kind.dims[1 - along] > 0 and (v.data or not data))  # fmt: skip
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    at = integer(place, 1, v.kind.dims[1 - along], 1)
    return place.choices.pick([f"{v.name}[, {at}]", f"col({v.name}, {at})"] if along == 0 else
                              [f"{v.name}[{at}]", f"{v.name}[{at}, ]", f"row({v.name}, {at})"])  # fmt: skip


def _sliced(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .containers import _stretch

    def fits(v: Variable) -> bool:
        held = v.kind.name == kind.name and all(a >= max(b, 1) for a, b in zip(v.kind.dims, kind.dims))
        return held and (v.data or not data)

    known = place.having(fits)
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    if kind.name != "complex_matrix" and place.choices.chance(25):
        return place.choices.pick([f"head({v.name}, {kind.dims[0]})", f"tail({v.name}, {kind.dims[0]})"])
    return f"{v.name}[{', '.join(_stretch(place, n, m) for n, m in zip(kind.dims, v.kind.dims))}]"


def _called(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .calls import call

    return call(place, kind, depth)


def parts_of_complex(place: Place, kind: Kind, depth: int, data: bool) -> str:
    """A real container that is a part of a complex one, or its moduli."""
    form = place.choices.pick(["get_real({})", "get_imag({})", "abs(1.1 + {})"])
    return form.format(complex_container(place, Kind(f"complex_{kind.name}", kind.dims), depth - 1, data))
