"""Roots of systems of equations in Python, on NumPy arrays and PyTorch tensors.

PyTorch records Newton steps at the root, which have its derivatives (`arrays/implicit.py`).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array
from ..arrays.implicit import differentiable
from ..errors import StanDomainError
from . import roots
from .calculus_host import Lift, jacobian, plain, precision, records, without_gradient
from .roots import Limits

System = Callable[[Any], Any]


def solve(
    f: Callable[..., Any], guess: Any, arguments: tuple[Any, ...], method: str, limits: Limits
) -> Any:
    """The y with f(y, *arguments) = 0; where it is not found, NaN on PyTorch.

    Raises:
        StanDomainError: the same on NumPy.
    """
    xp = namespace((guess, arguments))
    lift = Lift(xp, guess, arguments)
    arguments = lift.reals(arguments)

    def recorded(y: Array) -> Array:
        return lift(f(y, *arguments))

    def residual(y: Array) -> Any:
        with without_gradient(xp):
            return plain(recorded(lift(y)))

    derivative: Callable[[Any], Any] = lambda y: plain(jacobian(xp, recorded, lift(y)))
    with np.errstate(all="ignore"):
        y, left = METHODS[method](residual, derivative, plain(lift(guess)), limits.most_steps)
    if not roots.norm(np, left) <= limits.at_precision(precision(y)).residual:
        if xp.LIBRARY == "numpy":
            raise StanDomainError(f"no root was found in {limits.most_steps} steps; the last residual is {left}")
        return lift(y) * xp.nan
    if not records(xp, arguments):
        return lift(y)
    inverse = lift(np.linalg.inv(derivative(y)))
    return differentiable(lambda y: y - inverse @ recorded(y), lift(y))


def newton(f: System, derivative: System, y: Array, most_steps: int) -> tuple[Any, Any]:
    """Newton's method with a line search: the last iterate and its residual."""
    left = f(y)
    for _ in range(most_steps):
        change = -_solve(derivative(y), left)
        for share in roots.LAMBDAS:
            tried = f(y + share * change)
            if roots.norm(np, tried) < (1 - roots.DECREASE * share) * roots.norm(np, left):
                break
        else:
            break
        y, left = y + share * change, tried
        if roots.lost(np, change, y):
            break
    return y, left


def powell(f: System, derivative: System, y: Array, most_steps: int) -> tuple[Any, Any]:
    """Powell's hybrid method: the last iterate and its residual."""
    left = f(y)
    radius = roots.FIRST_RADIUS * (roots.norm(np, y) or 1.0)
    for _ in range(most_steps):
        matrix = derivative(y)
        change = roots.dogleg(np, matrix, -_solve(matrix, left), left, radius)
        tried = f(y + change)
        before, after = roots.norm(np, left), roots.norm(np, tried)
        better = after < before
        ratio = (before - after) / (before - roots.norm(np, left + matrix @ change)) if better else 0.0
        radius = roots.next_radius(np, radius, change, ratio)
        if better:
            y, left = y + change, tried
        if roots.lost(np, change, y):
            break
    return y, left


def _solve(matrix: Array, right: Array) -> Array:
    """NaN where the matrix is singular."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan)


METHODS: dict[str, Callable[[System, System, Any, int], tuple[Any, Any]]] = {"newton": newton, "powell": powell}
