"""Bounds, and offset with multiplier. Source: Stan Reference Manual, "Lower bounded scalar" to "Affinely transformed".

Infinite bounds are no bounds, as in Stan. An absent offset is 0, an absent multiplier 1.
"""
from __future__ import annotations

from types import ModuleType
from typing import Any

from . import Constraint, add


def _same(shape: tuple[int, ...], *arguments: Any) -> tuple[int, ...]:
    return shape


def _lower(xp: ModuleType, x: Any, lower: Any) -> tuple[Any, Any]:
    bounded = xp.asarray(lower) > -xp.inf
    safe = xp.where(bounded, lower, 0.0)
    return xp.where(bounded, xp.exp(x) + safe, x), xp.where(bounded, x, 0.0)


def _lower_inverse(xp: ModuleType, y: Any, lower: Any) -> Any:
    bounded = xp.asarray(lower) > -xp.inf
    return xp.where(bounded, xp.log(xp.where(bounded, y - lower, 1.0)), y)


LOWER = add(
    Constraint(
        "lower", "greater than or equal to {lower}", 0, 0, _lower, _lower_inverse,
        lambda xp, y, lower: y >= lower, _same, ("lower",),
    )
)  # fmt: skip


def _upper(xp: ModuleType, x: Any, upper: Any) -> tuple[Any, Any]:
    bounded = xp.asarray(upper) < xp.inf
    safe = xp.where(bounded, upper, 0.0)
    return xp.where(bounded, safe - xp.exp(x), x), xp.where(bounded, x, 0.0)


def _upper_inverse(xp: ModuleType, y: Any, upper: Any) -> Any:
    bounded = xp.asarray(upper) < xp.inf
    return xp.where(bounded, xp.log(xp.where(bounded, upper - y, 1.0)), y)


UPPER = add(
    Constraint(
        "upper", "less than or equal to {upper}", 0, 0, _upper, _upper_inverse,
        lambda xp, y, upper: y <= upper, _same, ("upper",),
    )
)  # fmt: skip


def _bounds(xp: ModuleType, x: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    low, high = xp.asarray(lower) > -xp.inf, xp.asarray(upper) < xp.inf
    both = low & high
    a, b = xp.where(both, lower, 0.0), xp.where(both, upper, 1.0)
    # log of the derivative (b - a) inv_logit(x) inv_logit(-x)
    log_jacobian = xp.log(b - a) - xp.logaddexp(0.0, x) - xp.logaddexp(0.0, -x)
    only_low, low_jacobian = _lower(xp, x, xp.where(both, -xp.inf, lower))
    only_high, high_jacobian = _upper(xp, x, xp.where(both, xp.inf, upper))
    one, one_jacobian = xp.where(low, only_low, only_high), xp.where(low, low_jacobian, high_jacobian)
    return xp.where(both, a + (b - a) * xp.expit(x), one), xp.where(both, log_jacobian, one_jacobian)


def _bounds_inverse(xp: ModuleType, y: Any, lower: Any, upper: Any) -> Any:
    low, high = xp.asarray(lower) > -xp.inf, xp.asarray(upper) < xp.inf
    both = low & high
    a, b = xp.where(both, lower, 0.0), xp.where(both, upper, 1.0)
    inside = xp.where(both, y, 0.5)
    one = xp.where(low, _lower_inverse(xp, y, xp.where(both, -xp.inf, lower)),
                   _upper_inverse(xp, y, xp.where(both, xp.inf, upper)))  # fmt: skip
    return xp.where(both, xp.logit((inside - a) / (b - a)), one)


BOUNDS = add(
    Constraint(
        "lower_upper", "in the interval [{lower}, {upper}]", 0, 0, _bounds, _bounds_inverse,
        lambda xp, y, lower, upper: (y >= lower) & (y <= upper), _same, ("lower", "upper"),
    )
)  # fmt: skip


def _affine(xp: ModuleType, x: Any, offset: Any, multiplier: Any) -> tuple[Any, Any]:
    return offset + multiplier * x, xp.log(xp.asarray(multiplier)) + 0.0 * x


OFFSET_MULTIPLIER = add(
    Constraint(
        "offset_multiplier", "finite", 0, 0, _affine,
        lambda xp, y, offset, multiplier: (y - offset) / multiplier,
        lambda xp, y, offset, multiplier: ~xp.isnan(y), _same, ("offset", "multiplier"),
    )
)  # fmt: skip
