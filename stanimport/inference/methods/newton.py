"""Newton's method: damped steps while they gain much, then halved ones, as CmdStan's, until one gains next to nothing.

Far from a mode a step that is halved as a whole gains little: a few nearly flat directions decide how far it may go in
all others. Damping shortens it in those alone. Near a mode, and at kinks, halved steps go on where damped ones don't.

Sources: CmdStan Guide, "Optimization", "Newton optimizer"; Nocedal and Wright (2006), "Numerical Optimization", section
3.4, for directions in which the function is not convex, which are mirrored; Nielsen (1999), "Damping Parameter in
Marquardt's Method", IMM-REP-1999-05, for when the damping grows and falls.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from scipy.optimize import OptimizeResult

from stanlib.dataclass import dataclass

if TYPE_CHECKING:
    from ..density.posterior import Posterior
    from ..programs import Program

LEAST_GAIN = 1e-8
LEAST_STEP = 1e-50
NEAR = 1e-3  # where a damped step gains no more, a mode or a kink is near
_DAMPING = 1e-8  # at the start: steps of quadratic functions are exact
_MOST_DAMPING = 1e30

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
    at, damping = _Point(start, *objective(start)), _Damping()
    for count in range(1, most + 1):
        matrix = hessian(at.point)
        if not np.all(np.isfinite(matrix)):
            return _result(at, count, False, "the Hessian is not finite")
        before, curved = at, _Curved.of(matrix, at.gradient)
        is_damped = damping.gains
        at = damping.stepped(objective, at, curved) if is_damped else _stepped(objective, at, curved.step())
        note(OptimizeResult(x=at.point, fun=at.value))
        if not is_damped and before.value - at.value <= LEAST_GAIN:
            return _result(at, count, True, "no step gains more")
    return _result(at, most, False, "too many iterations")


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


@dataclass(frozen=True)
class _Point:
    """A point with the value and the gradient there."""

    point: np.ndarray
    value: float
    gradient: np.ndarray


@dataclass(frozen=True)
class _Curved:
    """The quadratic function at a point, with every eigenvalue of its matrix taken as positive.

    Attributes:
        sizes: of the eigenvalues, at least what rounding leaves of the largest one.
        vectors: the eigenvectors, in columns.
        slopes: the gradient along them.
    """

    sizes: np.ndarray
    vectors: np.ndarray
    slopes: np.ndarray

    @classmethod
    def of(cls, matrix: np.ndarray, gradient: np.ndarray) -> _Curved:
        values, vectors = scipy.linalg.eigh(matrix)
        sizes = np.abs(values)
        floor = np.finfo(float).eps * max(float(sizes.max()), np.finfo(float).tiny)
        return cls(np.maximum(sizes, floor), vectors, vectors.T @ gradient)

    def step(self, damping: float = 0.0) -> np.ndarray:
        """To the minimum, shortened where the function is flatter than the damping."""
        return np.asarray(-self.vectors @ (self.slopes / (self.sizes + damping)))

    def promised(self, damping: float) -> float:
        """How much smaller the quadratic function is after such a step."""
        along = self.slopes / (self.sizes + damping)
        return float(self.slopes @ along - self.sizes @ along**2 / 2)


class _Damping:
    """How much steps are damped: more where one gains less than it promises, less where it gains what it promises.

    Attributes:
        gains: whether the last step gained enough to go on with damped ones.
    """

    def __init__(self) -> None:
        self.size, self.gains = _DAMPING, True

    def stepped(self, objective: Objective, at: _Point, curved: _Curved) -> _Point:
        """The point after a step that gains; the same point if none does."""
        while self.size < _MOST_DAMPING:
            point = at.point + curved.step(self.size)
            there, promised = _Point(point, *objective(point)), curved.promised(self.size)
            share = (at.value - there.value) / promised if promised > 0 else 0.0
            if share > 1e-4:
                self.size *= 2 if share < 0.25 else 1 / 8 if share > 0.75 else 1
                self.gains = at.value - there.value > NEAR
                return there
            self.size = max(4 * self.size, _DAMPING)
        self.gains = False
        return at


def _stepped(objective: Objective, at: _Point, direction: np.ndarray) -> _Point:
    """The point after a step, halved until the function is not larger there; the same point if it always is."""
    step = 1.0
    while step >= LEAST_STEP:
        there = at.point + step * direction
        found, slope = objective(there)
        if found <= at.value:
            return _Point(there, found, slope)
        step /= 2
    return at


def _result(at: _Point, count: int, success: bool, message: str) -> OptimizeResult:
    return OptimizeResult(x=at.point, fun=at.value, jac=at.gradient, nit=count, success=success, message=message)
