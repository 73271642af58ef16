"""Draws of discrete variables, and their most probable values, from what the sums over them leave."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace, Real
from ..random.base import Random
from . import alone, chained, compounded, convolved, distinguished, swept
from .cases import Cases
from .chained import Choose, SummedChains
from .compounds import Compounds
from .elimination import Elimination, largest, log_sum_exp
from .problem import Problem


def drawn(problem: Problem, random: Random) -> Any:
    """Positions on their axes, one per element, of one draw from the law that the terms are the logarithms of."""
    return _backward(problem, log_sum_exp, _inverted, random.uniform)


def most_probable(problem: Problem) -> Any:
    """The positions of the largest term."""
    return _backward(problem, largest, lambda xp, logs, u: xp.argmax(logs, axis=-1), np.zeros)


def _inverted(xp: Namespace, logs: Real, u: Any) -> Array:
    """The first position at which the sums of the weights exceed u times their total."""
    most = xp.max(logs, axis=-1, keepdims=True)
    sums = xp.cumsum(xp.exp(logs - xp.where(xp.isfinite(most), most, 0.0)), axis=-1)
    sums, u = xp.convert((sums, u))
    return xp.sum(xp.integer(sums[..., :-1] <= u[..., None] * sums[..., -1:]), axis=-1)


def _backward(problem: Problem, reduce: Any, choose: Choose, uniform: Callable[[tuple[int, ...]], object]) -> Any:
    """The elements in the order against that of their elimination, each given its neighbours."""
    elimination = Elimination(problem, reduce, components=False)  # each of those is drawn by itself
    xp, summed = problem.xp, elimination.run()[1]
    values: Any = np.maximum(elimination.known, 0)
    values = np.concatenate([values, np.zeros(len(elimination.kinds) - len(values), int)])
    for s in reversed(summed):
        if isinstance(s, Compounds):
            values = compounded.with_members(xp, s, values)
            continue
        if isinstance(s, Cases):
            values = distinguished.with_members(xp, s, values)
            continue
        if isinstance(s, SummedChains):
            values = chained.with_chains(xp, s, values, choose, uniform)
            continue
        if isinstance(s, convolved.SummedTallies):
            values = convolved.drawn(xp, s, values, choose, uniform)
            continue
        if isinstance(s, swept.SummedSweep):
            for step, found in zip(s.sweep.steps, swept.positions(xp, s, choose, uniform)):
                values = xp.at_set(values, step.elements.reshape(-1), xp.reshape(found, (step.elements.size,)))
            continue
        values = alone.with_elements(xp, s, elimination.stands_for, values, choose, uniform)
    return values[: len(problem.kinds)]
