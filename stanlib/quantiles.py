"""Draws from truncated laws, by inverting the distribution function on the interval that is left of them.

Probabilities are logarithms, above the median those of the upper tail: a law that is cut far out keeps its shape.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .arrays.base import Namespace
from .distribution import Distribution

_HALVINGS = 60
_RANGE = 60.0  # the distances from a bound that are searched: exp(-60) to exp(60)
_WHOLE = 2.0**31  # outcomes of discrete laws are searched from minus this to this
_WHOLE_HALVINGS = 33


def truncated_quantile(
    xp: Namespace, record: Distribution, arguments: tuple[Any, ...], lower: Any, upper: Any, share: Any
) -> Any:
    """The point between the bounds below which lies the given share of the probability between them.

    Args:
        record: a univariate law with a distribution function; of a discrete one the least integer at or below which it
            lies.
        lower, upper: the bounds, None where there is none; both belong to the interval.
        share: numbers from (0, 1), of the shape of the result.
    """
    tails = _Tails(xp, record, arguments)
    if record.density == "lpmf":
        return _whole_quantile(xp, tails, lower, upper, share)
    is_below = tails.searching(lower, upper, share)

    def halve(ends: tuple[Any, Any]) -> tuple[Any, Any]:
        middle = 0.5 * (ends[0] + ends[1])
        below = is_below(_point(xp, lower, upper, middle))
        return xp.where(below, middle, ends[0]), xp.where(below, ends[1], middle)

    ends = (0.0 * share, 0.0 * share + 1.0)
    first, last = xp.iterate(halve, ends, _HALVINGS)
    return _point(xp, lower, upper, 0.5 * (first + last))


def _whole_quantile(xp: Namespace, tails: "_Tails", lower: Any, upper: Any, share: Any) -> Any:
    """The same of a discrete law: the first of two neighbours is below the quantile, the last is not."""
    before = None if lower is None else lower - 1
    is_below = tails.searching(before, upper, share)

    def halve(ends: tuple[Any, Any]) -> tuple[Any, Any]:
        middle = xp.floor(0.5 * (ends[0] + ends[1]))
        below = is_below(middle)
        return xp.where(below, middle, ends[0]), xp.where(below, ends[1], middle)

    ends = (0.0 * share + (-_WHOLE if before is None else before), 0.0 * share + (_WHOLE if upper is None else upper))
    _, last = xp.iterate(halve, ends, _WHOLE_HALVINGS)
    return xp.integer(last)


@dataclass
class _Tails:
    """The logarithms of the probabilities below and above points."""

    xp: Namespace
    record: Distribution
    arguments: tuple[Any, ...]

    def below(self, y: Any) -> Any:
        return self.record.methods["lcdf"](self.xp, *self.xp.convert((y, *self.arguments)))

    def above(self, y: Any) -> Any:
        return self.record.methods["lccdf"](self.xp, *self.xp.convert((y, *self.arguments)))

    def searching(self, lower: Any, upper: Any, share: Any) -> Any:
        """A function that tells which points are below the quantile, by the smaller tail of the lower bound."""
        xp = self.xp
        log_share, log_rest = xp.log(share), xp.log1p(-share)
        part = log_share if upper is None else log_share + self.below(upper)
        if lower is None:
            return lambda y: self.below(y) < part
        cut = self.below(lower)
        wanted = xp.logaddexp(log_rest + cut, part)
        over = log_rest + self.above(lower)
        left = over if upper is None else xp.logaddexp(over, log_share + self.above(upper))
        is_upper = cut > -math.log(2.0)
        return lambda y: xp.where(is_upper, self.above(y) > left, self.below(y) < wanted)


def excess(
    xp: Namespace, record: Distribution, arguments: tuple[Any, ...], lower: Any, upper: Any, share: Any, point: Any
) -> Any:
    """How much more probability lies below a point than below the quantile: 0 there, with derivatives of its own."""

    def cdf(y: Any) -> Any:
        return record.methods["cdf"](xp, *xp.convert((y, *arguments)))

    below = 0.0 if lower is None else cdf(lower)
    above = 1.0 if upper is None else cdf(upper)
    return cdf(point) - (below + share * (above - below))


def _point(xp: Namespace, lower: Any, upper: Any, place: Any) -> Any:
    """The points of the interval as places from 0 to 1, in their order."""
    if lower is not None and upper is not None:
        return lower + place * (upper - lower)
    if lower is not None:
        return lower + xp.exp(_RANGE * (2.0 * place - 1.0))
    return upper - xp.exp(_RANGE * (1.0 - 2.0 * place))
