"""Simplexes, vectors and matrices that sum to zero, and stochastic matrices.

The sum-to-zero transform is the isometry between R^n and the hyperplane of R^(n+1); a simplex is the softmax of its
result (the inverse isometric log-ratio transform). Source: Stan Reference Manual, "Zero sum vectors", "Unit simplex",
"Stochastic matrix", "Zero sum matrices"; Egozcue et al. (2003), "Isometric logratio transformations".
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..arrays.base import Array, Namespace
from ..closeness import is_one, tolerance
from . import Constraint, add, faults

if TYPE_CHECKING:
    from ..random.base import Random


def sum_to_zero(xp: Namespace, x: Array) -> Array:
    """n free numbers as n + 1 that sum to zero, along the last axis."""
    n = xp.shape(x)[-1]
    if n == 0:
        return xp.zeros((*xp.shape(x)[:-1], 1))
    i, _ = xp.convert((xp.arange(1.0, n + 1), x))
    w = x / xp.sqrt(i * (i + 1.0))
    tail = xp.flip(xp.cumsum(xp.flip(w, axis=-1), axis=-1), axis=-1)  # of w_i and all behind it
    zero = xp.zeros((*xp.shape(x)[:-1], 1))
    return xp.concatenate([tail, zero], axis=-1) - xp.concatenate([zero, i * w], axis=-1)


def sum_to_zero_inverse(xp: Namespace, z: Array) -> Array:
    n = xp.shape(z)[-1] - 1
    i, _ = xp.convert((xp.arange(1.0, n + 1), z))
    behind = xp.flip(xp.cumsum(xp.flip(z[..., 1:], axis=-1), axis=-1), axis=-1)  # z_(i+1) and all behind it
    tail: Array = -behind / i
    zero = xp.zeros((*xp.shape(z)[:-1], 1))
    return (tail - xp.concatenate([tail[..., 1:], zero], axis=-1)[..., :n]) * xp.sqrt(i * (i + 1.0))


def _one_less(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0] - 1,)


def _sums_to_zero(xp: Namespace, z: Array) -> Array:
    total = xp.sum(z, axis=-1)
    return xp.abs(total) <= tolerance(xp, total)


SUM_TO_ZERO_VECTOR = add(
    Constraint(
        "sum_to_zero_vector", "a vector that sums to zero", 1, 1,
        lambda xp, x: (sum_to_zero(xp, x), xp.zeros(xp.shape(x)[:-1])), sum_to_zero_inverse,
        lambda xp, z: _sums_to_zero(xp, z) & (xp.shape(z)[-1] > 0), _one_less,
        base="vector", sizes=(1,), least_sizes=(1,),
        reasons=faults.total,
    )
)  # fmt: skip


def _has_components(xp: Namespace, m: Array) -> bool:
    """Of matrices: Stan's checks of these types throw for those without."""
    return bool(min(xp.shape(m)[-2:]) > 0)


def _rotate(xp: Namespace, z: Array, by: int) -> Array:
    return xp.concatenate([z[..., by:], z[..., :by]], axis=-1)


def _transposed(xp: Namespace, x: Array) -> Array:
    return xp.swapaxes(x, -1, -2)


def _zero_matrix(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """The transform of vectors for rows and for columns, where Stan puts what would come first last."""
    rows = _rotate(xp, sum_to_zero(xp, x), 1)
    columns = _rotate(xp, sum_to_zero(xp, _transposed(xp, rows)), 1)
    return _transposed(xp, columns), xp.zeros(xp.shape(x)[:-2])


def _zero_matrix_inverse(xp: Namespace, z: Array) -> Array:
    columns = sum_to_zero_inverse(xp, _rotate(xp, _transposed(xp, z), -1))
    return sum_to_zero_inverse(xp, _rotate(xp, _transposed(xp, columns), -1))


SUM_TO_ZERO_MATRIX = add(
    Constraint(
        "sum_to_zero_matrix", "a matrix whose rows and columns sum to zero", 2, 2, _zero_matrix, _zero_matrix_inverse,
        # Stan's check looks at the sum of all components alone, not at each row and column
        lambda xp, z: _sums_to_zero(xp, xp.sum(z, axis=-1)) & _has_components(xp, z),
        lambda shape: (shape[0] - 1, shape[1] - 1),
        base="matrix", sizes=(2,), least_sizes=(1, 1),
        reasons=faults.total,
    )
)  # fmt: skip


def simplex(xp: Namespace, x: Array) -> tuple[Any, Any]:
    """The simplex of n + 1 components, and the log Jacobian: log of sqrt(n + 1) times the product of components."""
    z = sum_to_zero(xp, x)
    log_y = z - xp.logsumexp(z, axis=-1, keepdims=True)
    return xp.exp(log_y), xp.sum(log_y, axis=-1) + 0.5 * math.log(xp.shape(z)[-1])


def simplex_inverse(xp: Namespace, y: Array) -> Array:
    log_y = xp.log(y)
    return sum_to_zero_inverse(xp, log_y - xp.sum(log_y, axis=-1)[..., None] / xp.shape(y)[-1])


def is_simplex(xp: Namespace, y: Array) -> Array:
    return is_one(xp, xp.sum(y, axis=-1)) & xp.all(y >= 0, axis=-1)


def _any_simplex(xp: Namespace, random: Random, shape: tuple[int, ...]) -> Array:
    parts = random.exponential(shape)
    return parts / xp.sum(parts, axis=-1, keepdims=True)


SIMPLEX = add(
    Constraint(
        "simplex", "a simplex", 1, 1, simplex, simplex_inverse, is_simplex, _one_less, base="vector", sizes=(1,),
        least_sizes=(1,), interval=(0.0, 1.0),
        reasons=faults.simplex, uniform=_any_simplex,
    )
)


def _rows(xp: Namespace, x: Array) -> tuple[Any, Any]:
    y, log_jacobian = simplex(xp, x)
    return y, xp.sum(log_jacobian, axis=-1)


ROW_STOCHASTIC = add(
    Constraint(
        "row_stochastic_matrix", "a row stochastic matrix", 2, 2, _rows, simplex_inverse,
        lambda xp, y: xp.all(is_simplex(xp, y), axis=-1) & _has_components(xp, y),
        lambda shape: (shape[0], shape[1] - 1),
        base="matrix", sizes=(2,), least_sizes=(0, 1), interval=(0.0, 1.0),
        reasons=faults.stochastic("row"),
    )
)  # fmt: skip


def _columns(xp: Namespace, x: Array) -> tuple[Array, Array]:
    y, log_jacobian = _rows(xp, xp.swapaxes(x, -1, -2))
    return xp.swapaxes(y, -1, -2), log_jacobian


COLUMN_STOCHASTIC = add(
    Constraint(
        "column_stochastic_matrix", "a column stochastic matrix", 2, 2, _columns,
        lambda xp, y: xp.swapaxes(simplex_inverse(xp, xp.swapaxes(y, -1, -2)), -1, -2),
        lambda xp, y: xp.all(is_simplex(xp, _transposed(xp, y)), axis=-1) & _has_components(xp, y),
        lambda shape: (shape[0] - 1, shape[1]),
        base="matrix", sizes=(2,), least_sizes=(1, 0), interval=(0.0, 1.0),
        reasons=faults.stochastic("column"),
    )
)  # fmt: skip
