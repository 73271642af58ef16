"""What the engines that run in Python ask of NumPy and PyTorch besides the primitives: derivatives, and none."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace, Real


class Lift:
    """Turns values into real arrays of a namespace: on PyTorch of the type and device of the tensors among `beside`."""

    def __init__(self, xp: Namespace, *beside: object):
        self.xp = xp
        if xp.LIBRARY == "torch":
            import torch

            tensors = list(_tensors(beside))
            self.dtype = next((b.dtype for b in tensors if b.is_floating_point()), torch.get_default_dtype())
            self.device = tensors[0].device if tensors else None

    def __call__(self, x: Real) -> Array:
        if self.xp.LIBRARY == "numpy":
            return np.asarray(x, float)
        import torch

        tensor: Array = torch.as_tensor(x, dtype=self.dtype, device=self.device)
        return tensor

    def reals(self, values: Any) -> Any:
        """The same of all real arrays among arguments of any Stan types; integers stay as they are."""
        if isinstance(values, tuple):
            return tuple(map(self.reals, values))
        known = isinstance(values, (float, np.ndarray))
        return self(values) if known and np.asarray(values).dtype.kind == "f" else values


def plain(x: Array) -> np.ndarray:
    """The components as a NumPy array."""
    return x.detach().cpu().numpy() if hasattr(x, "detach") else np.asarray(x)


def _tensors(values: Any) -> Iterator[Any]:
    for v in values:
        if isinstance(v, tuple):
            yield from _tensors(v)
        elif hasattr(v, "requires_grad"):
            yield v


def precision(x: Array) -> float:
    """The relative precision of the type of x."""
    return float(np.finfo(plain(x).dtype).eps)


def without_gradient(xp: Namespace) -> Any:
    """A context that records no derivatives."""
    if xp.LIBRARY == "numpy":
        return contextlib.nullcontext()
    import torch

    return torch.no_grad()


def records(xp: Namespace, *values: Array | tuple[Array, ...]) -> bool:
    """Whether derivatives of any of these values are recorded."""
    if xp.LIBRARY == "numpy":
        return False
    import torch

    return torch.is_grad_enabled() and any(v.requires_grad for v in _tensors(values))


def jacobian(xp: Namespace, f: Callable[[Any], Array], x: Any) -> Array:
    """The derivative of f at x, without a record of its own: one row per component of f."""
    if xp.LIBRARY == "torch":
        import torch

        with torch.enable_grad():
            rows: Array = torch.autograd.functional.jacobian(f, x.detach()).detach()
            return rows
    # central differences; Newton's iteration, which this serves, converges with much coarser ones
    steps = np.cbrt(np.finfo(float).eps) * np.maximum(np.abs(x), 1e-3)
    columns = [(np.asarray(f(x + d)) - np.asarray(f(x - d))) / (2 * s) for s, d in zip(steps, np.diag(steps))]
    return np.stack(columns, axis=1)
