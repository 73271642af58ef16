"""Matrices in compressed sparse row form: values w, their columns v, and where each row starts, u. All start at 1.

Source: Stan Functions Reference, "Sparse Matrix Operations".
"""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..checks import same_size, size
from ..errors import StanIndexError
from ..registry import stan_function

_M = [[0.0, 2.0], [-3.0, 4.0]]


def _pattern(xp: Namespace, m: Array) -> tuple[Array, ...]:
    """Rows and columns of the components other than zero: all of them, where values are known only at run time."""
    values = xp.known(m)
    return xp.nonzero(xp.ones(xp.shape(m)) if values is None else values)


def _w(xp: Namespace, m: Array) -> Array:
    rows, cols = _pattern(xp, m)
    return m[rows, cols]


def _v(xp: Namespace, m: Array) -> Array:
    return _pattern(xp, m)[1] + 1


def _u(xp: Namespace, m: Array) -> Array:
    return xp.searchsorted(_pattern(xp, m)[0], xp.arange(xp.shape(m)[0] + 1)) + 1


@stan_function("vector csr_extract_w(matrix m)", examples=[(_M,)])
def csr_extract_w(xp: Namespace, m: Array) -> Array:
    return _w(xp, m)


@stan_function("array[] int csr_extract_v(matrix m)", examples=[(_M,)])
def csr_extract_v(xp: Namespace, m: Array) -> Array:
    return _v(xp, m)


@stan_function("array[] int csr_extract_u(matrix m)", examples=[(_M,)])
def csr_extract_u(xp: Namespace, m: Array) -> Array:
    return _u(xp, m)


@stan_function("tuple(vector, array[] int, array[] int) csr_extract(matrix m)", examples=[(_M,)])
def csr_extract(xp: Namespace, m: Array) -> Any:
    return _w(xp, m), _v(xp, m), _u(xp, m)


def _check(xp: Namespace, name: str, m: Array, n: Real, w: Array, v: Array, u: Array) -> None:
    count = xp.shape(w)[0]
    same_size(name, "size of w", count, "size of v", xp.shape(v)[0])
    same_size(name, "size of u", xp.shape(u)[0], "rows + 1", size(name, "m", m) + 1)
    n, columns, starts = size(name, "n", n), xp.known(v), xp.known(u)
    if columns is not None and not ((columns >= 1) & (columns <= n)).all():
        raise StanIndexError(f"{name}: a column in v is out of range; expecting it to be between 1 and {n}")
    if starts is not None and (starts[0] != 1 or starts[-1] != count + 1 or (starts[1:] < starts[:-1]).any()):
        raise StanIndexError(f"{name}: u must rise from 1 to {count + 1}")


def _row_of_each(xp: Namespace, u: Array, count: int) -> Array:
    """The row, from 0, in which each of the values stands."""
    return xp.searchsorted(u, xp.arange(1, count + 1), side="right") - 1


_EXAMPLE = (2, 2, [2.0, -3.0, 4.0], [2, 1, 2], [1, 2, 4])


@stan_function(
    "matrix csr_to_dense_matrix(int m, int n, vector w, array[] int v, array[] int u)", examples=[_EXAMPLE]
)  # fmt: skip
def csr_to_dense_matrix(xp: Namespace, m: Array, n: Array, w: Array, v: Array, u: Array) -> Array:
    _check(xp, "csr_to_dense_matrix", m, n, w, v, u)
    rows = _row_of_each(xp, u, xp.shape(w)[0])
    return xp.at_set(xp.zeros((int(m), size("csr_to_dense_matrix", "n", n))), (rows, v - 1), w)


@stan_function(
    "vector csr_matrix_times_vector(int m, int n, vector w, array[] int v, array[] int u, vector b)",
    examples=[(*_EXAMPLE, [0.5, 1.0])],
)
def csr_matrix_times_vector(xp: Namespace, m: Any, n: Any, w: Array, v: Array, u: Array, b: Array) -> Array:
    _check(xp, "csr_matrix_times_vector", m, n, w, v, u)
    same_size("csr_matrix_times_vector", "size of b", xp.shape(b)[0], "n", n)
    return xp.segment_sum(w * xp.take(b, v - 1), _row_of_each(xp, u, xp.shape(w)[0]), int(m))
