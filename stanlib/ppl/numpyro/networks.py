"""Networks on NumPyro: modules of flax (nnx) and equinox, through NumPyro's own support for them."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.contrib.module import eqx_module
from numpyro.primitives import mutable

from ...errors import StanError
from ...lifted import lifted_under
from ...networks import Network
from .network_advice import advising, changes_in_a_body

Weights = Mapping[str, Any]
Parts = dict[str, Any]  # arrays by their names, or such dicts
Called = Callable[..., Any]
SEPARATOR = "$params."  # between the name of a network and that of a parameter of its
TRAINED = "run under numpyro.handlers.substitute with the parameters that SVI returned, or pass the network, {}=..."


def call_network(network: Network, module: Any, inputs: Sequence[Any], lifted: Weights) -> Any:
    """The output of a flax or equinox module whose lifted parameters have these values.

    Its other parameters are registered with NumPyro, so that inference trains them. A torch module that is handed
    over as one that stays as it is, is called on the host.

    Raises:
        StanNetworkError: for what is no such module, and for parameters that it lacks or has in another shape.
    """
    if _is_untrained(module):
        from .torch_networks import call

        return call(network, module, inputs, lifted)
    library = _library(module)
    if any(c.__module__.startswith("flax.linen") for c in type(module).__mro__):
        advice = "wrap it as flax.nnx.bridge.ToNNX(module, rngs=...).lazy_init(...), or write it with flax.nnx"
        raise network.error(f"is a module of flax.linen, whose weights lie elsewhere: {advice}")
    if library not in ("flax", "equinox"):
        raise _no_module(network, module, library)
    arguments = [jnp.asarray(x) for x in inputs]
    with advising(network, module, library):
        return (_of_flax if library == "flax" else _of_equinox)(network, module, lifted)(*arguments)


def _is_trained(network: Network) -> bool:
    """Whether a handler supplies the network's parameters."""
    return numpyro.param(f"{network.name}$params") is not None


def _library(module: object) -> str:
    """The library whose module something is: "flax", "equinox", "torch", or ""."""
    found = {c.__module__.split(".")[0] for c in type(module).__mro__}
    return next((name for name in ("flax", "equinox", "torch") if name in found), "")


def _no_module(network: Network, module: object, library: str) -> StanError:
    kind = f"{type(module).__module__}.{type(module).__qualname__}"
    advice = "NumPyro's networks are modules of flax.nnx or equinox"
    if library == "torch":
        advice += "; load the program with backend='pyro' to use this one"
    return network.error(f"is a {kind}: {advice}")


def _of_flax(network: Network, module: object, lifted: Weights) -> Called:
    """What calls a flax module with its lifted parameters replaced, the others and its state registered.

    Its state, means of batches and counts of random keys, is what a step of a training leaves to the next one. Without
    lifted parameters both have the form that NumPyro's `nnx_module` gives them.
    """
    from flax import nnx

    own, rebuild = _nnx_parts(module)
    _verify_lifted(network, own, lifted)
    rest: Weights = {n: p for n, p in own.items() if n not in lifted}
    if not lifted:
        rest = nnx.to_pure_dict(nnx.state(module, nnx.Param))
    state = _nnx_state(module)

    def register() -> tuple[Weights, Parts]:
        learned = numpyro.param(f"{network.name}$params", rest) if rest else {}
        return learned, mutable(f"{network.name}$state", {"state": state}) if state else {}

    learned, held = network.registered(register, lambda: not rest or _is_trained(network))
    made = rebuild({**flat_weights(learned), **lifted})
    return partial(_called_with_state, network, made, held) if held else made


def _of_equinox(network: Network, module: object, lifted: Weights) -> Called:
    """An equinox module with its lifted parameters replaced, the others registered."""
    if not lifted:
        called: Called = network.registered(
            lambda: eqx_module(network.name, module), lambda: _is_trained(network)
        )
        return called
    own, rebuild = _equinox_parts(module)
    _verify_lifted(network, own, lifted)
    rest = {n: p for n, p in own.items() if n not in lifted}
    register = partial(numpyro.param, f"{network.name}$params", rest)
    learned = network.registered(register, lambda: _is_trained(network)) if rest else {}
    rebuilt: Called = rebuild({**learned, **lifted})
    return rebuilt


def _verify_lifted(network: Network, own: Weights, lifted: Weights) -> None:
    network.verify_lifted({n: jnp.shape(p) for n, p in own.items()}, {n: jnp.shape(v) for n, v in lifted.items()})


def _nnx_state(module: object) -> Parts:
    """What a flax module has beside its parameters."""
    from flax import nnx

    found: Parts = nnx.to_pure_dict(nnx.state(module, nnx.Not(nnx.Param)))
    return found


def _called_with_state(network: Network, module: Any, held: Parts, *arguments: jax.Array) -> Any:
    """The output of a flax module in the state that is held, which then is the one that the call leaves it in.

    Raises:
        StanNetworkError: where the state changes in code that is traced by itself, from which it can't get out.
    """
    from flax import nnx

    state = nnx.state(module, nnx.Not(nnx.Param))
    nnx.replace_by_pure_dict(state, held["state"])
    nnx.update(module, state)
    before = jax.tree.leaves(_nnx_state(module))
    value = module(*arguments)
    after = _nnx_state(module)
    if all(a is b for a, b in zip(before, jax.tree.leaves(after), strict=True)):
        return value
    if lifted_under() is not None:
        raise network.error(changes_in_a_body(module))
    held["state"] = jax.lax.stop_gradient(after)
    return value


def untrained(module: object) -> Any:
    """A network of a program for Pyro, as one for NumPyro takes it: it stays as it is."""
    if _library(module) != "torch":
        return module
    from .torch_networks import Untrained

    return Untrained(module)


def kept(module: object) -> object:
    """A network that stays as it is now: a copy of what changes in place, flax modules and arrays of NumPy."""
    library = _library(module)
    if library == "equinox":
        return jax.tree.map(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, module)
    if library != "flax":
        return module
    from flax import nnx

    return nnx.clone(module) if isinstance(module, nnx.Module) else module


def own(module: Any) -> Any:
    """The network itself, of one that stays as it is."""
    return module.module if _is_untrained(module) else module


def _is_untrained(module: Any) -> bool:
    return type(module).__name__ == "Untrained" and _library(module.module) == "torch"


def _nnx_parts(module: object) -> tuple[Parts, Any]:
    """The parameters of a flax module by their dotted names, and a function that makes the module of such."""
    from flax import nnx

    definition, parameters, others = nnx.split(module, nnx.Param, ...)
    paths = {".".join(map(str, path)): path for path, _ in nnx.to_flat_state(parameters)}
    values = dict(nnx.to_flat_state(parameters))

    def rebuild(new: Mapping[str, object]) -> Any:
        flat = [(paths[n], values[paths[n]].replace(v)) for n, v in new.items()]
        return nnx.merge(definition, nnx.from_flat_state(flat), others, copy=True)

    return {n: values[path].get_value() for n, path in paths.items()}, rebuild


def _nnx_states(module: object) -> tuple[Parts, Any]:
    """What a flax module keeps beside parameters and random keys, and a function that makes one with other values."""
    from flax import nnx

    definition, states, others = nnx.split(module, nnx.Not(nnx.Any(nnx.Param, nnx.RngState)), ...)
    values = {".".join(map(str, path)): (path, v) for path, v in nnx.to_flat_state(states)}
    own = {n: v.get_value() for n, (_, v) in values.items()}

    def rebuild(new: Mapping[str, object]) -> Any:
        flat = [(path, v.replace(jnp.asarray(new[n])) if n in new else v) for n, (path, v) in values.items()]
        return nnx.merge(definition, nnx.from_flat_state(flat), others, copy=True)

    return own, rebuild


def _nnx_keys(module: object) -> set[str]:
    """The dotted names of the random keys of a flax module, as of dropout, and of their counts."""
    from flax import nnx

    return {".".join(map(str, path)) for path, _ in nnx.to_flat_state(nnx.state(module, nnx.RngState))}


def weights_of(module: object) -> Parts:
    """The weights of a module by their dotted names, and what it keeps beside them, as means of batches."""
    if torchs := _torchs(module):
        found: Parts = torchs.weights_of(own(module))
        return found
    if _library(module) == "flax":
        return _nnx_parts(module)[0] | _nnx_states(module)[0]
    return _equinox_parts(module)[0]


def _torchs(module: object) -> Any:
    """What handles the weights of a torch module; None for another one."""
    if _library(own(module)) != "torch":
        return None
    from ..pyro import networks

    return networks


def with_weights(module: Any, weights: Any) -> Any:
    """The module with trained weights: what `SVI` has under `<name>$params`, for all of its parameters or for some.

    For a flax module that may be what `SVI` has of its state, too; its random keys stay its own.
    """
    if torchs := _torchs(module):
        return untrained(torchs.with_weights(own(module), weights))
    parts, rebuild = _nnx_parts(module) if _library(module) == "flax" else _equinox_parts(module)
    flat = flat_weights(weights)
    states, keys = (_nnx_states(module)[0], _nnx_keys(module)) if _library(module) == "flax" else ({}, set())
    made = rebuild({**parts, **{n: w for n, w in flat.items() if n not in states and n not in keys}})
    return _nnx_states(made)[1]({n: flat[n] for n in states if n in flat}) if states else made


def flat_weights(weights: object) -> Parts:
    """Weights by their dotted names."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(weights)
    return {".".join(map(_part, path)): leaf for path, leaf in leaves}


def _part(key: object) -> str:
    """A step on the way to a part of a module: the name of a field, a place in a sequence, or a key."""
    return str(next(getattr(key, a) for a in ("name", "idx", "key") if hasattr(key, a)))


def _equinox_parts(module: object) -> tuple[Parts, Any]:
    """The arrays of an equinox module by their dotted names, and a function that makes the module of such."""
    import equinox

    arrays, static = equinox.partition(module, equinox.is_inexact_array)
    leaves, structure = jax.tree_util.tree_flatten_with_path(arrays)
    names = [".".join(map(_part, path)) for path, _ in leaves]

    def rebuild(new: Mapping[str, object]) -> Any:
        return equinox.combine(jax.tree_util.tree_unflatten(structure, [new[n] for n in names]), static)

    return {n: leaf for n, (_, leaf) in zip(names, leaves)}, rebuild
