"""Loops of XLA that carry a state along: how their equations have their inputs, and how far they are unrolled."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from .devices import is_on_cpu

# Recurrences that are worth to be unrolled: operations of an iteration, and with those inside of these; how far.
FEW_OPERATIONS, FEW_INSIDE, FEW_COPIES = 10, 40, 4
MANY_COPIES, MANY_INSIDE = 32, 2000  # on a GPU: how far, and how many operations a step may come to


def counts(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """How many of its first inputs stay, and how many of the next are carried along.

    JAX has two numbers among an equation's parameters, from 0.11 on a tree of each kind of inputs.
    """
    if "ft_in" in parameters:
        constants, carried, _ = map(len, parameters["ft_in"].unpack())
        return constants, carried
    return parameters["num_consts"], parameters["num_carry"]


def copies(own: int, inside: int, carry: object) -> int:
    """How many iterations of a recurrence one step of the compiled loop does: several if there is little to do.

    XLA on the CPU runs loops with small bodies fast; a few numbers carried and a few operations leave room for more.
    A GPU is told to start each step, which takes longer than what there is to do.

    Args:
        own, inside: operations of an iteration, and with those of the functions, branches and loops in it.
        carry: what it carries along.
    """
    if not is_on_cpu():
        return max(1, min(MANY_COPIES, MANY_INSIDE // max(inside, 1)))
    if any(jnp.ndim(x) for x in jax.tree_util.tree_leaves(carry)):
        return 1
    return FEW_COPIES if own <= FEW_OPERATIONS and inside <= FEW_INSIDE else 1
