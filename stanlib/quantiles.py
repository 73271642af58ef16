"""Draws from truncated laws, by inverting the distribution function on the interval that is left of them.

Probabilities are logarithms, above the median those of the upper tail: a law that is cut far out keeps its shape.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays.base import Array, Namespace, Real
from .closeness import is_double
from .dataclass import dataclass
from .distribution import Distribution

_STEPS = 75  # as many as halving takes; a single number that is computed at once takes about thirteen
_CLOSE = 2.0  # of roundings, in the place or the probability
_ALIKE = 4.0  # the ratio of two numbers of the same order of magnitude
_WHOLE = 2.0**31  # outcomes of discrete laws are searched from minus this to this
_WHOLE_HALVINGS = 33
_Bracket = tuple[Any, Any, Any, Any, Any, Any, Any]  # two points around a zero, one left, their values; what is next


@np.errstate(all="ignore")  # where both probabilities are 0 their difference is no number: such points are not below
def truncated_quantile(
    xp: Namespace, record: Distribution, arguments: tuple[object, ...], lower: object, upper: object, share: object
) -> Array:
    """The point between the bounds below which lies the given share of the probability between them.

    Args:
        record: a univariate law with a distribution function; of a discrete one the least integer at or below which it
            lies.
        lower, upper: the bounds, None where there is none, or infinite; both belong to the interval.
        share: numbers from (0, 1), of the shape of the result.

    Returns:
        Numbers of the interval; NaN where a continuous law has no probability there.
    """
    tails = _Tails(xp, record, arguments)
    if record.density == "lpmf":
        return _whole_quantile(xp, tails, lower, upper, share)
    if record.circular:
        lower, upper = -math.pi if lower is None else lower, math.pi if upper is None else upper
    over = tails.searching(lower, upper, share)
    first, last = (_finite(xp, share, b, e) for b, e in ((lower, -xp.inf), (upper, xp.inf)))
    found = xp.minimum(xp.maximum(_root(xp, over, first, last), first), last)
    return xp.where(xp.isnan(over(found)), xp.nan, found)


def _finite(xp: Namespace, like: Any, bound: Any, otherwise: float) -> Any:
    """A bound, None for an infinite one, as a number: the greatest power of two in its place."""
    most = 2.0 ** _greatest_exponent(xp, like)
    return 0.0 * like + xp.minimum(xp.maximum(otherwise if bound is None else bound, -most), most)


def _greatest_exponent(xp: Namespace, like: Any) -> int:
    return 1022 if is_double(xp, like) else 126


def _root(xp: Namespace, f: Callable[[Any], Any], first: Any, last: Any) -> Array:
    """Where an increasing function changes its sign between two points, in every element.

    While the ends of the interval are of different orders of magnitude, a step takes a number between these; then the
    inverse quadratic through three points where it can be trusted, and half the interval elsewhere.
    Source: Chandrupatla (1997), "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
    function without using derivatives", Advances in Engineering Software 28.
    """
    close = _CLOSE * xp.rounding(first)

    def step(state: _Bracket) -> _Bracket:
        a, b, _, fa, fb, _, t = state
        x = xp.where(_are_alike(xp, a, b), a + t * (b - a), _between_magnitudes(xp, a, b))
        fx = f(x)
        same = (fx < 0) == (fa < 0)
        b, fb, c, fc = (xp.where(same, *pair) for pair in ((b, a), (fb, fa), (a, b), (fa, fb)))
        return x, b, c, fx, fb, fc, _next_place(xp, close, x, b, c, fx, fb, fc)

    def is_close(state: _Bracket) -> bool:
        return bool(xp.all((abs(state[0] - state[1]) <= close * abs(state[0])) | (abs(state[3]) < close)))

    below = 0.0 * first - xp.inf
    start = (first, last, first, below, -below, below, 0.0 * first + 0.5)
    x, other, _, at, beyond, _, _ = xp.iterate(step, start, _STEPS, is_close)
    return xp.where(abs(beyond) < abs(at), other, x)


def _are_alike(xp: Namespace, a: Real, b: Real) -> Array:
    return (xp.maximum(a, b) <= _ALIKE * xp.minimum(a, b)) | (xp.minimum(a, b) >= _ALIKE * xp.maximum(a, b))


def _between_magnitudes(xp: Namespace, a: Any, b: Any) -> Array:
    """A number between two: 0 if their signs differ, else of an exponent between theirs, small ones before great ones.

    The exponents are halved by their arcsinh, as they may be from -1022 to 1023, and seldom are.
    """
    tiny = 2.0 ** -_greatest_exponent(xp, a)
    places = [xp.arcsinh(xp.log(xp.maximum(abs(x), tiny))) for x in (a, b)]
    size = xp.exp(xp.sinh(0.5 * (places[0] + places[1])))
    return xp.where(xp.minimum(a, b) >= 0, size, xp.where(xp.maximum(a, b) <= 0, -size, 0.0))


def _next_place(xp: Namespace, close: float, a: Any, b: Any, c: Any, fa: Any, fb: Any, fc: Any) -> object:
    """Where between a and b, a function is evaluated next, from 0 to 1: a is the last point, c the one left."""
    width, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
    inverse = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    is_smooth = (height**2 < width) & ((1.0 - height) ** 2 < 1.0 - width)
    t = xp.where(is_smooth & (inverse > 0.0) & (inverse < 1.0), inverse, 0.5)
    least = xp.minimum(0.5 * close * abs(a) / abs(b - a), 0.5)
    return xp.minimum(xp.maximum(t, least), 1.0 - least)


def _whole_quantile(xp: Namespace, tails: "_Tails", lower: Any, upper: Any, share: Any) -> Array:
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
    xp: Namespace, record: Distribution, arguments: tuple[object, ...], lower: object, upper: object, share: Real,
    point: Real
) -> Any:
    """How much more probability lies below a point than below the quantile: 0 there, with derivatives of its own."""

    def cdf(y: object) -> Any:
        return record.methods["cdf"](xp, *xp.convert((y, *arguments)))

    below = 0.0 if lower is None else cdf(lower)
    above = 1.0 if upper is None else cdf(upper)
    return cdf(point) - (below + share * (above - below))
