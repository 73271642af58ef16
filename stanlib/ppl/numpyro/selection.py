"""Both sides of a small branch computed, and the results of one selected: on the CPU, XLA's branches inside of loops
cost ten times as much as what they leave out.

The side that is not taken must not be felt. Its numbers may be any, and an infinite one, or a derivative that is, would
make NaN of the cotangent 0 that its results have. So it is computed of other numbers, for which nothing of it is
infinite: what goes into it, what it reads of arrays, and the operands of all that is not sums and products.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from .tracing import Traced

MOST, WIDEST = 60, 16  # operations of a side on reals, and numbers of a value that it is given
INSTEAD = 0.5  # in the domains of all functions below, and of their derivatives

_READS = ("gather", "dynamic_slice")
_CALLS = ("jit", "pjit")
_PLAIN = frozenset("""
    add add_any sub mul neg max min abs sign select_n clamp convert_element_type broadcast_in_dim reshape squeeze slice
    concatenate transpose stop_gradient copy reduce_sum dot_general iota not and or xor eq ne lt gt le ge floor ceil
""".split())
_CURVED = frozenset("""
    div log log1p exp expm1 sqrt rsqrt cbrt pow integer_pow square logistic tanh sin cos tan atan sinh cosh asin acos
    erf erfc lgamma digamma
""".split())


def is_small(side: Traced) -> bool:
    """Whether a side can be computed where it is not taken."""
    equations = list(_equations(side.jaxpr))
    count = sum(jnp.issubdtype(v.aval.dtype, jnp.inexact) for e in equations for v in e.outvars)
    return count <= MOST and not side.jaxpr.effects and all(map(_is_known, equations)) and _is_narrow(side)


def of_one(condition: object, side: Traced, state: Sequence[object]) -> Any:
    """The results of a side where a condition holds; finite ones where it does not."""
    leaves = jax.tree_util.tree_leaves(tuple(state))
    given = [_masked(condition, v) if np.size(v) <= WIDEST else v for v in (*side.given, *leaves)]
    count = len(side.given)
    return side.rebuilt(_run(condition, side.jaxpr, given[:count], given[count:]))


def _equations(jaxpr: Any) -> Iterator[Any]:
    for e in jaxpr.eqns:
        if e.primitive.name in _CALLS:
            yield from _equations(e.params["jaxpr"].jaxpr)
        else:
            yield e


def _is_known(e: Any) -> bool:
    """Whether an equation is finite for finite numbers, at least for those that are put in."""
    literals = [v.val for v in e.invars if isinstance(v, Literal)]
    return e.primitive.name in (_PLAIN | _CURVED).union(_READS) and all(np.all(np.isfinite(v)) for v in literals)


def _is_narrow(side: Traced) -> bool:
    """Whether a side takes of long arrays only what it reads at some place."""
    given = (*side.jaxpr.constvars, *side.jaxpr.invars)
    long = {v for v in given if v.aval.size > WIDEST and jnp.issubdtype(v.aval.dtype, jnp.inexact)}
    calls = [e.params["jaxpr"] for e in side.jaxpr.eqns if e.primitive.name in _CALLS]
    inner = any(np.size(c) > 1 for called in calls for c in called.consts)
    results = [v for v in side.jaxpr.outvars if not isinstance(v, Literal)]
    return not inner and not long & set(results) and not any(
        v in long for e in side.jaxpr.eqns for k, v in enumerate(e.invars)
        if not isinstance(v, Literal) and (k or e.primitive.name not in _READS)
    )  # fmt: skip


def _masked(condition: Any, value: Any) -> object:
    """A real value where a condition holds, another number where it does not."""
    if not jnp.issubdtype(jnp.result_type(value), jnp.inexact):
        return value
    return jnp.where(condition, value, jnp.asarray(INSTEAD, jnp.result_type(value)))


def _run(condition: Any, jaxpr: Any, constants: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
    """The results of equations, with other numbers in them where the condition does not hold."""
    known = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*constants, *arguments)))

    def value(v: object) -> Any:
        return v.val if isinstance(v, Literal) else known[v]

    for e in jaxpr.eqns:
        given, name = list(map(value, e.invars)), e.primitive.name
        if name in _CALLS:
            inner = e.params["jaxpr"]
            out = _run(condition, inner.jaxpr, inner.consts, given)
        else:
            if name in _CURVED:
                given = [_masked(condition, v) for v in given]
            made = e.primitive.bind(*given, **e.params)
            out = made if e.primitive.multiple_results else [made]
            out = [_masked(condition, v) for v in out] if name in _READS else out
        known.update(zip(e.outvars, out))
    return list(map(value, jaxpr.outvars))
