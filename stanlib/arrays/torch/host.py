"""The functions of host.py for PyTorch: autograd functions that compute in NumPy."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .. import host
from ..base import Array


def _numpy(x: Array) -> Array:
    return x.detach().cpu().numpy() if isinstance(x, torch.Tensor) else x  # a trace passes on numbers


def _cylinder(name: str) -> Callable[..., Any]:
    """A cylinder function of orders and x that broadcast, computed in NumPy, with its derivative in x alone."""
    f, lower, higher = host.CYLINDER[name]

    class Cylinder(torch.autograd.Function):
        @staticmethod
        def forward(order: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(f(_numpy(order), _numpy(x)), dtype=x.dtype, device=x.device)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.order, x = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            (x,) = ctx.saved_tensors
            slope = lower * Cylinder.apply(ctx.order - 1, x) + higher * Cylinder.apply(ctx.order + 1, x)
            return None, (grad * slope).sum_to_size(x.shape)

    Cylinder.__name__ = name
    return lambda order, x: Cylinder.apply(order, x if x.is_floating_point() else x.to(torch.get_default_dtype()))


jv, yv, kv = (_cylinder(name) for name in ("jv", "yv", "kv"))


class _Hypergeometric(torch.autograd.Function):
    @staticmethod
    def forward(a: torch.Tensor, b: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(host.hypergeometric(*map(_numpy, (a, b, z))), dtype=z.dtype, device=z.device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        if torch.is_grad_enabled():
            raise host.no_second_derivatives()
        partials = host.hypergeometric_partials(*map(_numpy, ctx.saved_tensors))
        return tuple(grad * torch.as_tensor(p, dtype=grad.dtype, device=grad.device) for p in partials)


hypergeometric = _Hypergeometric.apply
