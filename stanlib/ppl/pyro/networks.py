"""Networks on Pyro: torch modules, registered with Pyro; lifted parameters through a functional call."""
from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyro
import torch
from torch.func import functional_call

from ...arrays.torch import as_tensor
from ...errors import StanError
from ...networks import Network
from .distributions import tensors
from .particles import once
from .unchanging import is_asked, looked_at

SEPARATOR = "$$$"  # between the name of a network and that of a parameter of its
TRAINED = "Pyro's store of parameters lacks some; load what SVI has trained, or pass the network, {}=..."


def call_network(network: Network, module: Any, inputs: Sequence[Any], lifted: Mapping[str, Any]) -> torch.Tensor:
    """The output of a torch module whose lifted parameters have these values.

    Its other parameters are registered with Pyro, so that inference trains them. Those of a network that the program
    finds by itself are what Pyro's store has under their names, which may come from a file.

    Raises:
        StanNetworkError: for what is no torch module, and for parameters that it lacks or has in another shape.
    """
    if not isinstance(module, torch.nn.Module):
        raise _no_module(network, module)
    with looked_at(network, module) if is_asked() else contextlib.nullcontext():
        return _called(network, module, inputs, lifted)


def _called(
    network: Network, module: torch.nn.Module, inputs: Sequence[Any], lifted: Mapping[str, Any]
) -> torch.Tensor:  # fmt: skip
    """The output of a torch module, and its parameters registered with Pyro."""
    arguments = _converted(module, inputs)
    if not lifted and network.is_given:
        registered = network.registered(
            lambda: once(("module", network.name), lambda: pyro.module(network.name, module)),
            lambda: _is_trained(network, (n for n, _ in module.named_parameters())),
        )
        return _result(registered(*arguments))
    own = dict(module.named_parameters())
    network.verify_lifted({n: p.shape for n, p in own.items()}, {n: tuple(v.shape) for n, v in lifted.items()})
    rest = [n for n in own if n not in lifted]
    learned = network.registered(
        lambda: once(("module", network.name), lambda: _learned(network, own, lifted)),
        lambda: _is_trained(network, rest),
    )
    values = {n: v.to(own[n].dtype) for n, v in zip(lifted, tensors(list(lifted.values())))}
    return _result(functional_call(module, {**learned, **values}, arguments))


def called(
    module: torch.nn.Module, inputs: Sequence[object], lifted: Mapping[str, torch.Tensor]
) -> Any:  # fmt: skip
    """What a module returns, some of whose parameters have other values."""
    own = dict(module.named_parameters())
    values = {n: v.to(own[n].dtype) for n, v in lifted.items()}
    return functional_call(module, values, _converted(module, inputs))


def kept(module: object) -> object:
    """A network as it is given, for it is trained in place: who keeps it copies it, by `with_weights`."""
    return module


def own(module: Any) -> Any:
    """The network itself: here every one is given as it is."""
    return module


def weights_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The weights of a module by their dotted names, and what it keeps beside them, as means of batches."""
    return {n: t.detach() for n, t in _tensors(module)}


def _tensors(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Its parameters, and those of its buffers that are saved with it."""
    yield from module.named_parameters()
    saved = module.state_dict()
    yield from ((n, b) for n, b in module.named_buffers() if n in saved)


def flat_weights(weights: Mapping[str, object]) -> Mapping[str, Any]:
    """Weights by their dotted names, as Pyro has them."""
    return weights


def with_weights(module: torch.nn.Module, weights: Mapping[str, Any]) -> torch.nn.Module:
    """A copy of the module with these weights, of all of its parameters and buffers or of some, in evaluation mode."""
    made = copy.deepcopy(module).eval()
    with torch.no_grad():
        for name, tensor in _tensors(made):
            if name in weights:
                tensor.copy_(torch.as_tensor(weights[name]))
    return made


def _is_trained(network: Network, names: Iterable[str]) -> bool:
    """Whether Pyro's store of parameters has those of the network."""
    return all(f"{network.name}$$${n}" in pyro.get_param_store() for n in names)


def _no_module(network: Network, module: object) -> StanError:
    kind = f"{type(module).__module__}.{type(module).__qualname__}"
    advice = "Pyro's networks are torch.nn.Module"
    if kind.split(".")[0] in ("flax", "equinox") or hasattr(module, "__jax_array__") or _is_jax(module):
        advice += "; load the program with backend='numpyro' to use this one"
    return network.error(f"is a {kind}: {advice}")


def _is_jax(module: object) -> bool:
    return any(c.__module__.split(".")[0] in ("flax", "equinox") for c in type(module).__mro__)


def _converted(module: torch.nn.Module, inputs: Sequence[object]) -> tuple[Any, ...]:
    """The inputs as tensors of the module's own type and device, if it has parameters; integers stay integers."""
    like = next(_real_parameters(module), None)
    return tuple([_input(x, like) for x in inputs])


def _real_parameters(module: torch.nn.Module) -> Iterator[torch.Tensor]:
    """Its parameters that are reals, in their order; what `parameters()` does beside takes longer than small layers."""
    yield from (p for p in module._parameters.values() if p is not None and p.is_floating_point())
    for part in module._modules.values():
        if part is not None:
            yield from _real_parameters(part)


def _input(x: Any, like: torch.Tensor | None) -> torch.Tensor:
    if like is None:
        return as_tensor(x)
    if isinstance(x, torch.Tensor) and x.dtype is like.dtype and x.device == like.device:
        return x
    x = as_tensor(x, device=like.device)
    return x.to(like.dtype) if x.is_floating_point() else x


def _result(value: object) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(map(_result, value))
    if not isinstance(value, torch.Tensor):
        return value
    wanted = torch.get_default_dtype()
    return value if value.dtype is wanted or not value.is_floating_point() else value.to(wanted)


def _learned(
    network: Network, own: Mapping[str, torch.Tensor], lifted: Mapping[str, object]
) -> dict[str, torch.Tensor]:  # fmt: skip
    """The parameters that are not lifted, as parameters that inference trains."""
    rest = ((n, p) for n, p in own.items() if n not in lifted)
    return {n: pyro.param(f"{network.name}$$${n}", p) if p.requires_grad else p for n, p in rest}
