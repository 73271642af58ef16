"""Random complex expressions."""

from __future__ import annotations

from .kinds import COMPLEX
from .scope import Place

UNARY = (
    "conj({})", "-({})", "exp(0.1 * ({}))", "sqrt(2.2 + {})", "({}) * 0.7", "pow(2.2 + {}, 2)", "log(3.2 + 0.1 * ({}))",
    "sin(0.2 * ({}))", "tanh(0.3 * ({}))", "1 / (2.5 + 0.1 * ({}))",
)  # fmt: skip
BINARY = (
    "{} + {}", "{} - {}", "({}) * ({})", "({}) / (4.1 + 0.1 * ({}))", "polar(1 + square(get_real({})), get_imag({}))",
    "pow(3.0 + 0.1 * ({}), 0.3 * ({}))",
)  # fmt: skip


def complex_number(place: Place, depth: int = 2, data: bool = False) -> str:
    from .reals import real

    c = place.choices
    with c.span():
        known = place.of(COMPLEX, data)
        what = c.below(5 if depth > 0 else 2)
        if what == 1 and known:
            return c.pick(known[::-1]).name
        if what == 3:
            return c.pick(UNARY).format(complex_number(place, depth - 1, data))
        if what == 4:
            one, other = complex_number(place, depth - 1, data), complex_number(place, depth - 1, data)
            return "(" + c.pick(BINARY).format(one, other) + ")"
        if what == 2:
            vectors = place.having(lambda v: v.kind.name == "complex_vector" and v.kind.dims[0] > 0
                                   and (v.data or not data))  # fmt: skip
            if vectors:
                v = c.pick(vectors[::-1])
                return f"{v.name}[{c.between(1, v.kind.dims[0])}]"
        return f"to_complex({real(place, depth - 1, data)}, {real(place, depth - 1, data)})"
