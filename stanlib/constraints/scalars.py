"""Bounds, and offset with multiplier. Source: Stan Reference Manual, "Lower bounded scalar" to "Affinely transformed".

Infinite bounds are no bounds, as in Stan. An absent offset is 0, an absent multiplier 1.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays.base import Array, Namespace, Real
from . import AFFINE, Constraint, add


def _same(shape: tuple[int, ...], *arguments: object) -> tuple[int, ...]:
    return shape


def _select(xp: Namespace, condition: Array, f: Callable[..., Array], otherwise: Array, *args: Real) -> Array:
    """f(*args) where the condition holds, with zeros in the place of what doesn't concern it, `otherwise` elsewhere."""
    if xp.is_concrete(condition) and xp.all(condition):
        return f(*args)
    return xp.where(condition, f(*(xp.where(condition, a, 0.0) for a in args)), otherwise)


def _either(xp: Namespace, condition: Array, x: Array, otherwise: float) -> Array:
    """x where the condition holds."""
    return x if xp.is_concrete(condition) and xp.all(condition) else xp.where(condition, x, otherwise)


def _shifted(x: Array, offset: Real) -> Array:
    """x + offset; 0 in a declaration needs no addition."""
    return x if type(offset) is float and offset == 0.0 else x + offset


def _lower_value(xp: Namespace, x: Array, lower: Array) -> Array:
    return _select(xp, xp.asarray(lower) > -xp.inf, lambda x, lower: _shifted(xp.exp(x), lower), x, x, lower)


def _lower_jacobian(xp: Namespace, x: Array, lower: Array) -> Array:
    return _either(xp, xp.asarray(lower) > -xp.inf, x, 0.0)


def _lower(xp: Namespace, x: Array, lower: Array) -> tuple[Any, Any]:
    return _lower_value(xp, x, lower), _lower_jacobian(xp, x, lower)


def _lower_inverse(xp: Namespace, y: Array, lower: Array) -> Array:
    bounded = xp.asarray(lower) > -xp.inf
    return xp.where(bounded, xp.log(xp.where(bounded, y - lower, 1.0)), y)


LOWER = add(
    Constraint(
        "lower", "greater than or equal to {lower}", 0, 0, _lower, _lower_inverse,
        lambda xp, y, lower: y >= lower, _same, ("lower",), value=_lower_value, jacobian=_lower_jacobian,
    )
)  # fmt: skip


def _upper_value(xp: Namespace, x: Array, upper: Array) -> Array:
    return _select(xp, xp.asarray(upper) < xp.inf, lambda x, upper: upper - xp.exp(x), x, x, upper)


def _upper_jacobian(xp: Namespace, x: Array, upper: Array) -> Array:
    return _either(xp, xp.asarray(upper) < xp.inf, x, 0.0)


def _upper(xp: Namespace, x: Array, upper: Array) -> tuple[Any, Any]:
    return _upper_value(xp, x, upper), _upper_jacobian(xp, x, upper)


def _upper_inverse(xp: Namespace, y: Array, upper: Array) -> Array:
    bounded = xp.asarray(upper) < xp.inf
    return xp.where(bounded, xp.log(xp.where(bounded, upper - y, 1.0)), y)


UPPER = add(
    Constraint(
        "upper", "less than or equal to {upper}", 0, 0, _upper, _upper_inverse,
        lambda xp, y, upper: y <= upper, _same, ("upper",), value=_upper_value, jacobian=_upper_jacobian,
    )
)  # fmt: skip


def _bounds(xp: Namespace, x: Array, lower: Array, upper: Array) -> tuple[Any, Any]:
    """Between finite bounds by the logistic function; with an infinite one as with the other one alone."""
    x, lower, upper = xp.convert((x, lower, upper))
    both = (lower > -xp.inf) & (upper < xp.inf)
    if xp.is_concrete(both) and xp.all(both):
        return _between(xp, x, lower, upper)
    value, log_jacobian = _between(xp, xp.where(both, x, 0.0), xp.where(both, lower, 0.0), xp.where(both, upper, 1.0))
    one, one_jacobian = _lower(xp, xp.where(both, 0.0, x), xp.where(both, -xp.inf, lower))
    one, more = _upper(xp, one, xp.where(both, xp.inf, upper))
    return xp.where(both, value, one), xp.where(both, log_jacobian, one_jacobian + more)


def _between(xp: Namespace, x: Array, lower: Array, upper: Array) -> tuple[Any, Any]:
    width = xp.asarray(upper) - lower
    # the log of the derivative, width inv_logit(x) inv_logit(-x)
    log_jacobian = xp.log(width) - xp.logaddexp(0.0, x) - xp.logaddexp(0.0, -x)
    return lower + width * xp.expit(x), log_jacobian


def _bounds_inverse(xp: Namespace, y: Array, lower: Array, upper: Array) -> Array:
    y, lower, upper = xp.convert((y, lower, upper))
    low, high = lower > -xp.inf, upper < xp.inf
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


def _affine_value(xp: Namespace, x: Array, offset: Array, multiplier: Array) -> Array:
    return _shifted(multiplier * x, offset)


def _affine_jacobian(xp: Namespace, x: Array, offset: Array, multiplier: Array) -> Array:
    return xp.log(xp.asarray(multiplier)) + 0.0 * x


def _affine(xp: Namespace, x: Array, offset: Array, multiplier: Array) -> tuple[Array, Array]:
    return _affine_value(xp, x, offset, multiplier), _affine_jacobian(xp, x, offset, multiplier)


OFFSET_MULTIPLIER = add(
    Constraint(
        AFFINE, "finite", 0, 0, _affine,
        lambda xp, y, offset, multiplier: (y - offset) / multiplier,
        lambda xp, y, offset, multiplier: ~xp.isnan(y), _same, ("offset", "multiplier"),
        value=_affine_value, jacobian=_affine_jacobian,
    )
)  # fmt: skip
