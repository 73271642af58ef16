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


def _from_numpy(f: Callable[..., Any], a: torch.Tensor) -> list[torch.Tensor]:
    return [torch.as_tensor(x, device=a.device) for x in f(a.detach().cpu().numpy())]


def _change(a: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Zero, with the derivative of `a`: what first-order perturbation formulas turn into derivatives."""
    return (a - a.detach()).to(like.dtype)


def eig(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eigenvalues in Stan's order, and eigenvectors of length 1.

    Golub and Van Loan, section 7.2.2; an eigenvector changes at a right angle to itself.
    """
    values, vectors = _from_numpy(linalg_numpy.eig, a)
    if not a.requires_grad:
        return values, vectors
    change = torch.linalg.solve(vectors, _change(a, vectors) @ vectors)
    apart = ~torch.eye(len(values), dtype=torch.bool, device=a.device)
    gaps = torch.where(apart, values[None, :] - values[:, None], 1)
    turn = vectors @ torch.where(apart, change / gaps, 0)
    turn = turn - vectors * (vectors.conj() * turn).sum(0)
    return values + change.diagonal(), vectors + turn


def schur(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Unitary u and upper triangular t with a = u t u*.

    With du = u x and x skew-Hermitian, u* da u + t x - x t stays triangular: linear equations for x.
    """
    u, t = _from_numpy(linalg_numpy.schur, a)
    if not a.requires_grad:
        return u, t
    n = len(t)
    eye = torch.eye(n, dtype=t.dtype, device=a.device)
    change = u.mH @ _change(a, u) @ u
    rows, cols = torch.tril_indices(n, n, -1)
    at = rows * n + cols
    equations = (torch.kron(t, eye) - torch.kron(eye, t.mT.contiguous()))[at[:, None], at]
    solution = torch.linalg.solve(equations, change[rows, cols])
    below = torch.zeros_like(t).index_put((rows, cols), -solution)
    x = below - below.mH
    return u + u @ x, t + torch.triu(change + t @ x - x @ t)


def _or_nan(x: torch.Tensor, failed: torch.Tensor) -> torch.Tensor:
    return torch.where((failed != 0)[..., None, None], torch.nan, x)
