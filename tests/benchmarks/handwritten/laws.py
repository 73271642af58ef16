"""Log densities of elementary laws, elementwise."""
from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array
from jax.scipy.special import gammaln
from jax.typing import ArrayLike

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


def normal(y: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> Array:
    return -0.5 * jnp.square((y - mu) / sigma) - jnp.log(sigma) - HALF_LOG_TWO_PI


def lognormal(y: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> Array:
    return normal(jnp.log(y), mu, sigma) - jnp.log(y)


def cauchy(y: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> Array:
    return -jnp.log1p(jnp.square((y - mu) / sigma)) - jnp.log(sigma) - math.log(math.pi)


def exponential(y: ArrayLike, rate: float) -> Array:
    return math.log(rate) - rate * y


def gamma(y: ArrayLike, shape: float, rate: float) -> Array:
    return shape * math.log(rate) - math.lgamma(shape) + (shape - 1) * jnp.log(y) - rate * y


def inv_gamma(y: ArrayLike, shape: float, scale: float) -> Array:
    return shape * math.log(scale) - math.lgamma(shape) - (shape + 1) * jnp.log(y) - scale / y


def beta(y: ArrayLike, a: float, b: float) -> Array:
    constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return (a - 1) * jnp.log(y) + (b - 1) * jnp.log1p(-y) + constant


def log_sigmoid(x: Array) -> Array:
    """With one exponential and one logarithm: jax.nn.log_sigmoid takes 1.4 times as long."""
    return jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x)))


def dirichlet(y: Array, concentration: float) -> Array:
    """Symmetric, over the last axis."""
    k = y.shape[-1]
    return jnp.sum((concentration - 1) * jnp.log(y), -1) + gammaln(k * concentration) - k * gammaln(concentration)
