"""The functions of host.py for JAX: calls back to the host, with derivative rules."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import host
from ..base import Array
from . import callbacks


def _call(f: Callable[..., object], *args: Array) -> Array:
    """The componentwise f of arrays of one shape, computed by NumPy."""
    like = jax.ShapeDtypeStruct(args[0].shape, args[0].dtype)
    out: Array = callbacks.call(lambda *xs: [f(*xs)], [like], *args, vmap_method="broadcast_all")[0]
    return out


def _cylinder(name: str) -> Callable[..., Any]:
    """A cylinder function of orders and x that broadcast, computed on the host, with its derivative in x alone."""
    f, lower, higher = host.CYLINDER[name]

    @jax.custom_jvp
    def same_shape(order: Array, x: Array) -> Array:
        return _call(f, order, x)

    @same_shape.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        order, x = primals
        slope = lower * same_shape(order - 1, x) + higher * same_shape(order + 1, x)
        return same_shape(order, x), slope * tangents[1]

    def call(order: Any, x: Any) -> Any:
        dtype = jnp.result_type(x, float)
        return same_shape(*(v.astype(dtype) for v in jnp.broadcast_arrays(order, x)))

    return call


jv, yv, kv = (_cylinder(name) for name in ("jv", "yv", "kv"))


def _each(f: Callable[..., object], outputs: str) -> Callable[..., Any]:
    return np.vectorize(f, signature=f"(p),(q),()->{outputs}")


@jax.custom_jvp
def _hypergeometric(a: Array, b: Array, z: Array) -> Any:
    on_host, out = _each(host.hypergeometric, "()"), jax.ShapeDtypeStruct((), z.dtype)
    return callbacks.call(lambda *xs: [on_host(*xs)], [out], a, b, z, vmap_method="expand_dims")[0]


@_hypergeometric.defjvp
def _hypergeometric_jvp(primals: Any, tangents: Any) -> Any:
    return _hypergeometric(*primals), sum(jnp.sum(p * t) for p, t in zip(_partials(*primals), tangents))


@jax.custom_jvp
def _partials(*primals: Any) -> tuple[Any, ...]:
    shapes = tuple(jax.ShapeDtypeStruct(v.shape, v.dtype) for v in primals)
    on_host = _each(host.hypergeometric_partials, "(p),(q),()")
    return callbacks.call(on_host, shapes, *primals, vmap_method="expand_dims")


@_partials.defjvp
def _refused(primals: object, tangents: object) -> Any:
    raise host.no_second_derivatives()


def hypergeometric(a: Array, b: Array, z: Array) -> Any:
    dtype = functools.reduce(jnp.promote_types, (jnp.result_type(v, float) for v in (a, b, z)))
    return _hypergeometric(*(jnp.asarray(v, dtype) for v in (a, b, z)))
