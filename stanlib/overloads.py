"""Overload resolution: which signature a call means, by stanc's rules.

A candidate matches when every argument has the parameter's type or can be promoted to it, and no argument that may
depend on parameters meets a `data` parameter. The match with the fewest promotions wins; two with equally few are
ambiguous. Source: Stan Reference Manual, "Function overloading" and "Type inference".
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from .dataclass import dataclass
from .types import Function, Level, Parameter, Tuple, Type, any_level, promotion_cost, unwind


@dataclass(frozen=True)
class Given:
    """An argument as it was passed: its type and whether it may depend on parameters."""

    type: Type
    level: Level = True


@dataclass(frozen=True)
class Mismatch:
    """Why a candidate does not match: `position` is the argument's (from 0), None for a wrong number of arguments."""

    position: int | None
    expected: object = None
    given: object = None
    reason: str = "type"  # type, data, count, suffix, result, arguments
    inner: "Mismatch | None" = None


C = TypeVar("C")


@dataclass(frozen=True)
class Resolution(Generic[C]):
    """The outcome: `match` if exactly one candidate is best, `ambiguous` if several are, else why each one failed."""

    match: C | None = None
    ambiguous: tuple[C, ...] = ()
    failures: tuple[tuple[C, Mismatch], ...] = ()


def resolve(candidates: Sequence[tuple[C, tuple[Parameter, ...]]], given: Sequence[Given]) -> Resolution[C]:
    """Choose among candidates, each given with its parameters."""
    matches: list[tuple[int, C]] = []
    failures: list[tuple[C, Mismatch]] = []
    for candidate, parameters in candidates:
        cost = match(parameters, given)
        if isinstance(cost, Mismatch):
            failures.append((candidate, cost))
        else:
            matches.append((cost, candidate))
    if not matches:
        return Resolution(failures=tuple(failures))
    least = min(cost for cost, _ in matches)
    best = [c for cost, c in matches if cost == least]
    return Resolution(match=best[0]) if len(best) == 1 else Resolution(ambiguous=tuple(best))


def match(parameters: Sequence[Parameter], given: Sequence[Given], promote: bool = True) -> int | Mismatch:
    """The number of promotions that make the arguments fit, or why they don't."""
    if len(parameters) != len(given):
        return Mismatch(None, len(parameters), len(given), "count")
    total = 0
    for i, (p, g) in enumerate(zip(parameters, given)):
        cost = _argument_cost(p.type, g.type, promote)
        if isinstance(cost, Mismatch):
            return Mismatch(i, p.type, g.type, cost.reason, cost.inner)
        if p.data_only and any_level(g.level):
            return Mismatch(i, p, g, "data")
        total += cost
    return total


def _argument_cost(to: Type, given: Type, promote: bool) -> int | Mismatch:
    if isinstance(to, Function) and isinstance(given, Function):
        reason = function_mismatch(to, given)
        return 0 if reason is None else Mismatch(0, to, given, reason.reason, reason)
    cost = promotion_cost(to, given) if promote else (0 if to == given else None)
    return Mismatch(0, to, given) if cost is None else cost


def function_mismatch(to: Function, given: Function) -> Mismatch | None:
    """Why a function can't be passed where one of type `to` is asked for; no promotions inside function types."""
    if to.suffix != given.suffix:
        return Mismatch(None, to.suffix, given.suffix, "suffix")
    if to.result != given.result:
        return Mismatch(None, to.result, given.result, "result")
    wanted = [Given(p.type, not p.data_only) for p in to.parameters]
    inner = match(given.parameters, wanted, promote=False)
    return Mismatch(None, to, given, "arguments", inner) if isinstance(inner, Mismatch) else None


def contains_tuple(t: Type) -> bool:
    """Whether a tuple stands anywhere in the type."""
    return isinstance(unwind(t)[0], Tuple)
