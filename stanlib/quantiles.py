"""Draws from truncated laws, by inverting the distribution function on the interval that is left of them."""
from __future__ import annotations

from typing import Any

from .arrays.base import Namespace
from .distribution import Distribution

_HALVINGS = 60
_RANGE = 60.0  # the distances from a bound that are searched: exp(-60) to exp(60)


def truncated_quantile(
    xp: Namespace, record: Distribution, arguments: tuple[Any, ...], lower: Any, upper: Any, share: Any
) -> Any:
    """The point between the bounds below which lies the given share of the probability between them.

    Args:
        record: a univariate continuous law with a distribution function.
        lower, upper: the bounds, None where there is none.
        share: numbers from (0, 1), of the shape of the result.
    """

    wanted = _share_below(xp, record, arguments, lower, upper, share)

    def cdf(y: Any) -> Any:
        return record.methods["cdf"](xp, *xp.convert((y, *arguments)))

    def halve(ends: tuple[Any, Any]) -> tuple[Any, Any]:
        middle = 0.5 * (ends[0] + ends[1])
        is_below = cdf(_point(xp, lower, upper, middle)) < wanted
        return xp.where(is_below, middle, ends[0]), xp.where(is_below, ends[1], middle)

    ends = (0.0 * share, 0.0 * share + 1.0)
    first, last = xp.iterate(halve, ends, _HALVINGS)
    return _point(xp, lower, upper, 0.5 * (first + last))


def excess(
    xp: Namespace, record: Distribution, arguments: tuple[Any, ...], lower: Any, upper: Any, share: Any, point: Any
) -> Any:
    """How much more probability lies below a point than below the quantile: 0 there, with derivatives of its own."""
    below = record.methods["cdf"](xp, *xp.convert((point, *arguments)))
    return below - _share_below(xp, record, arguments, lower, upper, share)


def _share_below(
    xp: Namespace, record: Distribution, arguments: tuple[Any, ...], lower: Any, upper: Any, share: Any
) -> Any:
    """The probability of the whole law below the quantile."""

    def cdf(y: Any) -> Any:
        return record.methods["cdf"](xp, *xp.convert((y, *arguments)))

    below = 0.0 if lower is None else cdf(lower)
    above = 1.0 if upper is None else cdf(upper)
    return below + share * (above - below)


def _point(xp: Namespace, lower: Any, upper: Any, place: Any) -> Any:
    """The points of the interval as places from 0 to 1, in their order."""
    if lower is not None and upper is not None:
        return lower + place * (upper - lower)
    if lower is not None:
        return lower + xp.exp(_RANGE * (2.0 * place - 1.0))
    return upper - xp.exp(_RANGE * (1.0 - 2.0 * place))
