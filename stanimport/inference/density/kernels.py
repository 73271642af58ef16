"""One kernel out of a whole program, for XLA's compiler for CPUs.

XLA runs a program as a list of kernels, and spends some 50 nanoseconds around each: for a sampler on a small model that
is ten times the arithmetic. It makes one kernel of a function that its caller marks so, with all the loops inside,
where that holds nothing but what its code for single kernels has.
"""
from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr
from jaxlib.mlir import ir

LARGEST = 2**18  # numbers in an array beyond which XLA's own kernels, in several threads, are faster
LONGEST = 4000  # terms of a sum: XLA divides longer ones between kernels, and warns on the terminal where it can't
_ATTRIBUTES = "mhlo.frontend_attributes"
_MARKS = {"inlineable": "false", "xla_cpu_small_call": "true"}
# What XLA's code for a single kernel is known to have, each tried by tests/inference/test_kernels.py. With anything
# else it may end the process.
_STABLEHLO = """
    abs add and atan2 bitcast_convert broadcast_in_dim case cbrt ceil clamp compare complex concatenate constant convert
    cosine count_leading_zeros divide dot_general dynamic_slice dynamic_update_slice exponential exponential_minus_one
    floor gather iota is_finite log log_plus_one maximum minimum multiply negate not optimization_barrier or pad popcnt
    power real reduce reduce_precision reduce_window remainder reshape return reverse round_nearest_afz rsqrt select
    shift_left shift_right_arithmetic shift_right_logical sign sine slice sqrt subtract tan tanh transpose while xor
"""
_CHLO = """
    acos asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma next_after polygamma sinh square zeta
"""
_SUPPORTED = {f"stablehlo.{name}" for name in _STABLEHLO.split()} | {f"chlo.{name}" for name in _CHLO.split()}
_OPERATION = re.compile(r"(?:= |^ *|\"|applies )((?:stablehlo|chlo|mhlo|vhlo)\.\w+)", re.MULTILINE)
_DIMENSIONS = re.compile(r"tensor<((?:\d+x)+)[a-z]")
_REDUCTION = re.compile(r"(?:across dimensions|contracting_dims) = \[([\d, ]+)\][^:]* : \(tensor<((?:\d+x)+)")


def joinable(function: Callable[..., object]) -> Callable[..., Any]:
    """A function that calls this one and does nothing else; it returns one number of each argument too.

    For XLA's code for a single kernel must not have arguments that nothing uses, and XLA simplifies uses away, unless
    the results of the whole program depend on them.
    """

    def inner(*arguments: object) -> Any:
        used = [_first(a).astype(float) for a in jax.tree.leaves(arguments) if a.size]
        return function(*arguments), jnp.stack(used) if used else jnp.zeros(0)

    compiled = jax.jit(inner)
    return lambda *arguments: compiled(*arguments)


def _first(array: Any) -> jax.Array:
    """The first number of an array, by an operation that does not reshape the whole."""
    return lax.slice(array, (0,) * array.ndim, (1,) * array.ndim).reshape(())


def join(lowered: Any) -> bool:
    """Mark the one function that a lowered program calls, if it can be one kernel; whether it was."""
    text = lowered.as_text()
    if not operations(text) <= _SUPPORTED or not _is_small(text) or _has_empty(lowered):
        return False
    calls = _calls(lowered)
    with lowered.compiler_ir().context:
        marks = ir.DictAttr.get({name: ir.StringAttr.get(value) for name, value in _MARKS.items()})
        for call in calls:
            call.attributes[_ATTRIBUTES] = marks
    return bool(calls)


def operations(text: str) -> set[str]:
    """The operations in the text of a program."""
    return set(_OPERATION.findall(text))


def numbers_in(jaxpr: Jaxpr) -> int:
    """How many numbers the operations of a traced function take and make, those of functions inside of it too."""
    count = 0
    for equation in jaxpr.eqns:
        count += sum(math.prod(getattr(v.aval, "shape", ())) for v in (*equation.invars, *equation.outvars))
        within = jax.tree.leaves(equation.params, is_leaf=lambda p: isinstance(p, (Jaxpr, ClosedJaxpr)))
        for part in within:
            if isinstance(part, (Jaxpr, ClosedJaxpr)):
                count += numbers_in(part if isinstance(part, Jaxpr) else part.jaxpr)
    return count


def is_joined(lowered: object) -> bool:
    """Whether the functions that a lowered program calls are marked."""
    return bool(_marked(lowered))


def separate(lowered: object) -> bool:
    """Take the mark off again; whether there was one."""
    marked = _marked(lowered)
    for call in marked:
        del call.attributes[_ATTRIBUTES]
    return bool(marked)


def _marked(lowered: object) -> list[Any]:
    return [call for call in _calls(lowered) if _ATTRIBUTES in call.attributes]


def _calls(lowered: Any) -> list[Any]:
    """The calls in the main function."""
    functions = lowered.compiler_ir().body.operations
    main = next(f for f in functions if ir.StringAttr(f.attributes["sym_name"]).value == "main")
    return [o for o in main.regions[0].blocks[0].operations if o.operation.name == "func.call"]


def _is_small(text: str) -> bool:
    """Whether no array is too large, and no reduction goes over too many numbers."""
    sizes = [math.prod(_shape(dimensions)) for dimensions in set(_DIMENSIONS.findall(text))]
    reduced = [
        math.prod(_shape(dimensions)[int(axis)] for axis in axes.split(","))
        for axes, dimensions in set(_REDUCTION.findall(text))
    ]
    return max(sizes, default=0) <= LARGEST and max(reduced, default=0) <= LONGEST


def _shape(dimensions: str) -> list[int]:
    """The shape that is written as `3x4x`."""
    return [int(d) for d in dimensions[:-1].split("x")]


def _has_empty(lowered: Any) -> bool:
    """Whether arguments are empty arrays."""
    return any(0 in a.shape for a in jax.tree.leaves(lowered.in_avals))
