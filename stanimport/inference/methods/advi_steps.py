"""The steps of ADVI as JAX compiles them: see `advi.py`, which takes them, and its sources.

The parameters of the approximation are the rows of one array, so that steps and step sizes are the same for both
families of normal laws.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stanlib.random.streams import begun, fold, normals

from ..programs import Program
from ..traced import Called

if TYPE_CHECKING:
    from ..density.posterior import Posterior

_KEPT, _NEW = 0.9, 0.1  # of the squares of earlier gradients, and of the latest
_RETRIES = 10  # draws for each that a gradient needs, before a point counts as one without a gradient


class Family(NamedTuple):
    """Normal laws of a point: their points from standard normal noise, and their log scale."""

    point: Callable[[Any, Any], Any]
    log_scale: Callable[[Any], Any]


# Rows of the parameters: the mean, and the logarithms of the standard deviations or the Cholesky factor.
FAMILIES = {
    "meanfield": Family(lambda params, noise: params[0] + jnp.exp(params[1]) * noise, lambda params: params[1].sum()),
    "fullrank": Family(
        lambda params, noise: params[0] + jnp.tril(params[1:]) @ noise,
        lambda params: jnp.log(jnp.abs(jnp.diagonal(params[1:]))).sum(),
    ),
}


def compiled(posterior: Posterior, family: str, params: np.ndarray, what: str, count: int) -> Program:
    """The program that takes steps ("advance"), computes densities at draws ("densities"), or returns draws ("draws").

    Args:
        params: some of the law.
        count: of the draws for a gradient, for densities, or to return.
    """
    density, key = Called(posterior.log_density, posterior.blank), np.zeros(2, np.uint32)
    steps = Steps(density, FAMILIES[family], posterior.size, count)
    if what == "advance":
        state = params, params, key
        return Program(steps.advance, state, np.float64(1), np.int64(0), np.int64(1), calls=density)
    return Program(getattr(steps, what), params, key, calls=density)


class Steps:
    """Steps that increase the evidence lower bound of a normal law."""

    def __init__(self, density: Callable[[Any], Any], family: Family, size: int, count: int):
        self._density, self._family, self._size, self._count = density, family, size, count

    def advance(self, state: Any, eta: Any, first: Any, count: Any) -> tuple[Any, Any]:
        """The state after `count` steps, and how many of them had no gradient and moved nothing."""

        def body(i: Any, carry: Any) -> Any:
            (params, squares, key), failures = carry
            number = first + i + 1
            gradient, fine = self._gradient(params, fold(begun(key), number))
            squares = jnp.where(number == 1, gradient**2, _KEPT * squares + _NEW * gradient**2)
            params = params + eta / jnp.sqrt(number) * gradient / (1 + jnp.sqrt(squares))
            return (params, squares, key), failures + ~fine

        made: tuple[Any, Any] = jax.lax.fori_loop(0, count, body, (state, jnp.int64(0)))
        return made

    def _gradient(self, params: Any, stream: Any) -> tuple[Any, Any]:
        """The mean gradient of the bound at draws that have one, and whether there were enough of them; else zero."""
        wanted = self._count

        def term(params: Any, noise: Any) -> Any:
            return self._density(self._family.point(params, noise))

        def body(carry: Any) -> tuple[Any, Any, Any]:
            total, taken, left_out = carry
            noise = normals(fold(stream, taken + left_out), (self._size,), params.dtype)
            value, gradient = jax.value_and_grad(term)(params, noise)
            fine = jnp.isfinite(value) & jnp.isfinite(gradient).all()
            return total + jnp.where(fine, gradient, 0), taken + fine, left_out + ~fine

        none = jnp.zeros_like(params), jnp.int64(0), jnp.int64(0)
        total, taken, _ = jax.lax.while_loop(lambda c: (c[1] < wanted) & (c[2] < _RETRIES * wanted), body, none)
        fine = taken == wanted
        return jnp.where(fine, total / wanted + jax.grad(self._family.log_scale)(params), 0), fine

    def densities(self, params: object, key: jax.Array) -> tuple[Any, Any]:
        """The log density at draws from the law, (count,), and the law's log scale."""
        noise = normals(begun(key), (self._count, self._size), np.dtype(float))
        found = jax.lax.map(lambda one: self._density(self._family.point(params, one)), noise)
        return found, self._family.log_scale(params)

    def draws(self, params: object, key: jax.Array) -> tuple[Any, Any, Any]:
        """Points of the law, (count, size), with the log densities of posterior and law there."""
        noise = normals(begun(key), (self._count, self._size), np.dtype(float))
        points = jax.vmap(lambda one: self._family.point(params, one))(noise)
        log_q = -0.5 * (noise**2).sum(axis=1) - self._size / 2 * math.log(2 * math.pi)
        return points, jax.lax.map(self._density, points), log_q - self._family.log_scale(params)
