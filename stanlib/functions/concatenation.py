"""Containers put together. Source: Stan Functions Reference, "Array concatenation", "Matrix concatenation"."""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace
from ..checks import same_size
from ..errors import StanIndexError
from ..registry import stan_function

_A, _B = [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]


def _both(*texts: str) -> list[str]:
    """Signatures over reals, and the same over complex numbers."""
    out = list(texts)
    for text in texts:
        for t in ("real", "row_vector", "vector", "matrix"):
            text = text.replace(f" {t} ", f" complex_{t} ").replace(f"({t} ", f"(complex_{t} ")
        result, rest = text.split(" ", 1)
        out.append(f"complex_{result} {rest}".replace("complex_real", "complex").replace("row_complex_", "row_"))
    return out


@stan_function("A append_array(A x, A y)", moves=True, examples=[([1.0, 2.0], [3.0])], linear=("x y",))
def append_array(xp: Namespace, x: Array, y: Array) -> Array:
    m, n = xp.shape(x), xp.shape(y)
    if 0 in (m[0], n[0]):  # an empty array doesn't tell how large its elements are
        return x if n[0] == 0 else y
    if m[1:] != n[1:]:
        raise StanIndexError(f"append_array: elements of the sizes {m[1:]} and {n[1:]} must match in size")
    return xp.concatenate((x, y))


def _joined(xp: Namespace, x: Array, y: Array) -> Array:
    """Two vectors, or a vector and a number, one after the other."""
    return xp.concatenate(tuple(xp.reshape(part, (math.prod(xp.shape(part)),)) for part in (x, y)))


@stan_function(
    *_both(
        "vector append_row(vector x, vector y)", "vector append_row(real x, vector y)",
        "vector append_row(vector x, real y)",
    ),
    moves=True, examples=[([1.0, 2.0], [3.0]), (0.5, [1.0])], linear=("x y",),
)  # fmt: skip
def append_to_vector(xp: Namespace, x: Array, y: Array) -> Array:
    return _joined(xp, x, y)


@stan_function(
    *_both(
        "row_vector append_col(row_vector x, row_vector y)", "row_vector append_col(real x, row_vector y)",
        "row_vector append_col(row_vector x, real y)",
    ),
    moves=True, examples=[([1.0, 2.0], [3.0]), (0.5, [1.0])], linear=("x y",),
)  # fmt: skip
def append_to_row_vector(xp: Namespace, x: Array, y: Array) -> Array:
    return _joined(xp, x, y)


@stan_function(
    *_both(
        "matrix append_row(matrix x, matrix y)", "matrix append_row(matrix x, row_vector y)",
        "matrix append_row(row_vector x, matrix y)", "matrix append_row(row_vector x, row_vector y)",
    ),
    moves=True, examples=[(_A, _B), ([1.0, 2.0], _B)], linear=("x y",),
)  # fmt: skip
def append_row(xp: Namespace, x: Array, y: Array) -> Array:
    same_size("append_row", "columns of x", xp.shape(x)[-1], "columns of y", xp.shape(y)[-1])
    return xp.concatenate(tuple(part if xp.ndim(part) == 2 else part[None, :] for part in (x, y)), axis=0)


@stan_function(
    *_both(
        "matrix append_col(matrix x, matrix y)", "matrix append_col(matrix x, vector y)",
        "matrix append_col(vector x, matrix y)", "matrix append_col(vector x, vector y)",
    ),
    moves=True, examples=[(_A, _B), ([1.0, 2.0], _B)], linear=("x y",),
)  # fmt: skip
def append_col(xp: Namespace, x: Array, y: Array) -> Array:
    same_size("append_col", "rows of x", xp.shape(x)[0], "rows of y", xp.shape(y)[0])
    return xp.concatenate(tuple(part if xp.ndim(part) == 2 else part[:, None] for part in (x, y)), axis=1)
