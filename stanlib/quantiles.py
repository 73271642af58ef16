"""Draws from truncated laws, by inverting the distribution function on the interval that is left of them.

Probabilities are logarithms, above the median those of the upper tail: a law that is cut far out keeps its shape.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays.base import Namespace
from .dataclass import dataclass
from .distribution import Distribution

_STEPS = 60  # as many as halving takes; a single number that is computed at once takes about thirteen
_CLOSE = 2.0  # of roundings, in the place or the probability
_RANGE = 60.0  # the distances from a bound that are searched: exp(-60) to exp(60)
_WHOLE = 2.0**31  # outcomes of discrete laws are searched from minus this to this
_WHOLE_HALVINGS = 33
_Bracket = tuple[Any, Any, Any, Any, Any, Any, Any]  # two points around a zero, one left, their values; what is next


@np.errstate(all="ignore")  # where both probabilities are 0 their difference is no number: such points are not below
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
    over = tails.searching(lower, upper, share)
    place = _root(xp, lambda p: over(_point(xp, lower, upper, p)), 0.0 * share, 0.0 * share + 1.0)
    return _point(xp, lower, upper, place)


def _root(xp: Namespace, f: Callable[[Any], Any], first: Any, last: Any) -> object:
    """Where an increasing function changes its sign between two points, in every element.

    Each step takes the inverse quadratic through three points where it can be trusted, and half the interval elsewhere.
    Source: Chandrupatla (1997), "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
    function without using derivatives", Advances in Engineering Software 28.
    """
    close = _CLOSE * xp.rounding(first)

    def step(state: _Bracket) -> _Bracket:
        a, b, _, fa, fb, _, t = state
        x = a + t * (b - a)
        fx = f(x)
        same = (fx < 0) == (fa < 0)
        b, fb, c, fc = (xp.where(same, *pair) for pair in ((b, a), (fb, fa), (a, b), (fa, fb)))
        return x, b, c, fx, fb, fc, _next_place(xp, close, x, b, c, fx, fb, fc)

    def is_close(state: _Bracket) -> bool:
        return bool(xp.all((abs(state[0] - state[1]) <= close * abs(state[0])) | (abs(state[3]) < close)))

    start = (first, last, first, f(first), f(last), f(first), 0.0 * first + 0.5)
    x, other, _, at, beyond, _, _ = xp.iterate(step, start, _STEPS, is_close)
    return xp.where(abs(beyond) < abs(at), other, x)


def _next_place(xp: Namespace, close: float, a: Any, b: Any, c: Any, fa: Any, fb: Any, fc: Any) -> object:
    """Where between a and b, a function is evaluated next, from 0 to 1: a is the last point, c the one left."""
    width, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
    inverse = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    is_smooth = (height**2 < width) & ((1.0 - height) ** 2 < 1.0 - width)
    t = xp.where(is_smooth & (inverse > 0.0) & (inverse < 1.0), inverse, 0.5)
    least = xp.minimum(0.5 * close * abs(a) / abs(b - a), 0.5)
    return xp.minimum(xp.maximum(t, least), 1.0 - least)


def _whole_quantile(xp: Namespace, tails: "_Tails", lower: Any, upper: Any, share: Any) -> object:
    """The same of a discrete law: the first of two neighbours is below the quantile, the last is not."""
    before = None if lower is None else lower - 1
    over = tails.searching(before, upper, share)

    def halve(ends: tuple[Any, Any]) -> tuple[object, object]:
        middle = xp.floor(0.5 * (ends[0] + ends[1]))
        below = over(middle) < 0
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

    def below(self, y: object) -> Any:
        return self.record.methods["lcdf"](self.xp, *self.xp.convert((y, *self.arguments)))

    def above(self, y: object) -> Any:
        return self.record.methods["lccdf"](self.xp, *self.xp.convert((y, *self.arguments)))

    def searching(self, lower: Any, upper: Any, share: Any) -> Any:
        """A function of points: negative below the quantile, by the smaller tail of the lower bound."""
        xp = self.xp
        log_share, log_rest = xp.log(share), xp.log1p(-share)
        part = log_share if upper is None else log_share + self.below(upper)
        if lower is None:
            return lambda y: self.below(y) - part
        cut = self.below(lower)
        wanted = xp.logaddexp(log_rest + cut, part)
        over = log_rest + self.above(lower)
        left = over if upper is None else xp.logaddexp(over, log_share + self.above(upper))
        is_upper = cut > -math.log(2.0)
        return lambda y: xp.where(is_upper, left - self.above(y), self.below(y) - wanted)


def excess(
    xp: Namespace, record: Distribution, arguments: tuple[Any, ...], lower: Any, upper: Any, share: Any, point: Any
) -> Any:
    """How much more probability lies below a point than below the quantile: 0 there, with derivatives of its own."""

    def cdf(y: object) -> Any:
        return record.methods["cdf"](xp, *xp.convert((y, *arguments)))

    below = 0.0 if lower is None else cdf(lower)
    above = 1.0 if upper is None else cdf(upper)
    return cdf(point) - (below + share * (above - below))


def _point(xp: Namespace, lower: Any, upper: Any, place: Any) -> object:
    """The points of the interval as places from 0 to 1, in their order."""
    if lower is not None and upper is not None:
        return lower + place * (upper - lower)
    if lower is not None:
        return lower + xp.exp(_RANGE * (2.0 * place - 1.0))
    return upper - xp.exp(_RANGE * (1.0 - 2.0 * place))
