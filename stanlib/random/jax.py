"""Random numbers from a JAX key."""
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..arrays import named
from ..arrays.base import Array as Value  # of NumPy or JAX
from .base import Random, Shape, propose_angle

xp = named("jax")


class JaxRandom(Random):
    """Draws from a key; each call folds its number into the key, so that a traced program keeps no state.

    Under `vmap` or in the body of a `scan` the key has to differ per lane or iteration: use `split()` before and
    `at(index)` inside, or build one source per key.
    """

    LIBRARY = "jax"

    def __init__(self, key: Array):
        self.key = key
        self.calls = 0

    def _next(self) -> Array:
        self.calls += 1
        return jax.random.fold_in(self.key, self.calls)

    def split(self) -> JaxRandom:
        return type(self)(self._next())

    def at(self, index: Value) -> JaxRandom:
        return JaxRandom(jax.random.fold_in(self.key, jnp.asarray(index)))

    def _given(self, draws: Array) -> Value:
        """The draws as they are handed out."""
        return draws

    def uniform(self, shape: Shape) -> Value:
        return self._given(jax.random.uniform(self._next(), shape))

    def normal(self, shape: Shape) -> Value:
        return self._given(jax.random.normal(self._next(), shape))

    def exponential(self, shape: Shape) -> Value:
        return self._given(jax.random.exponential(self._next(), shape))

    def gamma(self, alpha: Value, shape: Shape | None = None) -> Value:
        return self._given(jax.random.gamma(self._next(), _real(alpha), shape))

    def beta(self, a: Value, b: Value, shape: Shape | None = None) -> Value:
        return self._given(jax.random.beta(self._next(), _real(a), _real(b), shape))

    def poisson(self, rate: Value, shape: Shape | None = None) -> Value:
        real = _real(rate)
        wide = jnp.broadcast_to(real, real.shape if shape is None else shape)
        return self._given(_poisson(self._next(), wide).astype(int))

    def binomial(self, n: Value, p: Value, shape: Shape | None = None) -> Value:
        return self._given(jax.random.binomial(self._next(), _real(n), _real(p), shape).astype(int))

    def von_mises(self, kappa: Value, shape: Shape | None = None) -> Value:
        real = _real(kappa)
        return self._given(_von_mises(self._next(), jnp.broadcast_to(real, real.shape if shape is None else shape)))

    def hypergeometric(self, draws: Value, good: Value, bad: Value) -> Value:
        return self._given(_hypergeometric(self.uniform(()), _real(draws), _real(good), _real(bad)).astype(int))


class ConcreteRandom(JaxRandom):
    """Random numbers from a key that is known, as NumPy's arrays: the same numbers as under a trace."""

    LIBRARY = "numpy"

    def at(self, index: Value) -> JaxRandom:
        return random_of(super().at(index).key)

    def _given(self, draws: Array) -> Value:
        return np.asarray(draws)


def random_of(key: Array) -> JaxRandom:
    """The source of a key: of NumPy's arrays, unless the key is traced."""
    return JaxRandom(key) if isinstance(key, jax.core.Tracer) else ConcreteRandom(key)


def _real(x: Value) -> Array:
    return jnp.asarray(x, jnp.result_type(x, float))


@jax.jit
def _von_mises(key: Array, kappa: Array) -> Array:
    """Rejection until every component is accepted; NaN for a kappa that is none."""

    def step(state: Any) -> Any:
        key, done, out = state
        key, sub = jax.random.split(key)
        accepted, angle = propose_angle(xp, kappa, jax.random.uniform(sub, (3, *kappa.shape), kappa.dtype))
        return key, done | accepted, jnp.where(done, out, angle)

    start = key, ~(kappa >= 0), jnp.where(kappa >= 0, 0.0, jnp.nan).astype(kappa.dtype)
    return jax.lax.while_loop(lambda state: ~jnp.all(state[1]), step, start)[2]


@jax.jit
def _poisson(key: Array, rate: Array) -> Array:
    """Counts as reals, in the precision of the rate, where JAX's own always have single precision."""
    least, most = jax.random.split(key)
    small = rate < 10
    few = _inverted_poisson(least, jnp.where(small, rate, 1.0))
    return jnp.where(small, few, _rejected_poisson(most, jnp.where(small, 10.0, rate)))


def _inverted_poisson(key: Array, rate: Array) -> Array:
    """Inversion: add up the probabilities until they pass a uniform number, or one is too small to add."""
    u = jax.random.uniform(key, rate.shape, rate.dtype)

    def step(state: Any) -> Any:
        k, p, total, _ = state
        following = p * rate / (k + 1)
        further = (total <= u) & (total + following > total)
        return jnp.where(further, k + 1, k), jnp.where(further, following, p), total + further * following, further

    p = jnp.exp(-rate)
    start = jnp.zeros_like(rate), p, p, jnp.full(rate.shape, True)
    return jax.lax.while_loop(lambda state: jnp.any(state[3]), step, start)[0]


def _rejected_poisson(key: Array, rate: Array) -> Array:
    """Transformed rejection with squeeze, for rates of at least 10 (Hörmann, 1993, algorithm PTRS)."""
    b = 0.931 + 2.53 * jnp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha, squeeze = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)

    def step(state: Any) -> Any:
        key, done, out = state
        key, sub = jax.random.split(key)
        u, v = jax.random.uniform(sub, (2, *rate.shape), rate.dtype)
        u, v = u - 0.5, 1 - v
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + rate + 0.43)
        log_p = k * jnp.log(rate) - rate - jax.lax.lgamma(k + 1)
        outside = (k < 0) | ((edge < 0.013) & (v > edge))
        kept = jnp.log(v * inverse_alpha / (a / (edge * edge) + b)) <= log_p
        accepted = ((edge >= 0.07) & (v <= squeeze)) | (~outside & kept)
        return key, done | accepted, jnp.where(done, out, k)

    start = key, ~(rate < jnp.inf), jnp.full_like(rate, -1.0)
    return jax.lax.while_loop(lambda state: ~jnp.all(state[1]), step, start)[2]


@jax.jit
def _lchoose(n: Array, k: Array) -> Array:
    return jax.lax.lgamma(n + 1) - jax.lax.lgamma(k + 1) - jax.lax.lgamma(n - k + 1)


def _hypergeometric(u: Value, draws: Array, good: Array, bad: Array) -> Array:
    """Inversion: add up the probabilities, each got from the one before, until they pass u."""
    least, most = jnp.maximum(0.0, draws - bad), jnp.minimum(draws, good)
    first = _lchoose(good, least) + _lchoose(bad, draws - least) - _lchoose(good + bad, draws)

    def step(state: Any) -> Any:
        k, log_p, total = state
        ratio = (good - k) * (draws - k) / ((k + 1) * (bad - draws + k + 1))
        log_p = log_p + jnp.log(ratio)
        return k + 1, log_p, total + jnp.exp(log_p)

    start = least, first, jnp.exp(first)
    return jax.lax.while_loop(lambda state: (state[2] <= u) & (state[0] < most), step, start)[0]
