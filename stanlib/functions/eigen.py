"""Eigenvalues, eigenvectors and the complex Schur decomposition.

Source: Stan Functions Reference, "Linear algebra functions and solvers", "Complex matrix operations".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import nonempty, square, symmetric
from ..registry import stan_function

_SYMMETRIC, _M = [[2.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [-3.0, 4.0]]
_HERMITIAN = [[2.0, 0.5 + 1j], [0.5 - 1j, 1.0]]


@stan_function("vector eigenvalues_sym(matrix A)", examples=[(_SYMMETRIC,)])
def eigenvalues_sym(xp: Namespace, a: Array) -> Array:
    """In ascending order."""
    return xp.zeros(0) if symmetric(xp, "eigenvalues_sym", a) == 0 else xp.eigh(a)[0]


@stan_function("complex_vector eigenvalues_sym(complex_matrix A)", examples=[(_HERMITIAN,)])
def eigenvalues_hermitian(xp: Namespace, a: Array) -> Array:
    square(xp, "eigenvalues_sym", a)
    return xp.eigh(a)[0] + 0j


def _eigh(xp: Namespace, name: str, a: Array) -> tuple[Array, Array]:
    nonempty(xp, name, a)
    symmetric(xp, name, a)
    values, vectors = xp.eigh(a)
    return vectors, values


def _eigh_complex(xp: Namespace, name: str, a: Array) -> tuple[Array, Array]:
    nonempty(xp, name, a)
    square(xp, name, a)
    values, vectors = xp.eigh(a)
    return vectors, values + 0j


@stan_function("matrix eigenvectors_sym(matrix A)", examples=[(_SYMMETRIC,)])
def eigenvectors_sym(xp: Namespace, a: Array) -> Array:
    return _eigh(xp, "eigenvectors_sym", a)[0]


@stan_function("complex_matrix eigenvectors_sym(complex_matrix A)", examples=[(_HERMITIAN,)])
def eigenvectors_hermitian(xp: Namespace, a: Array) -> Array:
    return _eigh_complex(xp, "eigenvectors_sym", a)[0]


@stan_function("tuple(matrix, vector) eigendecompose_sym(matrix A)", examples=[(_SYMMETRIC,)])
def eigendecompose_sym(xp: Namespace, a: Array) -> tuple[Array, Array]:
    return _eigh(xp, "eigendecompose_sym", a)


@stan_function(
    "tuple(complex_matrix, complex_vector) eigendecompose_sym(complex_matrix A)", examples=[(_HERMITIAN,)]
)  # fmt: skip
def eigendecompose_hermitian(xp: Namespace, a: Array) -> tuple[Array, Array]:
    return _eigh_complex(xp, "eigendecompose_sym", a)


def _eig(xp: Namespace, name: str, a: Array) -> tuple[Array, Array]:
    nonempty(xp, name, a)
    square(xp, name, a)
    values, vectors = xp.eig(a)
    return vectors, values


@stan_function(
    "complex_vector eigenvalues(matrix A)", "complex_vector eigenvalues(complex_matrix A)", examples=[(_M,)]
)  # fmt: skip
def eigenvalues(xp: Namespace, a: Array) -> Array:
    return _eig(xp, "eigenvalues", a)[1]


@stan_function(
    "complex_matrix eigenvectors(matrix A)", "complex_matrix eigenvectors(complex_matrix A)", examples=[(_M,)]
)  # fmt: skip
def eigenvectors(xp: Namespace, a: Array) -> Array:
    return _eig(xp, "eigenvectors", a)[0]


@stan_function(
    "tuple(complex_matrix, complex_vector) eigendecompose(matrix A)",
    "tuple(complex_matrix, complex_vector) eigendecompose(complex_matrix A)",
    examples=[(_M,)],
)
def eigendecompose(xp: Namespace, a: Array) -> tuple[Array, Array]:
    return _eig(xp, "eigendecompose", a)


def _schur(xp: Namespace, name: str, a: Array) -> tuple[Array, Array]:
    nonempty(xp, name, a)
    square(xp, name, a)
    return xp.schur(a)


@stan_function(
    "tuple(complex_matrix, complex_matrix) complex_schur_decompose(matrix A)",
    "tuple(complex_matrix, complex_matrix) complex_schur_decompose(complex_matrix A)",
    examples=[(_M,)],
)
def complex_schur_decompose(xp: Namespace, a: Array) -> tuple[Array, Array]:
    """Unitary U and upper triangular T with A = U * T * U*."""
    return _schur(xp, "complex_schur_decompose", a)


@stan_function(
    "complex_matrix complex_schur_decompose_u(matrix A)",
    "complex_matrix complex_schur_decompose_u(complex_matrix A)",
    examples=[(_M,)],
)
def complex_schur_decompose_u(xp: Namespace, a: Array) -> Array:
    return _schur(xp, "complex_schur_decompose_u", a)[0]


@stan_function(
    "complex_matrix complex_schur_decompose_t(matrix A)",
    "complex_matrix complex_schur_decompose_t(complex_matrix A)",
    examples=[(_M,)],
)
def complex_schur_decompose_t(xp: Namespace, a: Array) -> Array:
    return _schur(xp, "complex_schur_decompose_t", a)[1]
