"""Newton's method with halved steps, as CmdStan's: it stops where a step gains next to nothing.

Source: CmdStan Guide, "Optimization", "Newton optimizer"; directions in which the function is not convex are mirrored,
as in Nocedal and Wright (2006), "Numerical Optimization", section 3.4.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import OptimizeResult

if TYPE_CHECKING:
    from ..density.posterior import Posterior
    from ..programs import Program

LEAST_GAIN = 1e-8
LEAST_STEP = 1e-50

_STEP = 1e-3
_STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))  # of a first derivative, of fourth order

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]


def minimum(
    objective: Objective, hessian: Callable[[np.ndarray], np.ndarray], start: np.ndarray, most: int,
    note: Callable[[OptimizeResult], None] = lambda _: None,
) -> OptimizeResult:  # fmt: skip
    """Where a function is smallest, near a start at which it is finite.

    Args:
        objective: the value, infinite where there is none, and the gradient.
        hessian: the matrix of second derivatives.
        most: how many steps to take at most.
        note: is told `x` and `fun` after each step.

    Returns:
        SciPy's result. It is a success where a step gains LEAST_GAIN or less, which at a kink may be far from where the
        gradient vanishes.
    """
    point, (value, gradient) = start, objective(start)
    for count in range(1, most + 1):
        matrix = hessian(point)
        if not np.all(np.isfinite(matrix)):
            return _result(point, value, gradient, count, False, "the Hessian is not finite")
        previous = value
        point, value, gradient = _stepped(objective, point, value, gradient, _direction(matrix, gradient))
        note(OptimizeResult(x=point, fun=value))
        if previous - value <= LEAST_GAIN:
            return _result(point, value, gradient, count, True, "no step gains more")
    return _result(point, value, gradient, most, False, "too many iterations")


def differences(gradient: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The matrix of second derivatives as differences of gradients, as CmdStan has it.

    At a kink within their reach a function is strongly curved by them, where its second derivatives say nothing of it:
    so the steps find modes that are at kinks, as those of laws with sharp peaks are.
    """
    import jax
    import jax.numpy as jnp

    moves, weights = map(np.array, zip(*_STENCIL))

    def hessian(point: Any) -> object:
        def column(unit: object) -> jax.Array:
            found = jax.vmap(lambda move: gradient(point + _STEP * move * unit))(moves)
            return jnp.tensordot(weights, found, 1) / _STEP

        matrix = jax.lax.map(column, jnp.eye(len(point)))
        return (matrix + matrix.T) / 2

    return hessian


def curvature(posterior: Posterior, jacobian: bool) -> Callable[[np.ndarray], Any]:
    """The program that computes such a matrix of a log density, (size, size), at a point, (size,)."""

    def make(posterior: Posterior) -> Program:
        import jax

        from ..programs import Program
        from ..traced import Called

        called = Called(partial(posterior.log_density, jacobian=jacobian), posterior.blank)
        return Program(differences(jax.grad(called)), posterior.blank, calls=called)

    return posterior.prepared(("curvature", jacobian), make)


def _direction(matrix: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The step to the minimum of the quadratic function, with every eigenvalue of its matrix taken as positive."""
    values, vectors = np.linalg.eigh(matrix)
    sizes = np.abs(values)
    floor = np.finfo(float).eps * max(float(sizes.max()), np.finfo(float).tiny)
    return np.asarray(-vectors @ ((vectors.T @ gradient) / np.maximum(sizes, floor)))


def _stepped(
    objective: Objective, point: np.ndarray, value: float, gradient: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """The point after a step, halved until the function is not larger there; the same point if it always is."""
    step = 1.0
    while step >= LEAST_STEP:
        there = point + step * direction
        found, slope = objective(there)
        if found <= value:
            return there, found, slope
        step /= 2
    return point, value, gradient


def _result(
    point: np.ndarray, value: float, gradient: np.ndarray, count: int, success: bool, message: str
) -> OptimizeResult:  # fmt: skip
    return OptimizeResult(x=point, fun=value, jac=gradient, nit=count, success=success, message=message)
