"""Loops and branches in Python, for the array libraries that run them as they stand."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .base import Array, Arrays


def loop(
    stack: Callable[[Sequence[Any]], object], step: Callable[..., Any], carry: Arrays, xs: Arrays,
    constants: Sequence[Any], reverse: bool,
) -> Any:  # fmt: skip
    """The scan of base.py, which stacks what the steps return with `stack`."""
    several = isinstance(xs, tuple)
    count = len(xs[0] if several else xs)
    collected: list[Any] = [None] * count
    for i in reversed(range(count)) if reverse else range(count):
        x = tuple(a[i] for a in xs) if several else xs[i]
        carry, collected[i] = step(carry, x, *constants)
    if not count:
        return carry, None
    if isinstance(collected[0], tuple):
        return carry, tuple(map(stack, zip(*collected)))
    return carry, stack(collected)


def linear_recurrence(stack: Callable[[Sequence[Any]], Any], growth: Any, added: Any, start: Any) -> Any:
    """r[t] = growth[t] r[t + 1] + added[t] for all t, (length, n), from the last, behind which r is `start`, (n,)."""

    def step(r: Any, x: Any) -> Any:
        r = x[0] * r + x[1]
        return r, r

    return loop(stack, step, start, (growth, added), (), True)[1]


def cond(predicate: Array, f: Callable[..., object], g: Callable[..., object], *args: Array) -> Any:
    return f(*args) if predicate else g(*args)
