"""Parts of tensors, read and replaced."""
from __future__ import annotations

from builtins import any as builtins_any
from typing import Any

import numpy as np
import torch

from .. import numpy as _np
from ..base import Array
from .tensors import as_beside, as_tensor, reference


def rearranged(x: Any, index: Any) -> Any:
    like = reference((x,))
    if like is None:
        return _np.rearranged(x, index)
    found = x[as_tensor(np.maximum(index, 0), device=x.device)]
    if (index >= 0).all():
        return found
    there = as_tensor(index >= 0, device=x.device).reshape(-1, *(1,) * (x.ndim - 1))
    return torch.where(there, found, torch.zeros((), dtype=x.dtype, device=x.device))


def segment_sum(x: Any, i: Any, n: int) -> Any:
    like = reference((x, i))
    if like is None:
        return _np.segment_sum(x, i, n)
    x = as_beside(x, like)
    return x.new_zeros((n, *x.shape[1:])).index_add(0, as_tensor(i, device=x.device), x)


def get(x: Array, index: tuple[object, ...]) -> Array:
    """x[index]; index arrays become tensors on the device of x."""
    if isinstance(x, torch.Tensor) and not [i for i in index if type(i) is not int]:
        return x[index]
    like = reference((x, *index))
    if like is None:
        return x[index]
    x = as_beside(x, like)
    return x[_index(x, index)]


def _index(x: torch.Tensor, index: object) -> Any:
    """An index with its arrays on the device of x."""
    if isinstance(index, tuple):
        return tuple(_index(x, i) for i in index)
    return as_tensor(index, device=x.device) if isinstance(index, np.ndarray) else index


def pick_last(x: Any, i: Any) -> Any:
    like = reference((x, i))
    if like is None:
        return _np.pick_last(x, i)
    x = as_beside(x, like)
    rows = torch.broadcast_shapes(x.shape[:-1], np.shape(i))
    index = as_tensor(i, device=x.device).expand(rows).unsqueeze(-1)
    return x.expand(*rows, x.shape[-1]).gather(-1, index).squeeze(-1)


def at_set(x: object, index: object, value: object) -> Any:
    """A copy of x after `x[index] = value`; where index arrays name a place more than once, the last value counts."""
    like = reference((x, value, *(index if isinstance(index, tuple) else (index,))))
    if like is None:
        return _np.at_set(x, index, value)
    out = as_beside(x, like).clone()
    at, value = _index(out, index), as_beside(value, like).to(out.dtype)
    if builtins_any(isinstance(i, torch.Tensor) for i in (at if isinstance(at, tuple) else (at,))):
        return _at_set_last(out, at, value)
    out[at] = value
    return out


def _at_set_last(out: torch.Tensor, at: object, value: torch.Tensor) -> torch.Tensor:
    """`out[at] = value` where places may repeat: the last value counts, and it alone has a gradient.

    torch keeps the last value, but hands the gradient of the place on to all of them.
    """
    places = torch.arange(out.numel(), device=out.device).reshape(out.shape)[at]
    flat = places.reshape(-1).cpu().numpy()
    last = len(flat) - 1 - np.unique(flat[::-1], return_index=True)[1]
    if len(last) == len(flat):
        out[at] = value
        return out
    chosen = torch.as_tensor(last, device=out.device)
    values = value.expand(places.shape).reshape(-1)[chosen]
    return out.reshape(-1).index_put((places.reshape(-1)[chosen],), values).reshape(out.shape)
