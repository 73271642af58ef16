"""Calls of library functions with the arrays of NumPy, JAX and PyTorch, for the tests beside this file."""
from __future__ import annotations

import contextlib

import numpy as np

from stanlib import registry

LIBRARIES = ("numpy", "jax", "torch")
DIFFERENTIABLE = ("jax", "torch")


def as_array(x):
    """Nested lists become NumPy arrays, everything else stays."""
    return np.array(x) if isinstance(x, list) else x


@contextlib.contextmanager
def double(library):
    """Double precision for the time of a test."""
    if library == "jax":
        import jax

        with jax.enable_x64(True):
            yield
    else:
        yield


def lift(library, x):
    """An array of real or complex numbers as the library's own; integers stay NumPy's."""
    x = as_array(x)
    if library == "numpy" or not isinstance(x, (float, complex, np.ndarray)) or np.asarray(x).dtype.kind in "iub":
        return x
    if library == "jax":
        import jax.numpy as jnp

        return jnp.asarray(x)
    import torch

    return torch.as_tensor(x, dtype=torch.complex128 if np.iscomplexobj(x) else torch.float64)


def plain(x):
    """A result as NumPy arrays."""
    if isinstance(x, tuple):
        return tuple(map(plain, x))
    return x.detach().resolve_conj().numpy() if hasattr(x, "detach") else np.asarray(x)


def call(library, symbol, *args):
    """The value of a record at arguments of one library, as NumPy arrays."""
    with double(library):
        return plain(registry.by_symbol(symbol)(*(lift(library, a) for a in args)))


def gradient(library, f, x):
    """The gradient at x of the real function f of one array, under jit in JAX."""
    x = as_array(x)
    with double(library):
        if library == "jax":
            import jax

            return np.asarray(jax.jit(jax.grad(f))(x))
        import torch

        x = torch.as_tensor(x, dtype=torch.float64).requires_grad_()
        return torch.autograd.grad(f(x), x)[0].numpy()


def numeric_gradient(f, x, step=1e-6):
    """The gradient at x of a real NumPy function by central differences."""
    x = np.array(x, float)
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        out[i] = (f(up) - f(down)) / (2 * step)
    return out
