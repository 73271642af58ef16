"""Laplace's approximation in JAX; derivatives through the mode by the implicit function theorem."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from ..dataclass import dataclass
from . import laplace, roots
from .arguments_jax import Arguments, fixed, real_type
from .densely_jax import densely
from .forwards import Loops, forwards
from .laplace import Model, Search

Loop = tuple[Any, Any, Any, Any, Any]  # a, theta, the log posterior, how many steps were made, whether it is done


@dataclass(frozen=True)
class _Likelihood:
    """The log likelihood as a function of the latent values and of the arrays among its arguments."""

    value: Callable[[Array, Any], Array]
    size: int
    block: int

    def slope(self, theta: Array, leaves: object) -> Array:
        out: Array = jax.grad(self.value)(theta, leaves)
        return out

    def curvature(self, theta: Array, leaves: object) -> Array:
        """The negative Hessian in theta."""

        def along(v: Array) -> Array:
            out: Array = -jax.jvp(lambda t: self.slope(t, leaves), (theta,), (v,))[1]
            return out

        products = jax.vmap(along)(jnp.asarray(laplace.probes(self.size, self.block), theta.dtype))
        rows, columns = laplace.places(self.size, self.block)
        return jnp.zeros((self.size, self.size), theta.dtype).at[rows, columns].set(products)


def matrix(f: Callable[..., Array], arguments: tuple[object, ...], beside: object) -> Array:
    """The covariance matrix f(*arguments)."""
    return f(*arguments)


def _prepared(model: Model) -> tuple[_Likelihood, Array, tuple[Array, ...]]:
    """The likelihood, the covariance matrix and the arrays that the likelihood depends on."""
    dtype = real_type(model.arguments, model.covariance)
    split = Arguments(model.arguments)
    covariance = jnp.asarray(model.covariance, dtype)

    def value(theta: Array, leaves: Any) -> Array:
        return jnp.asarray(model.likelihood(theta, *split.restore(leaves)), dtype)

    likelihood = _in_reverse(value, covariance[0], split.leaves)
    return _Likelihood(likelihood, len(covariance), model.block), covariance, split.leaves


def _in_reverse(value: Callable[[Array, Any], Array], theta: Array, leaves: tuple[Array, ...]) -> Any:
    """A function that can be derived in reverse, and three times: with loops that conditions end it could not be."""
    loops = Loops()
    forward = forwards(loops)(value)
    jax.eval_shape(forward, theta, leaves)
    if not loops.found:
        return value
    dense = densely(lambda theta, *leaves: forward(theta, leaves))
    return lambda theta, leaves: dense(theta, *leaves)


def _mode(likelihood: _Likelihood, covariance: Array, leaves: tuple[Array, ...], search: Search) -> Array:
    """The latent values of the largest posterior density; NaN where they are not found."""

    @jax.custom_jvp
    def mode(start: Array, covariance: Array, *leaves: object) -> Array:
        return _climb(likelihood, covariance, leaves, replace(search, start=start))

    @mode.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        start, covariance, *leaves = primals
        theta = mode(start, covariance, *leaves)
        image = lambda k, *leaves: k @ likelihood.slope(theta, leaves)
        _, change = jax.jvp(image, tuple(primals[1:]), tuple(tangents[1:]))
        return theta, jnp.linalg.solve(_factor(likelihood, covariance, theta, leaves), change)

    start = None if search.start is None else fixed(search.start).astype(covariance.dtype)
    return mode(start, covariance, *leaves)


def _factor(likelihood: _Likelihood, covariance: Array, theta: Array, leaves: object) -> Array:
    """I + K W."""
    return jnp.eye(likelihood.size, dtype=theta.dtype) + covariance @ likelihood.curvature(theta, leaves)


def _climb(likelihood: _Likelihood, covariance: Array, leaves: object, search: Search) -> Array:
    """Newton's method on the log posterior, in the variable a with theta = K a."""
    shares, one = 0.5 ** jnp.arange(search.halvings + 1), jnp.eye(likelihood.size, dtype=covariance.dtype)

    def height(a: Array) -> Array:
        theta = covariance @ a
        return likelihood.value(theta, leaves) - theta @ a / 2

    def step(loop: Loop) -> Loop:
        a, theta, before, count, _ = loop
        w = likelihood.curvature(theta, leaves)
        drive = w @ theta + likelihood.slope(theta, leaves)
        change = jnp.linalg.solve(one + w @ covariance, drive) - a
        heights = jax.vmap(lambda share: height(a + share * change))(shares)
        at = jnp.argmax(heights >= before) if search.halvings else 0
        a = a + shares[at] * change
        theta = covariance @ a
        left = roots.norm(jnp, likelihood.slope(theta, leaves) - a)
        done = (left <= search.tolerance) | roots.lost(jnp, shares[at] * change, a)
        return a, theta, heights[at], count + 1, done

    theta = jnp.zeros(likelihood.size, covariance.dtype) if search.start is None else search.start
    a = theta if search.start is None else jnp.linalg.solve(covariance, theta)
    go_on = lambda loop: ~loop[4] & (loop[3] < search.most_steps)
    _, theta, top, _, done = jax.lax.while_loop(go_on, step, (a, theta, height(a), 0, False))
    return jnp.where(done & jnp.isfinite(top), theta, jnp.nan)


def marginal(model: Model, search: Search) -> Array:
    """The log of the approximate marginal likelihood; NaN where the mode is not found."""
    likelihood, covariance, leaves = _prepared(model)
    theta = _mode(likelihood, covariance, leaves, search)
    found = jnp.isfinite(theta).all()
    theta = jnp.where(found, theta, 0.0)  # likelihoods may refuse NaN
    a = likelihood.slope(theta, leaves)
    sign, log_det = jnp.linalg.slogdet(_factor(likelihood, covariance, theta, leaves))
    height = likelihood.value(theta, leaves) - a @ covariance @ a / 2  # theta' K^-1 theta / 2
    return jnp.where(found & (sign > 0), height - log_det / 2, jnp.nan)


def latent(model: Model, search: Search) -> tuple[Array, Array]:
    """Mean and covariance matrix of the approximate law of the latent values."""
    likelihood, covariance, leaves = _prepared(model)
    theta = _mode(likelihood, covariance, leaves, search)
    spread = jnp.linalg.solve(_factor(likelihood, covariance, theta, leaves), covariance)
    return theta, (spread + spread.T) / 2
