"""One kernel out of a whole program, for XLA's compiler for CPUs.

XLA runs a program as a list of kernels, and spends some 50 nanoseconds around each: for a sampler on a small model that
is ten times the arithmetic. It makes one kernel of a function that its caller marks so, with all the loops inside,
unless that holds an operation for which it calls a library.
"""
from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxlib.mlir import ir

LARGEST = 2**18  # numbers in an array beyond which XLA's own kernels, in several threads, are faster
_ATTRIBUTES = "mhlo.frontend_attributes"
_MARKS = {"inlineable": "false", "xla_cpu_small_call": "true"}
# what XLA's code for a single kernel does not have
_CALLS = re.compile(r"\b(?:stablehlo|chlo|mhlo)\.(?:custom_call|scatter|select_and_scatter|sort|top_k|fft|cholesky|"
                    r"triangular_solve|convolution|infeed|outfeed|rng\w*|all_\w+|while_thunk)\b")  # fmt: skip
_DIMENSIONS = re.compile(r"tensor<((?:\d+x)+)[a-z]")


def joinable(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls this one and does nothing else; it returns one number of each argument too.

    For XLA's code for a single kernel must not have arguments that nothing uses, and XLA simplifies uses away, unless
    the results of the whole program depend on them.
    """

    def inner(*arguments: Any) -> Any:
        used = [jnp.ravel(a)[0].astype(float) for a in jax.tree.leaves(arguments) if a.size]
        return function(*arguments), jnp.stack(used) if used else jnp.zeros(0)

    compiled = jax.jit(inner)
    return lambda *arguments: compiled(*arguments)


def join(lowered: Any) -> bool:
    """Mark the one function that a lowered program calls, if it can be one kernel; whether it was."""
    text = lowered.as_text()
    if _CALLS.search(text) or _extent(text) > LARGEST or _has_empty(lowered):
        return False
    calls = _calls(lowered)
    with lowered.compiler_ir().context:
        marks = ir.DictAttr.get({name: ir.StringAttr.get(value) for name, value in _MARKS.items()})
        for call in calls:
            call.attributes[_ATTRIBUTES] = marks
    return bool(calls)


def separate(lowered: Any) -> bool:
    """Take the mark off again; whether there was one."""
    marked = [call for call in _calls(lowered) if _ATTRIBUTES in call.attributes]
    for call in marked:
        del call.attributes[_ATTRIBUTES]
    return bool(marked)


def _calls(lowered: Any) -> list[Any]:
    """The calls in the main function."""
    functions = lowered.compiler_ir().body.operations
    main = next(f for f in functions if ir.StringAttr(f.attributes["sym_name"]).value == "main")
    return [o for o in main.regions[0].blocks[0].operations if o.operation.name == "func.call"]


def _extent(text: str) -> int:
    """The size of the largest array."""
    return max((math.prod(map(int, d[:-1].split("x"))) for d in set(_DIMENSIONS.findall(text))), default=1)


def _has_empty(lowered: Any) -> bool:
    """Whether arguments are empty arrays."""
    return any(0 in a.shape for a in jax.tree.leaves(lowered.in_avals))
