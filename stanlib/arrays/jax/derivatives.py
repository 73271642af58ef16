"""Functions of JAX's arrays whose derivatives are given with them: those of their code would cost more, or be NaN."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .. import uses_jax
from ..base import Array


def log_expit(x: Any) -> jax.Array:
    """By branches that are smooth, so that 0 needs no care."""
    left = x < 0
    return jnp.where(left, x, 0.0) - jnp.log1p(jnp.exp(jnp.where(left, x, -x)))


@jax.custom_jvp
def _hypot(x: Any, y: Any) -> Any:
    return jnp.hypot(x, y)


@_hypot.defjvp
def _hypot_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """By quotients, as the squares that JAX's own would take under- and overflow; NaN where both are 0, as in Stan."""
    out = _hypot(*primals)
    return out, sum(x / out * change for x, change in zip(primals, tangents))


def hypot(x: Any, y: Any) -> Any:
    return _hypot(*jnp.broadcast_arrays(x, y))


@jax.custom_jvp
def _tanh(x: jax.Array) -> jax.Array:
    return jnp.tanh(x)


@_tanh.defjvp
def _tanh_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    """By an exponential, as next to 1 and -1 the square of the value leaves no digits of what 1 lacks of it."""
    (x,), (change,) = primals, tangents
    u = jnp.exp(-2 * jnp.where(x < 0, -x, x))
    return _tanh(x), 4 * u / jnp.square(1 + u) * change


def tanh(x: jax.Array) -> jax.Array:
    return jnp.tanh(x) if jnp.iscomplexobj(x) else _tanh(x * 1.0)


def with_gradient(f: Callable[..., Any], gradients: Callable[..., Any]) -> Callable[..., Any]:
    """f, with a derivative that is linear in the tangents, so that JAX can reverse it."""
    traced = jax.custom_jvp(f)

    def jvp(primals: Any, tangents: Any) -> Any:
        value, partials = gradients(*primals)
        return value, sum(jnp.sum(p * t) for p, t in zip(partials, tangents))

    traced.defjvp(jvp)
    return lambda *args: traced(*args) if uses_jax(args) else f(*args)


@jax.custom_jvp
def without_nan(x: Any) -> Any:
    return jnp.where(jnp.isnan(x), -jnp.inf, x)


@without_nan.defjvp
def _without_nan_jvp(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
    """No mask: the reverse pass would have to keep one for every observation."""
    return without_nan(*primals), tangents[0]


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def log_of_sum(x: Array, axis: int) -> Any:
    return _log_and_weights(x, axis)[0]


@log_of_sum.defjvp
def _log_of_sum_jvp(axis: int, primals: Any, tangents: Any) -> Any:
    """The terms' shares in the sum, which are all that the reverse pass has to keep."""
    (x,), (change,) = primals, tangents
    if x.shape[axis] == 2:
        value, shares = _of_two(x, axis)
        (a, b), (of_a, of_b) = _both(change, axis), shares
        return value, of_a * a + of_b * b
    value, weights = _log_and_weights(x, axis)
    return value, jnp.sum(weights * change, axis=axis)


def _log_and_weights(x: Any, axis: int) -> tuple[Any, Any]:
    if x.shape[axis] == 2:
        return _of_two(x, axis)
    most = jax.lax.stop_gradient(jnp.max(x, axis=axis, keepdims=True))
    most = jnp.where(jnp.isfinite(most), most, 0.0)
    terms = jnp.exp(x - most)
    total = jnp.sum(terms, axis=axis, keepdims=True)
    value = jnp.squeeze(jnp.log(total) + most, axis)
    return value, terms / jnp.where(total > 0, total, 1.0)


@jax.custom_jvp
def log_of_terms(terms: object) -> Any:
    """The logarithm of a sum of exponentials, of arrays one by one: XLA computes all of it in one loop."""
    return _log_and_shares(terms)[0]


@log_of_terms.defjvp
def _log_of_terms_jvp(primals: Any, tangents: Any) -> Any:
    value, shares = _log_and_shares(primals[0])
    return value, sum(s * t for s, t in zip(shares, tangents[0]))


def _log_and_shares(terms: Any) -> tuple[object, list[object]]:
    most = functools.reduce(jnp.maximum, terms)
    most = jnp.where(jnp.isfinite(most), most, 0.0)
    parts = [jnp.exp(t - most) for t in terms]
    total = functools.reduce(jnp.add, parts)
    inverse = 1 / jnp.where(total > 0, total, 1.0)
    return jnp.log(total) + most, [p * inverse for p in parts]


def _of_two(x: Array, axis: int) -> tuple[Any, tuple[Any, Any]]:
    """The same of two terms, with one exponential; the shares one by one, of which XLA makes no array."""
    a, b = _both(x, axis)
    first, most = a >= b, jnp.maximum(a, b)
    ratio = jnp.where(a == b, 1.0, jnp.exp(jnp.where(first, b, a) - most))
    share = jnp.where(most > -jnp.inf, 1.0 / (1.0 + ratio), 0.0)
    other = ratio * share
    return jnp.log1p(ratio) + most, (jnp.where(first, share, other), jnp.where(first, other, share))


def _both(x: Any, axis: int) -> tuple[Any, Any]:
    first, second = (jax.lax.index_in_dim(x, i, axis, keepdims=False) for i in (0, 1))
    return first, second
