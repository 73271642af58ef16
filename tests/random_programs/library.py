"""Random calls of library functions: every record, every overload, with arguments near those of its examples."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from stanlib import registry
from stanlib.signatures import Overload
from stanlib.types import COMPLEX, INT, MATRIX, REAL, ROW_VECTOR, VECTOR, Primitive, Tuple, Type, array, unwind

from .scope import Place

COMPLEX_OF = {"complex_vector": VECTOR, "complex_row_vector": ROW_VECTOR, "complex_matrix": MATRIX}
# A container whose components are scaled alike stays in these domains.
SCALABLE = ("positive", "finite", "nonnegative", "not nan", "symmetric and positive")
LENGTH = 2
WITHOUT = frozenset(
    # what differs by rounding alone decides, or derivatives that no convention fixes
    {
        "unit_vectors",
        "eigenvectors",
        "eigenvectors_sym",
        "eigendecompose",
        "eigendecompose_sym",
        "svd",
        "svd_U",
        "svd_V",
        "qr",
        "qr_Q",
        "qr_R",
        "qr_thin",
        "qr_thin_Q",
        "qr_thin_R",
        "complex_schur_decompose",
        "complex_schur_decompose_t",
        "complex_schur_decompose_u",
        "machine_precision",
        "not_a_number",
        "negative_infinity",
        "positive_infinity",
    }
)

# Stan cuts their series short: the log of P(0 | 0.4, 0.5, 2) is -0.82253 for -0.82418, the closed form
INEXACT = frozenset({"beta_neg_binomial_cdf", "beta_neg_binomial_lcdf", "beta_neg_binomial_lccdf"})

# Stan's are 0, -infinity and 0 wherever a number is outside of the interval, above it too
WRONG_ABOVE = frozenset({"uniform_cdf", "uniform_lcdf", "uniform_lccdf"})


@cache
def functions() -> tuple[registry.Function, ...]:
    """The records that a random program may call anywhere."""
    registry.load()
    return tuple(f for f in registry.SYMBOLS.values() if _callable(f))


def _callable(f: registry.Function) -> bool:
    if not f.is_named or f.raw or f.random or f.removed or f.effect or not f.built:
        return False
    if not f.examples or f.name in WITHOUT | INEXACT:
        return False
    return not f.name.endswith(("_lupdf", "_lupmf", "_lp")) and not f.name.startswith("operator")


def library_call(place: Place, depth: int, data: bool) -> str:
    """A call of some function as a real, or nothing where the example that was chosen can't be written."""
    c = place.choices
    f = c.pick(functions())
    example = c.pick(f.examples)
    if f.name in WRONG_ABOVE and example[0] > example[2]:
        return ""
    known = [o for s in f.signatures for o in s.overloads if len(o.types) == len(example)]
    if not known:
        return ""
    overload = c.pick(known)
    texts = written(place, f, overload, example, depth, data)
    if texts is None:
        return ""
    if f.distribution is not None and f.name.rpartition("_")[2] in ("lpdf", "lpmf", "cdf", "lcdf", "lccdf"):
        call = f"{f.name}({texts[0]} | {', '.join(texts[1:])})"
    elif f.name.startswith("operator") or not f.name.isidentifier():
        return ""
    else:
        call = f"{f.name}({', '.join(texts)})"
    return as_real(overload.result, call)


def written(
    place: Place, f: registry.Function, overload: Overload, example: tuple[Any, ...], depth: int, data: bool
) -> list[str] | None:
    """The arguments of a call; None if the example doesn't fit the overload, or the referee has another value."""
    if _is_told_otherwise(f.name, overload, example):
        return None
    names = f.signatures[0].argument_names
    texts = []
    for i, (parameter, value) in enumerate(zip(overload.parameters, example)):
        domain = f.domains.get(names[i]) if i < len(names) else None
        text = literal(parameter.type, value)
        if text is None:
            return None
        free = not (parameter.data_only or data or place.data_only or f.name.endswith("_unconstrain"))
        if free and place.choices.chance(40):
            text = varied(place, parameter.type, text, domain.description if domain else "", value, depth)
        texts.append(text)
    return texts


def _is_told_otherwise(name: str, overload: Overload, example: tuple[Any, ...]) -> bool:
    """Whether the referee's value of a call is known not to be that of the definition."""
    if name == "ordered_probit_lpmf":  # Stan adds the first of several outcomes alone, if they share a location
        return overload.types[0] != INT and overload.types[1] == REAL
    # stanli throws where there are not as many rows as columns; Stan's compiler has the values of this package
    return name in ("multi_gp_lpdf", "multi_gp_cholesky_lpdf") and len(set(np.shape(example[0]))) > 1


def varied(place: Place, t: Type, text: str, domain: str, value: Any, depth: int) -> str:
    """A real or a vector or matrix of them that is scaled by a little."""
    from .reals import real

    if t not in (REAL, VECTOR, ROW_VECTOR, MATRIX) or (domain and not domain.startswith(SCALABLE)):
        return text
    if t == REAL and domain and "interval" in domain:
        return text
    if _has_zero_or_one(value):
        return text
    return f"({text} * exp(0.02 * tanh({real(place, min(depth - 1, 1))})))"


def _has_zero_or_one(value: Any) -> bool:
    """Values that may stand on the edge of a domain."""
    if isinstance(value, list):
        return any(map(_has_zero_or_one, value))
    return value in (0, 1, -1) or (isinstance(value, float) and not math.isfinite(value))


def literal(t: Type, value: Any) -> str | None:
    """A value of a type as Stan writes it; numbers fill containers, and None stands for what doesn't fit."""
    element, axes = unwind(t)
    if axes:
        items = value if isinstance(value, list) else [value] * LENGTH
        inner = [literal(array(element, axes - 1), v) for v in items]
        return None if None in inner or not inner else "{" + ", ".join(inner) + "}"  # type: ignore[arg-type]
    if isinstance(t, Tuple) or not isinstance(t, Primitive):
        return None
    if t == MATRIX or t.name == "complex_matrix":
        return _matrix(t, value)
    if t in (VECTOR, ROW_VECTOR) or t.name in COMPLEX_OF:
        return _vector(t, value)
    return _number(t, value)


def _number(t: Type, value: Any) -> str | None:
    if isinstance(value, list) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if t == INT:
        fits = not isinstance(value, complex) and value == int(value) and abs(value) < 2**31
        return str(int(value)) if fits else None
    if t == COMPLEX:
        z = complex(value)
        return f"to_complex({z.real!r}, {z.imag!r})"
    return repr(float(value)) if not isinstance(value, complex) else None


def _vector(t: Primitive, value: Any) -> str | None:
    items = value if isinstance(value, list) else [value] * LENGTH
    inner = [_number(COMPLEX if t.name in COMPLEX_OF else REAL, v) for v in items]
    if None in inner:
        return None
    if not inner:
        return f"rep_{t.name}(0.5, 0)" if t in (VECTOR, ROW_VECTOR) else None
    text = f"[{', '.join(map(str, inner))}]"
    return text if "row" in t.name else f"{text}'"


def _matrix(t: Primitive, value: Any) -> str | None:
    rows = value if isinstance(value, list) else [[value] * LENGTH] * LENGTH
    if not rows or not all(isinstance(r, list) and r for r in rows):
        return None
    inner = [_vector(ROW_VECTOR if t == MATRIX else COMPLEX_ROW, r) for r in rows]
    return None if None in inner else f"[{', '.join(map(str, inner))}]"


COMPLEX_ROW = Primitive("complex_row_vector")


def as_real(t: Type, text: str) -> str:
    """A call's result as one real that depends on all of it; moderate, and nothing where there is no such form."""
    element, axes = unwind(t)
    if axes:
        if element in (INT, REAL):
            inner = "to_array_1d({})" if axes > 1 else "{}"
            return as_real(REAL, f"sum({inner.format(text)})")
        if axes == 1 and element in (VECTOR, ROW_VECTOR, MATRIX):
            return as_real(REAL, f"sum({text}[1])")
        return ""
    if t in (INT, REAL):
        return f"tanh(0.3 * {text})"
    if t in (VECTOR, ROW_VECTOR, MATRIX):
        return f"tanh(0.2 * sum({text}))"
    if t == COMPLEX:
        return f"tanh(0.2 * (get_real({text})))"
    if isinstance(t, Primitive) and t.name in ("complex_vector", "complex_row_vector", "complex_matrix"):
        return f"tanh(0.2 * get_imag(sum({text})))"
    return ""
