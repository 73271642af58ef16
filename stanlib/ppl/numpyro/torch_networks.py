"""Networks of torch in programs that run on NumPyro: called on the host as they are, with torch's derivatives.

So methods that Pyro does not have run its programs. Nothing trains such a network: whoever hands one over says so by
wrapping it as `Untrained`.
"""
from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ...arrays.jax import callbacks
from ...errors import StanDerivativeError
from ...networks import Network
from ..pyro import networks as pyros
from ..pyro.unchanging import looked_at

Run = Callable[[Sequence[torch.Tensor], Sequence[torch.Tensor]], list[torch.Tensor]]  # of real and integer arguments


class Untrained:
    """A torch module whose weights stay as they are, whatever becomes of the one that was given."""

    def __init__(self, module: torch.nn.Module):
        self.module = copy.deepcopy(module)

    def for_inputs(
        self, network: Network, call: Callable[[torch.nn.Module], object]
    ) -> tuple[torch.nn.Module, Any]:  # fmt: skip
        """The module that is called, and what `call(module)` returns of it.

        That is a copy in double precision, which line searches and differences need, but for modules that insist on
        less and fail then.

        Raises:
            StanNetworkError: for one that is no function of its arguments.
        """
        exact = copy.deepcopy(self.module).double()
        try:
            with looked_at(network, exact):
                return exact, call(exact)
        except RuntimeError:
            with looked_at(network, self.module):
                return self.module, call(self.module)


def call(network: Network, untrained: Untrained, inputs: Sequence[Any], lifted: Mapping[str, Any]) -> Any:
    """The output of a torch module whose lifted parameters have these values, as arrays in double precision.

    Raises:
        StanNetworkError: for lifted parameters that it lacks or has in another shape.
    """
    network.verify_lifted({n: p.shape for n, p in untrained.module.named_parameters()},
                          {n: np.shape(v) for n, v in lifted.items()})  # fmt: skip
    given = [*inputs, *lifted.values()]
    real = [jnp.issubdtype(jnp.result_type(x), jnp.inexact) for x in given]

    def called(module: torch.nn.Module, reals: Sequence[torch.Tensor], integers: Sequence[torch.Tensor]) -> Any:
        left = {True: iter(reals), False: iter(integers)}
        values = [next(left[r]) for r in real]
        return _tuples(pyros.called(module, values[: len(inputs)], dict(zip(lifted, values[len(inputs) :]))))

    known = [x if isinstance(x, (np.ndarray, np.generic, float, int)) else None for x in given]
    examples = [np.zeros(np.shape(x), jnp.result_type(x)) if k is None else np.asarray(k) for x, k in zip(given, known)]

    with torch.no_grad():
        parted = _parted(map(torch.tensor, examples), real)
        module, like = untrained.for_inputs(network, lambda m: called(m, *parted))
    if not _is_array(like):
        return like
    leaves, structure = jax.tree.flatten(like)
    if all(k is not None for k in known):
        return jax.tree.unflatten(structure, map(_array, leaves))
    shapes = [jax.ShapeDtypeStruct(tuple(t.shape), float) for t in leaves]
    made = _differentiable(lambda *a: jax.tree.leaves(called(module, *a)), shapes)
    return jax.tree.unflatten(structure, made(*_parted(map(jnp.asarray, given), real)))


def _parted(values: Any, real: Sequence[bool]) -> tuple[list[Any], list[Any]]:
    """Those that are real, and the others."""
    pairs = list(zip(values, real))
    return [v for v, r in pairs if r], [v for v, r in pairs if not r]


def _tuples(value: object) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, (tuple, list)) else value


def _is_array(value: object) -> bool:
    """Whether something is a real tensor, or a tuple of such: what a network may return."""
    if isinstance(value, tuple):
        return all(map(_is_array, value))
    return isinstance(value, torch.Tensor) and not value.is_complex()


def _array(value: torch.Tensor) -> np.ndarray:
    return np.asarray(value.detach().cpu().numpy(), float)


def _differentiable(run: Run, shapes: Sequence[Any]) -> Callable[[list[Any], list[Any]], list[Any]]:
    """What torch computes, as a function of JAX's arrays that has first derivatives in the real ones."""

    def values(reals: Sequence[Any], integers: Sequence[Any]) -> list[Any]:
        return _on_host(partial(_values, run, len(reals)), shapes, *reals, *integers)

    def forward(reals: Any, integers: Any) -> tuple[list[Any], tuple[Any, Any]]:
        return values(reals, integers), (reals, integers)

    def backward(at: Any, slopes: Any) -> tuple[list[Any], None]:
        reals, integers = at
        types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in reals]
        return _on_host(partial(_slopes, run, len(reals), len(integers)), types, *reals, *integers, *slopes), None

    found: Callable[[list[Any], list[Any]], list[Any]] = jax.custom_vjp(values)
    found.defvjp(forward, backward)  # type: ignore[attr-defined]
    return found


def _values(run: Run, count: int, *given: np.ndarray) -> list[np.ndarray]:
    with torch.no_grad():
        tensors = [torch.tensor(x) for x in given]
        return [_array(t) for t in run(tensors[:count], tensors[count:])]


def _slopes(run: Run, reals: int, integers: int, *given: np.ndarray) -> list[np.ndarray]:
    """The derivatives in the real arguments of a sum of what torch computes times slopes, which come last."""
    tensors = [torch.tensor(x, requires_grad=i < reals) for i, x in enumerate(given)]
    with torch.enable_grad():
        found = run(tensors[:reals], tensors[reals : reals + integers])
    pairs = [(f, s.to(f.dtype)) for f, s in zip(found, tensors[reals + integers :]) if f.requires_grad]
    if not pairs or not reals:
        return [np.zeros(t.shape) for t in tensors[:reals]]
    outputs, weights = zip(*pairs)
    gradients = torch.autograd.grad(outputs, tensors[:reals], weights, allow_unused=True)
    return [np.zeros(t.shape) if g is None else _array(g) for t, g in zip(tensors, gradients)]


def _on_host(f: Callable[..., list[np.ndarray]], shapes: Sequence[Any], *given: object) -> list[Any]:
    """A call to the host, which has no derivatives of its own."""

    @jax.custom_jvp
    def called(*arrays: Any) -> list[Any]:
        return list(callbacks.call(f, shapes, *arrays, vmap_method="sequential"))

    @called.defjvp
    def _(primals: object, tangents: object) -> Any:
        raise StanDerivativeError("networks of torch have first derivatives only where a program runs on NumPyro")

    made: list[Any] = called(*given)
    return made
