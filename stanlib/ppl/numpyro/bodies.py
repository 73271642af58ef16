"""What bodies that JAX traces by themselves share: what in them is known, what they reject, when they are asked for."""
from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from ...lanes.values import Lanes
from ...lifted import lifted_under, lifting
from ...random.jax import JaxRandom
from ...rejection import collected, refuse, rejected
from .states import State

T = TypeVar("T")


def is_traced(x: object) -> bool:
    """Whether JAX traces a value; of a source of random numbers, its state: what it draws is traced then."""
    if type(x) is Lanes:
        x = x.data
    elif isinstance(x, JaxRandom):
        x = x.state
    return isinstance(x, jax.core.Tracer)


def _any_traced(values: object) -> bool:
    return any(map(is_traced, jax.tree_util.tree_leaves(values)))


def _captured(f: Callable[..., object], seen: set[int]) -> Iterator[object]:
    """The values that a function refers to, and those that functions among them do."""
    for cell in getattr(f, "__closure__", None) or ():
        try:
            value = cell.cell_contents
        except ValueError:  # a variable that is assigned later
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if callable(value) and hasattr(value, "__closure__"):
            yield from _captured(value, seen)
        else:
            yield value


def is_concrete(state: object, *functions: Callable[..., object]) -> bool:
    """Whether JAX traces neither a state nor what functions refer to."""
    if _any_traced(state):
        return False
    return not any(_any_traced(v) for f in functions for v in _captured(f, set()))


def watched(body: Callable[..., object]) -> Callable[..., Any]:
    """The body, with whether it rejects the draw beside its results: None if nothing in it does."""

    def run(*state: object) -> tuple[Any, Any]:
        with collected() as found:
            return body(*state), found.take()

    return run


def settled(out: T, flag: Any) -> T:
    """What lifted code results in, once its rejections are handed on: `flag` tells of one, or of all its runs."""
    if flag is not None:
        refuse(jnp.any(flag), rejected)
    return out


def asked_here() -> Callable[[Any], Any]:
    """What takes a condition to whether it holds where this code is asked for: elsewhere a loop might never end."""
    around = conditions_around()
    return lambda condition: reduce(operator.and_, around, condition)


def conditions_around() -> list[jax.Array]:
    """The conditions under which this code runs where JAX maps it, which runs all of it everywhere."""
    return [(jnp.asarray(c) != 0) == side for c, side in lifted_under() or ()]


def asked_of(body: Callable[..., State]) -> Callable[..., State]:
    """The body of a loop as a function that is told whether the loop goes on.

    Where it is mapped over lanes or draws it runs until the last of them is done, and what is in it must not wait for
    those that are.
    """

    def run(goes_on: object, *arguments: object) -> State:
        with lifting((goes_on, True)):
            return body(*arguments)

    return run
