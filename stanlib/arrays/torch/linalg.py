"""Linear algebra in PyTorch that gives NaN where torch raises, and derivatives that torch lacks."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..numpy import linalg as linalg_numpy


def cholesky(a: torch.Tensor) -> torch.Tensor:
    factor, failed = torch.linalg.cholesky_ex(a)
    return _or_nan(factor, failed)


def inv(a: torch.Tensor) -> torch.Tensor:
    inverse, failed = torch.linalg.inv_ex(a)
    return _or_nan(inverse, failed)


def det(a: torch.Tensor) -> torch.Tensor:
    """With the derivatives of singular matrices, their cofactors, for which torch has 0."""
    value = torch.linalg.det(a)
    if not a.requires_grad:
        return value
    finite = torch.where(a.isfinite(), a, 0.0).detach()  # torch decomposes no other matrix
    change = (_cofactors(finite) * (a - a.detach())).sum((-2, -1))
    return torch.where(value == 0, change, value)


def _cofactors(a: torch.Tensor) -> torch.Tensor:
    """Matrices (..., n, n) of cofactors, also of singular ones: from a = u diag(s) v, without divisions by s."""
    u, s, v = torch.linalg.svd(a)
    others = s[..., None, :].masked_fill(torch.eye(s.shape[-1], dtype=torch.bool, device=s.device), 1.0).prod(-1)
    sign = torch.linalg.det(u) * torch.linalg.det(v)
    return sign[..., None, None] * (u * others[..., None, :]) @ v


def solve(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    column = b.unsqueeze(-1) if b.ndim == a.ndim - 1 else b
    x, failed = torch.linalg.solve_ex(a, column)
    x = _or_nan(x, failed)
    return x if column is b else x.squeeze(-1)


def solve_spd(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Solve a x = b for a positive definite a."""
    column = b.unsqueeze(-1) if b.ndim == a.ndim - 1 else b
    x = torch.cholesky_solve(column, cholesky(a))
    return x if column is b else x.squeeze(-1)


def quadratic_spd(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """log det a, and b_j' a^-1 b_j for every column of b, for a positive definite a."""
    factor = cholesky(a)
    white = torch.linalg.solve_triangular(factor, b, upper=False)
    return 2 * factor.diagonal().log().sum(), (white * white).sum(0)


def svd(a: torch.Tensor, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return torch.linalg.svd(a, full_matrices) if compute_uv else torch.linalg.svdvals(a)


def _from_numpy(f: Callable[..., Any], a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = (torch.as_tensor(x, device=a.device) for x in f(a.detach().cpu().numpy()))
    return first, second


def _as_real(x: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    return x if a.is_complex() else x.real


class _Eig(torch.autograd.Function):
    """The derivatives are computed from eigenvalues and -vectors, which have derivatives themselves.

    A change C = V^-1 da V moves the eigenvalues by its diagonal, and the eigenvectors by V (C / gaps), less what is
    along each (Golub and Van Loan, section 7.2.2).
    """

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, vectors = _from_numpy(linalg_numpy.eig, a)
        ctx.save_for_backward(a, values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx: Any, to_values: object, to_vectors: object) -> Any:
        """From the slopes in values, (n), and vectors, (n, n), that in the matrix, (n, n)."""
        a, values, vectors = ctx.saved_tensors
        apart = ~torch.eye(len(values), dtype=torch.bool, device=a.device)
        gaps = torch.where(apart, values[None, :] - values[:, None], 1)
        across = to_vectors - vectors * (vectors.conj() * to_vectors).sum(0)
        change = torch.where(apart, vectors.mH @ across / gaps.conj(), 0) + torch.diag(to_values)
        return _as_real(torch.linalg.solve(vectors.mH, change @ vectors.mH), a)


def eig(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eigenvalues in Stan's order, and eigenvectors of length 1."""
    values, vectors = _Eig.apply(a)
    return values, vectors


class _Schur(torch.autograd.Function):
    """The derivatives are computed from u and t, which have derivatives themselves.

    With du = u x and x skew-Hermitian, u* da u + t x - x t stays triangular: linear equations for x, whose transposed
    are solved here.
    """

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        u, t = _from_numpy(linalg_numpy.schur, a)
        ctx.save_for_backward(a, u, t)
        return u, t

    @staticmethod
    def backward(ctx: Any, to_u: object, to_t: object) -> Any:
        """From the slopes in u and t that in the matrix, all (n, n)."""
        a, u, t = ctx.saved_tensors
        n = len(t)
        eye = torch.eye(n, dtype=t.dtype, device=t.device)
        rows, cols = torch.tril_indices(n, n, -1)
        at = rows * n + cols
        equations = (torch.kron(t, eye) - torch.kron(eye, t.mT.contiguous()))[at[:, None], at]
        change = torch.triu(to_t)
        to_x = t.mH @ change - change @ t.mH + u.mH @ to_u
        below = (to_x - to_x.mH)[rows, cols]
        solved = torch.zeros_like(t).index_put((rows, cols), -torch.linalg.solve(equations.mH, below))
        return _as_real(u @ (change + solved) @ u.mH, a)


def schur(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Unitary u and upper triangular t with a = u t u*."""
    u, t = _Schur.apply(a)
    return u, t


def _or_nan(x: torch.Tensor, failed: torch.Tensor) -> torch.Tensor:
    return torch.where((failed != 0)[..., None, None], torch.nan, x)
