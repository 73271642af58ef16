"""A path of L-BFGS from a starting point, and draws from the best normal approximation along it.

Source: Zhang, Carpenter, Gelman and Vehtari (2022), "Pathfinder: Parallel quasi-Newton variational inference", Journal
of Machine Learning Research 23, whose names are kept: S are the last steps, Z the changes of the gradient over them.
The line search is Optax's; when to stop is CmdStan's.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stanlib.errors import MissingLibraryError
from stanlib.random.streams import begun, fold, normals

from ..programs import Program
from ..traced import Called
from .path_limits import Limits

if TYPE_CHECKING:
    from .posterior import Posterior

_LINE_SEARCH = 50  # evaluations for a step, at most
_CURVED = 1e-12  # what a step's change of the gradient must have along it, relatively, to tell of the curvature
_EPS = float(np.finfo(float).eps)


class Normal(NamedTuple):
    """A normal approximation at a point: of its covariance the diagonal, and the steps that correct it."""

    point: Any
    gradient: Any  # of minus the log density
    diagonal: Any
    S: Any
    Z: Any


def compiled(posterior: Posterior, num_draws: int, num_elbo_draws: int, limits: Limits) -> Program:
    """The program that finds the path from a start and draws from its best approximation.

    Its arguments are two random keys and the start, its results the draws, and their log densities under the posterior
    and under the approximation.
    """
    density = Called(posterior.log_density, posterior.blank)

    def path(keys: Any, start: Any) -> tuple[Any, Any, Any]:
        best = Search(density, begun(keys[0]), num_elbo_draws, limits).best(start)
        points, log_q = _drawn(best, begun(keys[1]), num_draws)
        return points, jax.vmap(density)(points), log_q

    return Program(path, np.zeros((2, 2), np.uint32), posterior.blank, hasty=True, calls=density)


class Search:
    """Quasi-Newton steps along one path, and the approximations at their points."""

    def __init__(self, log_density: Any, state: Any, num_draws: int, limits: Limits):
        try:
            import optax
        except ImportError:
            raise MissingLibraryError("Pathfinder needs Optax: pip install 'stanimport[inference]'") from None
        self.log_density, self.state, self.num_draws, self.limits = log_density, state, num_draws, limits
        self.directions = optax.scale_by_lbfgs(limits.history, scale_init_precond=limits.init_alpha is None)
        self.search = optax.scale_by_zoom_linesearch(_LINE_SEARCH)
        self.evaluated = jax.value_and_grad(lambda x: -log_density(x))

    def _objective(self, x: Array) -> Array:
        value = -self.log_density(x)
        return jnp.where(jnp.isnan(value), jnp.inf, value)

    def _bound(self, law: Normal, number: object) -> Array:
        """The evidence lower bound of an approximation."""
        points, log_q = _drawn(law, fold(self.state, number), self.num_draws)
        found = (jax.lax.map(self.log_density, points) - log_q).mean()
        return jnp.where(jnp.isfinite(found), found, -jnp.inf)

    def _proceed(self, carry: Any) -> Any:
        """One step, and whether the approximation at its end is the best so far."""
        number, law, value, (direction, slopes), best, largest, _ = carry
        update, state = self.search.update(-direction, self.search.init(law.point), law.point, value=value,
                                           grad=law.gradient, value_fn=self._objective)  # fmt: skip
        point = law.point + update
        new_value, gradient = self.evaluated(point)
        valid = jnp.isfinite(new_value) & jnp.isfinite(gradient).all() & (new_value <= value)
        new = _moved(law, point, gradient)
        direction, slopes = self.directions.update(gradient, slopes, point)
        over = ~valid | _is_small(new_value - value, new_value, update, gradient, direction, self.limits)
        here = jnp.where(valid, self._bound(new, number + 1), -jnp.inf)
        best = jax.tree.map(lambda a, b: jnp.where(here > largest, a, b), new, best)
        return number + 1, new, new_value, (direction, slopes), best, jnp.maximum(largest, here), over

    def best(self, start: Any) -> Normal:
        """Of the approximations along the path, the start's among them, that with the largest lower bound."""
        value, gradient = self.evaluated(start)
        nothing = jnp.zeros((self.limits.history, start.size))
        law = Normal(jnp.asarray(start), gradient, jnp.ones_like(gradient), nothing, nothing)
        direction, slopes = self.directions.update(gradient, self.directions.init(start), start)
        if self.limits.init_alpha is not None:
            direction = self.limits.init_alpha * direction
        arrived = jnp.linalg.norm(gradient) < self.limits.tol_grad
        begun = jnp.int64(0), law, value, (direction, slopes), law, self._bound(law, 0), arrived
        done = jax.lax.while_loop(lambda c: (c[0] < self.limits.iterations) & ~c[-1], self._proceed, begun)
        best: Normal = done[4]
        return best


def _is_small(change: Any, value: Any, step: Any, gradient: Array, direction: Array, limits: Limits) -> object:
    """Whether a path is at its end: changes of the objective, the step, or what the next step promises are small."""
    absolute = (jnp.abs(change) < limits.tol_obj) | (jnp.linalg.norm(gradient) < limits.tol_grad)
    absolute = absolute | (jnp.linalg.norm(step) < limits.tol_param)
    scale = jnp.maximum(jnp.maximum(jnp.abs(value), jnp.abs(value - change)), 1.0)
    promised = direction @ gradient / jnp.maximum(jnp.abs(value), 1.0)
    relative = (jnp.abs(change) / scale < limits.tol_rel_obj * _EPS) | (promised < limits.tol_rel_grad * _EPS)
    return absolute | relative


def _moved(law: Normal, point: Array, gradient: Array) -> Normal:
    """The approximation at the next point: its diagonal fits the latest step, if that tells of a positive curvature."""
    s, z, diagonal = point - law.point, gradient - law.gradient, law.diagonal
    along = s @ z
    curved = along > _CURVED * (z @ z)
    b, c = jnp.where(curved, along, 1.0), jnp.where(curved, s @ (s / diagonal), 1.0)
    a = z @ (diagonal * z)
    inverse = a / (b * diagonal) + z**2 / b - a * s**2 / (b * c * diagonal**2)
    kept = jax.tree.map(lambda old, new: jnp.where(curved, jnp.concatenate([old[1:], new[None]]), old),
                        (law.S, law.Z), (s, z))  # fmt: skip
    return Normal(point, gradient, jnp.where(curved, 1 / inverse, diagonal), *kept)


def _drawn(law: Normal, state: Any, count: int) -> tuple[Any, Any]:
    """Draws from an approximation, (count, size), and their log densities.

    The covariance is diag(d) + B G B' with B = (diag(d) Z', S'), and the mean a Newton step by it away from the point.
    """
    d, S, Z = law.diagonal, law.S, law.Z
    products = S @ Z.T
    inverse = -jnp.linalg.inv(jnp.triu(products) + jnp.diag(jnp.where(jnp.diagonal(products) == 0, 1.0, 0.0)))
    middle = inverse.T @ (Z @ (d[:, None] * Z.T) + jnp.diag(jnp.diagonal(products))) @ inverse
    G = jnp.block([[jnp.zeros_like(inverse), inverse], [inverse.T, middle]])
    B = jnp.concatenate([d * Z, S]).T
    root = jnp.sqrt(d)
    Q, R = jnp.linalg.qr(B / root[:, None])
    L = jnp.linalg.cholesky(jnp.eye(len(R)) + R @ G @ R.T)
    mean = law.point - d * law.gradient - B @ (G @ (B.T @ law.gradient))
    u = normals(state, (count, d.size), d.dtype)
    points = mean + root * (u + (u @ Q) @ (L - jnp.eye(len(L))).T @ Q.T)
    scale = jnp.log(d).sum() / 2 + jnp.log(jnp.diagonal(L)).sum()
    return points, -0.5 * (u**2).sum(axis=1) - scale - d.size / 2 * math.log(2 * math.pi)
