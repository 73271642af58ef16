"""Mathematical constants, special values and their tests.

Source: Stan Functions Reference, "Mathematical constants", "Special values" and "Logical functions".
"""
from __future__ import annotations

import math
import sys
from collections.abc import Callable

from ..arrays import is_of_data, named
from ..arrays.base import Array, Namespace, Real
from ..registry import stan_function
from ..unknown_outcomes import are_symbols


@stan_function("real pi()", examples=[()])
def pi(xp: Namespace) -> Real:
    return math.pi


@stan_function("real e()", examples=[()])
def e(xp: Namespace) -> Real:
    return math.e


@stan_function("real sqrt2()", examples=[()])
def sqrt2(xp: Namespace) -> Real:
    return math.sqrt(2)


@stan_function("real log2()", examples=[()])
def log_of_2(xp: Namespace) -> Real:
    return math.log(2)


@stan_function("real log10()", examples=[()])
def log_of_10(xp: Namespace) -> Real:
    return math.log(10)


@stan_function("real not_a_number()", examples=[()])
def not_a_number(xp: Namespace) -> Real:
    return math.nan


@stan_function("real positive_infinity()", examples=[()])
def positive_infinity(xp: Namespace) -> Real:
    return math.inf


@stan_function("real negative_infinity()", examples=[()])
def negative_infinity(xp: Namespace) -> Real:
    return -math.inf


@stan_function("real machine_precision()", examples=[()])
def machine_precision(xp: Namespace) -> Real:
    return sys.float_info.epsilon


def as_int(xp: Namespace, truth: Array) -> Array | int:
    """0 or 1: a Python int where the value is known."""
    return int(truth) if is_of_data((truth,)) and xp.ndim(truth) == 0 else xp.integer(truth)


@stan_function("int is_inf(real x)", elementwise=True, examples=[(0.5,), (math.inf,)])
def is_inf(xp: Namespace, x: Array) -> Array | int:
    return _as_special(xp, x, xp.isinf)


@stan_function("int is_nan(real x)", elementwise=True, examples=[(0.5,), (math.nan,)])
def is_nan(xp: Namespace, x: Array) -> Array | int:
    return _as_special(xp, x, xp.isnan)


def _as_special(xp: Namespace, x: Array, is_special: Callable[[Array], Array]) -> Array | int:
    """Whether a number is one that is infinite, or none: never one that only stands for outcomes to be predicted."""
    if are_symbols() and not is_of_data((x,)):
        return named("numpy").integer(named("numpy").zeros(xp.shape(x)))
    return as_int(xp, is_special(x))
