"""Cholesky factors and inverses of small matrices in JAX, in elementary operations instead of calls of LAPACK.

A program that calls a library is a list of kernels, and XLA spends more around each than the arithmetic of so few
numbers takes. Without such calls a whole sampler can be one kernel. One loop eliminates the rows of a matrix and of
what stands beside it, so that it also gives the inverse of the factor, from which the derivative follows by products.
"""
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..base import Array

LARGEST = 16  # rows up to which a sampler with it is faster than with LAPACK


def is_small(a: Array) -> bool:
    """Whether it is one matrix of real numbers that this is for."""
    return jnp.ndim(a) == 2 and 0 < a.shape[0] <= LARGEST and bool(jnp.issubdtype(jnp.result_type(a), jnp.floating))


@jax.custom_jvp
def cholesky(a: Any) -> Any:
    """The lower triangular factor of a symmetric matrix, of which the upper triangle is read.

    NaN on and below the diagonal if it is not positive definite.
    """
    return _eliminated(a, a[:, :0])[0]


@cholesky.defjvp
def _cholesky_jvp(primals: Any, tangents: Any) -> Any:
    """In products alone, so that the derivative in reverse has no systems to solve either.

    Source: Murray (2016), "Differentiation of the Cholesky decomposition", arXiv:1602.07527, section 3.1.
    """
    (a,), (change,) = primals, tangents
    factor, inverse = factor_and_inverse(a)
    whitened = product(product(inverse, change), inverse.T)
    return factor, product(factor, whitened * (np.tri(len(a)) - 0.5 * np.eye(len(a))))


def factor_and_inverse(a: Array) -> tuple[Any, Any]:
    """The lower triangular factor of a symmetric matrix, of which the upper triangle is read, and its inverse."""
    return _eliminated(a, jnp.eye(len(a), dtype=a.dtype))


def _eliminated(a: Any, beside: Any) -> tuple[object, object]:
    """For a = l l' the factor l, and l^-1 times what stands beside a, (size, columns)."""
    size = len(a)
    counted = np.arange(size)

    def eliminate(j: Any, rows: Any) -> object:
        row = jax.lax.dynamic_index_in_dim(rows, j, 0, keepdims=False)
        share = row[:size] / jax.lax.dynamic_index_in_dim(row, j, 0, keepdims=False)
        return rows - jnp.where(counted > j, share, 0)[:, None] * row

    rows = jax.lax.fori_loop(0, size - 1, eliminate, jnp.concatenate([a, beside], axis=1))
    pivots = jnp.diagonal(rows)
    rows = rows / jnp.sqrt(jnp.where(jnp.all(pivots > 0), pivots, jnp.nan))[:, None]
    return jnp.where(np.tri(size) == 1, rows[:, :size].T, 0), rows[:, size:]


@jax.custom_jvp
def inverse(a: Any) -> Any:
    """The inverse of a square matrix; inf or NaN where there is none.

    By Gauss and Jordan's elimination, each column's pivot the largest number in a row that was none's before.
    """
    size = len(a)
    counted = np.arange(size)

    def eliminate(j: Any, state: tuple[Any, Any, Any]) -> tuple[object, object, object]:
        rows, is_free, order = state
        column = jax.lax.dynamic_index_in_dim(rows, j, 1, keepdims=False)
        chosen = jnp.argmax(jnp.where(is_free, jnp.abs(column), -1.0))
        is_chosen = counted == chosen
        row = jax.lax.dynamic_index_in_dim(rows, chosen, 0, keepdims=False)
        row = row / jax.lax.dynamic_index_in_dim(row, j, 0, keepdims=False)
        rows = jnp.where(is_chosen[:, None], row, rows - column[:, None] * row)
        return rows, is_free & ~is_chosen, jnp.where(counted == j, chosen, order)

    start = jnp.concatenate([a, jnp.eye(size, dtype=a.dtype)], axis=1), np.full(size, True), np.zeros(size, int)
    rows, _, order = jax.lax.fori_loop(0, size, eliminate, start)
    return rows[order, size:]


@inverse.defjvp
def _inverse_jvp(primals: Any, tangents: Any) -> Any:
    made = inverse(*primals)
    return made, -product(made, product(tangents[0], made))


def solve(a: Array, b: Array) -> Any:
    """The solution of a x = b, for a vector or the columns of a matrix."""
    return product(inverse(a), b) if jnp.ndim(b) == 2 else jnp.sum(inverse(a) * b, axis=1)


def product(a: Any, b: Any) -> jax.Array:
    """The matrix product, by loops within the kernel that it stands in."""
    return jnp.sum(a[:, :, None] * b[None, :, :], axis=1)
