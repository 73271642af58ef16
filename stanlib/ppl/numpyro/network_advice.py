"""What to write instead of a network of flax or equinox that can't be called with its arguments alone.

Programs hand networks their arguments, and neither random keys nor states: layers that ask for these fail in the words
of their library.
"""
from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import jax

from ...errors import StanError
from ...networks import Network

_EVALUATION = {
    "nnx": "pass it after net.eval(), or with random keys of its own, nnx.Dropout(rate, rngs=...)",
    "linen": "make it with use_running_average=True and deterministic=True, or write it with flax.nnx",
    "equinox": "pass equinox.nn.inference_mode(net)",
}
_STATE = (
    "a program hands over no state of equinox: pass a module of one argument that has net and state as fields and "
    "returns equinox.nn.inference_mode(net)(x, state)[0], or normalise by equinox.nn.LayerNorm"
)


@contextlib.contextmanager
def advising(network: Network, module: object, library: str) -> Iterator[None]:
    """Around a call of a network.

    Raises:
        StanNetworkError: for what fails in a network with layers that differ between training and evaluation, naming
            one and what to write.
    """
    try:
        yield
    except Exception as e:
        said = str(e).partition("\n")[0].rstrip(".")
        if isinstance(e, StanError) or not _is_of_training(e, said):
            raise
        layer, advice = _of_equinox(module) if library == "equinox" else _of_flax(module)
        if not layer:
            raise
        raise network.error(f"has a layer {layer} in training mode, and fails: {said}; {advice}") from e


def changes_in_a_body(module: object) -> str:
    """What to say of a flax module that changes its state in a loop or branch that JAX traces by itself."""
    layer, advice = _of_flax(module)
    of = f"has a layer {layer} in training mode, which" if layer else "is a module that"
    told = f"{of} changes with every call, and is called in a loop or branch that is compiled by itself"
    instead = advice.partition(", or with random keys")[0] or "pass one that stays as it is"  # these change, too
    return f"{told}: {instead}, or call it outside, for all iterations at once"


def _is_of_training(e: Exception, said: str) -> bool:
    """Whether an error is about keys, states, or states that change where JAX traces; other traced ones may be none."""
    if isinstance(e, jax.errors.JAXTypeError):
        return isinstance(e, jax.errors.UnexpectedTracerError)
    return re.search(r"\bkey\b|\bstate\b|rng|mutable|trace level", said, re.IGNORECASE) is not None


def _of_equinox(module: object) -> tuple[str, str]:
    """The name of a layer that asks for a key or a state, and advice; empty if there is none."""
    import equinox

    nn = equinox.nn
    kinds = (nn.StatefulLayer, nn.Dropout)
    leaves = jax.tree_util.tree_leaves(module, is_leaf=lambda x: isinstance(x, kinds))
    parts = [p for p in leaves if isinstance(p, kinds)]
    stateful = [type(p).__name__ for p in parts if isinstance(p, nn.StatefulLayer)]
    if stateful:
        return stateful[0], _STATE
    return ("Dropout", _EVALUATION["equinox"]) if any(not p.inference for p in parts) else ("", "")


def _of_flax(module: object) -> tuple[str, str]:
    """The same of flax, whose modules of linen stand in a bridge of nnx."""
    from flax import nnx

    for _, part in nnx.iter_modules(module):
        inner = vars(part).get("to_nnx__module", vars(part).get("module"))  # its name in flax of before 0.12, too
        if any(c.__module__.startswith("flax.linen") for c in type(inner).__mro__):
            return type(inner).__name__, _EVALUATION["linen"]
        if getattr(part, "deterministic", None) is False or getattr(part, "use_running_average", None) is False:
            return type(part).__name__, _EVALUATION["nnx"]
    return "", ""
