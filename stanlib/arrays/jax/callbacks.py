"""Calls from compiled code to NumPy on the host.

JAX hands arrays over in the precision of the thread that the call happens to run in, which XLA chooses: numbers of 64
bits lose half of them where that thread has not been told of them. So they travel as pairs of 32 bits.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..base import Array

_WORD = np.uint32


def call(f: Callable[..., Any], results: Sequence[Any], *args: Array, vmap_method: str) -> tuple[Any, ...]:
    """f of NumPy arrays, evaluated on the host.

    Args:
        f: takes arrays as they are in `args`, batched as `vmap_method` says, and returns a sequence of arrays.
        results: shapes and dtypes of what it returns, each a jax.ShapeDtypeStruct.
        args: arrays of JAX.
        vmap_method: as of jax.pure_callback.
    """
    dtypes = [np.dtype(jnp.result_type(a)) for a in args]

    def on_host(*words: Any) -> tuple[object, ...]:
        made = f(*(_numbers(np.asarray(w), d) for w, d in zip(words, dtypes)))
        return tuple(_words(np.asarray(m, r.dtype)) for m, r in zip(made, results))

    shapes = [jax.ShapeDtypeStruct((*r.shape, *_pairs(r.dtype)), _WORD) for r in results]
    found = jax.pure_callback(on_host, shapes, *(_cut(a, d) for a, d in zip(args, dtypes)), vmap_method=vmap_method)
    return tuple(_joined(w, np.dtype(r.dtype)) for w, r in zip(found, results))


def _pairs(dtype: Any) -> tuple[int, ...]:
    """The axes into which a number is cut: real and imaginary part, words."""
    dtype = np.dtype(dtype)
    parts = (2,) if dtype.kind == "c" else ()
    return (*parts, 2) if dtype.itemsize // (2 if parts else 1) == 8 else parts


def _words(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x).reshape(-1).view(_WORD).reshape((*x.shape, *_pairs(x.dtype)))


def _numbers(words: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    shape = words.shape[: words.ndim - len(_pairs(dtype))]
    return np.ascontiguousarray(words).reshape(-1).view(dtype).reshape(shape)


def _cut(x: Array, dtype: np.dtype[Any]) -> Array:
    x = jnp.asarray(x, dtype)
    if dtype.kind == "c":
        x = jnp.stack([x.real, x.imag], axis=-1)
    return jax.lax.bitcast_convert_type(x, _WORD)


def _joined(words: Any, dtype: np.dtype[Any]) -> Array:
    if dtype.kind != "c":
        return jax.lax.bitcast_convert_type(words, dtype)
    parts = jax.lax.bitcast_convert_type(words, np.dtype(f"f{dtype.itemsize // 2}"))
    return jax.lax.complex(parts[..., 0], parts[..., 1])
