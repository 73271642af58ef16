"""Values of other libraries as tensors, and functions of PyTorch that take them beside tensors."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch._C import _functorch

from .. import numpy as _np
from ..base import Array

LIBRARY = "torch"


def reference(args: Sequence[object]) -> torch.Tensor | None:
    """The tensor whose dtype and device others take: a floating one if there is any."""
    found = None
    for a in args:
        if isinstance(a, (tuple, list)):
            a = reference(a)
        if isinstance(a, torch.Tensor):
            if a.is_floating_point() or a.is_complex():
                return a
            found = found if found is not None else a
    return found


def as_tensor(x: Array, dtype: object = None, device: object = None) -> torch.Tensor:
    """A value of any library as a tensor.

    Tensors share the memory of arrays, which they can't if that is read only (an array that was broadcast) or is
    walked backwards (one that was reversed): those are copied.
    """
    if isinstance(x, np.ndarray) and (not x.flags.writeable or any(s < 0 for s in x.strides)):
        x = x.copy()
    return torch.as_tensor(x, dtype=dtype, device=device)


def as_beside(x: object, like: torch.Tensor) -> Any:
    """x, or the items of a tuple or list, as tensors; reals of the floating type of `like`, else of torch's default."""
    if isinstance(x, torch.Tensor):
        return x
    if isinstance(x, (tuple, list)):
        return type(x)(as_beside(i, like) for i in x)
    x = np.asarray(x)
    if x.dtype.kind == "f":
        dtype = like.dtype if like.is_floating_point() else torch.get_default_dtype()
        return as_tensor(x, dtype=dtype, device=like.device)
    return as_tensor(x, device=like.device)


def convert(args: Sequence[Any]) -> Sequence[Any]:
    """Arrays become tensors like the tensors beside them, or of a source of random numbers; Python numbers stay."""
    like = reference(args)
    if like is None:
        like = next((a.like for a in args if getattr(a, "LIBRARY", "") == LIBRARY), None)
    if like is None:
        return args
    return [as_beside(a, like) if isinstance(a, (np.ndarray, np.generic)) else a for a in args]


def scalar(x: Array | tuple[Array, ...]) -> Array | tuple[Array, ...]:
    """A NumPy array without axes as a NumPy scalar, which can stand beside a tensor in an operation."""
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def lift(name: str, f: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    """f for tensors, with its first `count` arguments converted, and NumPy's function for everything else."""
    concrete = getattr(_np, name)

    def call_of_one(x: Any, *args: Any, **options: Any) -> Array:
        return f(x, *args, **options) if isinstance(x, torch.Tensor) else call(x, *args, **options)

    def call(*args: object, **options: object) -> Any:
        if all([isinstance(a, torch.Tensor) for a in args[:count]]):  # a list: faster than a generator
            return f(*args, **options)
        like = reference(args[:count])
        if like is None:
            return scalar(concrete(*args, **options))
        return f(*(as_beside(a, like) for a in args[:count]), *args[count:], **options)

    return call_of_one if count == 1 else call


def floating(f: Callable[..., Any]) -> Callable[..., Any]:
    """f of integers as of reals."""

    def call(*args: torch.Tensor, **options: Any) -> Array:
        if len(args) == 1 and args[0].is_floating_point():
            return f(*args, **options)
        return f(*(a if a.is_floating_point() or a.is_complex() else real(a) for a in args), **options)

    return call


def one_dtype(f: Callable[..., Any]) -> Callable[..., Any]:
    """f of two tensors, both of the dtype to which they promote."""

    def call(a: torch.Tensor, b: torch.Tensor) -> Array | tuple[Array, Array]:
        if a.dtype == b.dtype:
            return f(a, b)
        dtype = torch.promote_types(a.dtype, b.dtype)
        return f(a.to(dtype), b.to(dtype))

    return call


def reduce(f: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: torch.Tensor, axis: Any = None, keepdims: bool = False) -> Array:
        if axis is None:
            axis = tuple(range(x.ndim))
        return x if axis == () else f(x, dim=axis, keepdim=keepdims)

    return call


def real(x: object) -> Any:
    if not isinstance(x, torch.Tensor):
        return scalar(_np.real(x))
    return x if x.is_floating_point() or x.is_complex() else x.to(torch.get_default_dtype())


def reals(args: Sequence[object]) -> list[Any]:
    like = reference(args)
    if like is None:
        return _np.reals(args)
    dtype = like.dtype if like.is_floating_point() else torch.get_default_dtype()
    tensors = [as_beside(a, like) for a in args]
    return [a if a.is_floating_point() else a.to(dtype) for a in tensors]


def cbrt(x: torch.Tensor) -> torch.Tensor:
    """With the infinite derivative at 0, where that of the absolute value would make it NaN."""
    x = real(x)
    zero = x == 0
    inside = torch.where(zero, 1.0, x)
    root = torch.sign(inside) * torch.abs(inside).pow(1.0 / 3.0)
    return torch.where(zero, torch.sqrt(torch.where(zero, x, 1.0) + 0.0), root)  # -0.0 + 0.0 is 0.0


def known(x: object) -> np.ndarray | None:
    """The numbers of an array; None of those of several calls at once, as torch.func.vmap makes them."""
    if not isinstance(x, torch.Tensor):
        return np.asarray(x)
    if _functorch.maybe_current_level() is None:
        return x.detach().cpu().numpy()
    inside = _inside(x)
    with torch._C._DisableFuncTorch():  # or what is detached would be wrapped again
        return None if _functorch.is_batchedtensor(inside) else inside.detach().cpu().numpy()


def is_of_several(x: torch.Tensor) -> bool:
    """Whether a tensor is that of several calls at once, as torch.func.vmap makes them."""
    return _functorch.maybe_current_level() is not None and _functorch.is_batchedtensor(_inside(x))


def _inside(x: torch.Tensor) -> torch.Tensor:
    """A tensor without what torch.func.grad and its like have wrapped around it."""
    while _functorch.is_functorch_wrapped_tensor(x) and not _functorch.is_batchedtensor(x):
        x = _functorch.get_unwrapped(x)
    return x
