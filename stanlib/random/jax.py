"""Random numbers from a JAX key."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..arrays.base import Array as Value  # of NumPy or JAX
from . import jax_laws, streams
from .base import Random, Shape


class JaxRandom(Random):
    """Draws from a key, or from a state of `streams`; each call has a stream of its own, told by its number, so that a
    traced program keeps no state.

    Under `vmap` or in the body of a `scan` the key has to differ per lane or iteration: use `split()` before and
    `at(index)` inside, or build one source per key.
    """

    LIBRARY = "jax"

    def __init__(self, key: Array):
        self.state = streams.begun(key)
        self.calls = 0

    def _next(self) -> Array:
        self.calls += 1
        state: Array = streams.fold(self.state, self.calls)
        return state

    def split(self) -> JaxRandom:
        return type(self)(self._next())

    def at(self, index: Value) -> JaxRandom:
        return JaxRandom(streams.fold(self.state, index))

    def _given(self, draws: Array) -> Value:
        """The draws as they are handed out."""
        return draws

    def uniform(self, shape: Shape) -> Value:
        return self._given(streams.uniforms(self._next(), tuple(shape), jnp.result_type(float)))

    def normal(self, shape: Shape) -> Value:
        return self._given(streams.normals(self._next(), tuple(shape), jnp.result_type(float)))

    def exponential(self, shape: Shape) -> Value:
        return self._given(streams.exponentials(self._next(), tuple(shape), jnp.result_type(float)))

    def gamma(self, alpha: Value, shape: Shape | None = None) -> Value:
        return self._given(jax_laws.gamma(self._next(), *_wide(shape, alpha)))

    def beta(self, a: Value, b: Value, shape: Shape | None = None) -> Value:
        return self._given(jax_laws.beta(self._next(), *_wide(shape, a, b)))

    def poisson(self, rate: Value, shape: Shape | None = None) -> Value:
        return self._given(jax_laws.poisson(self._next(), *_wide(shape, rate)).astype(int))

    def binomial(self, n: Value, p: Value, shape: Shape | None = None) -> Value:
        return self._given(jax_laws.binomial(self._next(), *_wide(shape, n, p)).astype(int))

    def von_mises(self, kappa: Value, shape: Shape | None = None) -> Value:
        return self._given(jax_laws.von_mises(self._next(), *_wide(shape, kappa)))

    def hypergeometric(self, draws: Value, good: Value, bad: Value) -> Value:
        u = jnp.asarray(self.uniform(()))
        return self._given(jax_laws.hypergeometric(u, *_wide((), draws, good, bad)).astype(int))


class ConcreteRandom(JaxRandom):
    """Random numbers from a key that is known, as NumPy's arrays: the same numbers as under a trace."""

    LIBRARY = "numpy"

    def at(self, index: Value) -> JaxRandom:
        return random_of(super().at(index).state)

    def _given(self, draws: Array) -> Value:
        return np.asarray(draws)


def random_of(key: Array) -> JaxRandom:
    """The source of a key or state: of NumPy's arrays, unless it is traced."""
    return JaxRandom(key) if isinstance(key, jax.core.Tracer) else ConcreteRandom(key)


def _wide(shape: Shape | None, *parameters: Value) -> list[Value]:
    """Parameters as reals, as wide as there are, of one shape: the one given, or that of all of them.

    Known ones stay NumPy's: where loops run in Python, each operation of JAX takes longer than all of a draw.
    """
    dtype = jnp.result_type(float)
    reals = [jnp.asarray(p, dtype) if isinstance(p, Array) else np.asarray(p, dtype) for p in parameters]
    whole = jnp.broadcast_shapes(*(r.shape for r in reals)) if shape is None else tuple(shape)
    return [r if r.shape == whole else jnp.broadcast_to(r, whole) for r in reals]
