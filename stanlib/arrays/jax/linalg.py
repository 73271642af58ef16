"""Linear algebra in JAX with derivatives that jax.numpy.linalg lacks, or has at a higher price."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np

from ..base import Array
from ..memory import by_columns
from ..numpy import linalg as linalg_numpy
from . import callbacks, small_factors

NARROW = 32  # columns up to which a matrix of data is kept by columns


def matmul(a: Any, b: Any) -> Array:
    """The matrix product. Data with few columns are stored by columns for it: XLA is slow at many short rows."""
    if isinstance(a, np.ndarray) and a.ndim == 2 and b.ndim == 1 and a.shape[1] <= NARROW:
        return jnp.matmul(b, by_columns(a))
    return jnp.matmul(a, b)


def cholesky(a: object) -> Any:
    """The lower triangular factor of a positive definite matrix, or of each of them; NaN where there is none."""
    a = jnp.asarray(a)
    return small_factors.cholesky((a + a.T) / 2) if small_factors.is_small(a) else jnp.linalg.cholesky(a)


def solve(a: Array, b: Array) -> Any:
    """Solve a x = b for a square a, and a vector or a matrix b; no call of a library for a small a."""
    return small_factors.solve(a, b) if small_factors.is_small(a) else jnp.linalg.solve(a, b)


def inverse(a: Array) -> Any:
    """The inverse of a square matrix; no call of a library for a small one."""
    return small_factors.inverse(a) if small_factors.is_small(a) else jnp.linalg.inv(a)


def solve_spd(a: Array, b: Array) -> Any:
    """Solve a x = b for a positive definite a; the derivative takes one more solution, not that of the factor."""
    a, b = jnp.asarray(a), jnp.asarray(b)
    factor = jax.lax.stop_gradient(jnp.linalg.cholesky(a))

    def solve(_: object, v: Any) -> object:
        return jax.scipy.linalg.cho_solve((factor, True), v)

    return jax.lax.custom_linear_solve(lambda v: a @ v, b, solve, symmetric=True)


@jax.custom_jvp
def quadratic_spd(a: Any, b: Any) -> tuple[Any, Any]:
    """log det a, and b_j' a^-1 b_j for every column of b, for a positive definite a."""
    if _is_small(a, b):
        factor, root = small_factors.factor_and_inverse(a.T)
        return _beside(b, _log_det(factor)), _squares(small_factors.product(root, b))
    factor = jax.lax.linalg.cholesky(a, symmetrize_input=False)
    return _beside(b, _log_det(factor)), _squares(jax.scipy.linalg.solve_triangular(factor, b, lower=True))


def _is_small(a: Array, b: Array) -> bool:
    """Whether the columns of b are few, and a is small."""
    return small_factors.is_small(a) and b.shape[1] <= small_factors.LARGEST


def _beside(b: Any, log_det: Any) -> jax.Array:
    """log_det, mapped over where b is: its derivative is, and JAX's rules of derivatives want the value to be as well.

    XLA takes the choice between equals away.
    """
    return jnp.where(jnp.sum(b[:1, :1]) == 0, log_det, log_det)


@quadratic_spd.defjvp
def _quadratic_spd_jvp(primals: Any, tangents: Any) -> Any:
    """From the inverse, which costs less than the derivative of the factorisation."""
    a, b = primals
    if _is_small(a, b):
        factor, root = small_factors.factor_and_inverse(a.T)
        white = small_factors.product(root, b)
        x, inverse = small_factors.product(root.T, white), small_factors.product(root.T, root)
        slopes = 2 * tangents[1] - small_factors.product(tangents[0], x)
        log_det, change = _beside(b, _log_det(factor)), _beside(b, jnp.sum(inverse * tangents[0]))
        return (log_det, _squares(white)), (change, jnp.sum(x * slopes, axis=0))
    factor = jax.lax.linalg.cholesky(a, symmetrize_input=False)
    columns = jnp.concatenate([b, jnp.eye(len(a), dtype=factor.dtype)], axis=1)
    white = jax.scipy.linalg.solve_triangular(factor, columns, lower=True)
    solved = jax.scipy.linalg.solve_triangular(factor, white, lower=True, trans=1)
    count = b.shape[1]
    x, inverse = solved[:, :count], solved[:, count:]
    changes = jnp.sum(inverse * tangents[0]), jnp.sum(x * (2 * tangents[1] - tangents[0] @ x), axis=0)
    return (_log_det(factor), _squares(white[:, :count])), changes


def _log_det(factor: Any) -> jax.Array:
    return 2 * jnp.sum(jnp.log(jnp.diagonal(factor)))


def _squares(x: Any) -> jax.Array:
    return jnp.sum(x * x, axis=0)


def _on_host(f: Callable[..., object], shapes: Any, a: Array) -> tuple[Any, ...]:
    """A NumPy function of a matrix; JAX has no eigenvalues without symmetry outside the CPU, and no Schur vectors."""
    dtype = jnp.result_type(a, jnp.complex64)
    types = tuple(jax.ShapeDtypeStruct(shape, dtype) for shape in shapes)
    return callbacks.call(f, types, a, vmap_method="sequential")


@jax.custom_jvp
def eig(a: Array) -> tuple[Any, Any]:
    """Eigenvalues in Stan's order, and eigenvectors of length 1."""
    values, vectors = _on_host(linalg_numpy.eig, (a.shape[:1], a.shape), a)
    return values, vectors


@eig.defjvp
def _eig_jvp(primals: Any, tangents: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Golub and Van Loan, section 7.2.2; an eigenvector changes at a right angle to itself."""
    values, vectors = eig(*primals)
    change = jnp.linalg.solve(vectors, tangents[0] @ vectors)
    apart = jnp.eye(len(values)) == 0
    gaps = jnp.where(apart, values[None, :] - values[:, None], 1)
    turn = vectors @ jnp.where(apart, change / gaps, 0)
    turn = turn - vectors * jnp.sum(jnp.conj(vectors) * turn, axis=0)
    return (values, vectors), (jnp.diagonal(change), turn)


@jax.custom_jvp
def schur(a: Array) -> tuple[Any, Any]:
    """Unitary u and upper triangular t with a = u t u*."""
    u, t = _on_host(linalg_numpy.schur, (a.shape, a.shape), a)
    return u, t


@schur.defjvp
def _schur_jvp(primals: Any, tangents: Any) -> Any:
    """With du = u x and x skew-Hermitian, u* da u + t x - x t stays triangular: linear equations for x."""
    u, t = schur(*primals)
    n = len(t)
    change = jnp.conj(u.T) @ tangents[0] @ u
    rows, cols = np.tril_indices(n, -1)
    at = rows * n + cols
    equations = (jnp.kron(t, jnp.eye(n)) - jnp.kron(jnp.eye(n), t.T))[at[:, None], at]
    solution = -jnp.linalg.solve(equations, change[rows, cols])
    below = jnp.zeros_like(t).at[rows, cols].set(solution, unique_indices=True)
    x = below - jnp.conj(below.T)
    return (u, t), (u @ x, jnp.triu(change + t @ x - x @ t))
