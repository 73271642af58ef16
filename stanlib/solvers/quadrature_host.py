"""Integrals in Python, on NumPy arrays and PyTorch tensors.

PyTorch records the last sum: its derivatives are those of the rule at the points that the value needed.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays import numpy as xnp
from ..arrays.base import Array, Namespace
from ..errors import StanDomainError
from . import quadrature
from .calculus_host import Lift, plain, records, without_gradient
from .quadrature import Interval
from .tolerance import Tolerance

Rule = tuple[Any, Any, Any]  # points, their distances to the nearer end, their weights


def integrate(
    f: Callable[..., Any], a: Array, b: Array, arguments: tuple[Any, ...], tolerance: Tolerance, method: str
) -> Any:
    """The integral of f(x, xc, *arguments) from a to b; where it doesn't converge, NaN on PyTorch.

    Raises:
        StanDomainError: the same on NumPy.
    """
    xp = namespace((a, b, arguments))
    lift = Lift(xp, a, b, arguments)
    arguments = lift.reals(arguments)
    ends = tuple(float(plain(x)) for x in (a, b))

    def value(x: Array, xc: Any) -> Any:
        return lift(f(lift(x), lift(xc), *arguments))

    known = lambda x, xc: float(plain(value(x, xc)))
    try:
        with without_gradient(xp), np.errstate(all="ignore"):
            found = [METHODS[method](known, p, tolerance) for p in quadrature.pieces(*ends)]
    except StanDomainError:
        if xp.LIBRARY == "numpy":
            raise
        return lift(0.0) * xp.nan
    total = lift(sum(v for v, _ in found))
    if records(xp, arguments):
        sums = [w * value(x, xc) for _, rule in found for x, xc, w in zip(*rule) if w]
        recorded: Any = sum(sums, lift(0.0))  # a tensor
        total = total + (recorded - recorded.detach())
    return total + _of_ends(xp, value, a, b)


def _of_ends(xp: Namespace, value: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """0, with the derivatives of the integral in its bounds where these are recorded."""
    moved = 0.0
    for x, sign in zip((a, b), (-1, 1)):
        if records(xp, x):
            change = x - x.detach()  # at the middle of the change, second derivatives are right, too
            moved = moved + sign * change * value(x.detach() + change / 2, 0.0)
    return moved


def double_exponential(f: Callable[[float, float], float], piece: Interval, tolerance: Tolerance) -> tuple[float, Rule]:
    """The integral, and the rule that gives it."""
    first, distance, complete = quadrature.chunks(quadrature.REACH[8])
    rules: list[Rule] = []
    total = norm = last = 0.0
    for i in range(len(first)):
        nodes = first[i] + distance[i] * np.arange(quadrature.FIRST_NODES)
        x, xc, weight = quadrature.substitute(xnp, nodes, piece)
        values = np.array([f(*point) for point in zip(x, xc)])
        terms = np.asarray(quadrature.weighted(xnp, piece, x, weight, values))
        rules.append((x, xc, np.where(terms == 0, 0.0, weight)))
        total, norm = total + terms.sum(), norm + np.abs(terms).sum()
        if not np.isfinite(total):
            break
        h, now = complete[i], complete[i] * total
        if h and i and tolerance.met(np, abs(now - last), h * norm):
            x, xc, weight = (np.concatenate(parts) for parts in zip(*rules))
            return now, (x, xc, h * weight)
        last = now if h else last
    raise _failed()


def gauss_kronrod(f: Callable[[float, float], float], piece: Interval, tolerance: Tolerance) -> tuple[float, Rule]:
    """The integral, and the rule that gives it; the interval with the largest error is cut in two until they are small.

    Raises:
        StanDomainError: where the errors don't become as small as is asked for.
    """
    low, high, points = quadrature.rational(piece)
    most = min(quadrature.MOST_INTERVALS, tolerance.most_intervals)

    def rule(low: float, high: float) -> tuple[Any, ...]:
        half = (high - low) / 2
        x, weight = points(xnp, low + half * (1 + quadrature.NODES))
        terms = half * weight * np.array([f(p, np.nan) for p in x])
        fine = quadrature.KRONROD @ terms
        error, norm = abs(fine - quadrature.GAUSS @ terms), quadrature.KRONROD @ np.abs(terms)
        return error, fine, norm, (low, high), (x, np.full(21, np.nan), half * weight * quadrature.KRONROD)

    parts = [rule(low, high)]
    while True:
        error, value, norm = (sum(p[i] for p in parts) for i in range(3))
        if tolerance.met(np, error, norm):
            x, xc, weight = (np.concatenate(xs) for xs in zip(*(p[4] for p in parts)))
            return value, (x, xc, weight)
        if len(parts) >= most or not np.isfinite(value):
            raise _failed()
        parts.sort(key=lambda p: p[0])
        low, high = parts.pop()[3]
        parts += [rule(low, (low + high) / 2), rule((low + high) / 2, high)]


def _failed() -> StanDomainError:
    return StanDomainError("the integral does not converge to the tolerance that is asked for")


METHODS: dict[str, Callable[..., tuple[float, Rule]]] = {
    "double_exponential": double_exponential, "gauss_kronrod": gauss_kronrod,
}  # fmt: skip
