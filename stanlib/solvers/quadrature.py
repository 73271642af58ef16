"""Quadrature rules: double exponential substitutions, and Gauss and Kronrod's pair of 10 and 21 points.

The integrand takes a point and its signed distance to the nearer end of the interval, as Stan's do. Sources: H.
Takahasi and M. Mori, Publ. RIMS 9 (1974), 721-741; R. Piessens et al., QUADPACK (1983).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace
from ..dataclass import dataclass

FINITE, RIGHT, LEFT = "finite", "right", "left"  # [a, b], [a, inf), (-inf, b]


@dataclass(frozen=True)
class Interval:
    """A piece of the range of integration; of the bounds that are infinite nothing is used."""

    kind: str
    lower: Any
    upper: Any


def pieces(a: Any, b: Any) -> list[Interval]:
    """The range from a to b cut at zero, where known bounds lie on both sides of it. Unknown bounds are finite."""
    if _is_traced(a) or _is_traced(b):
        if not _is_traced(a) and np.isinf(a):
            return [Interval(LEFT, a, b)]
        if not _is_traced(b) and np.isinf(b):
            return [Interval(RIGHT, a, b)]
        return [Interval(FINITE, a, b)]
    lower, upper = float(a), float(b)
    if lower < 0 < upper:
        return [_piece(lower, 0.0), _piece(0.0, upper)]
    return [_piece(lower, upper)]


def _is_traced(x: Array) -> bool:
    return hasattr(x, "aval") or hasattr(x, "requires_grad")


def _piece(lower: float, upper: float) -> Interval:
    kind = LEFT if np.isinf(lower) else RIGHT if np.isinf(upper) else FINITE
    return Interval(kind, lower, upper)


# --- double exponential substitutions --------------------------------------------------------------------------------

FIRST_NODES = 48  # at the first level; every level after it halves the distance of the nodes
LEVELS = 11
# Where the substitutions end, for floating types of 8 and of 4 bytes: the weights are negligible from there on.
REACH = {8: 6.0, 4: 3.9}
FAR = 1e20  # at the end of an infinite range, an integrand of which nothing is left can overflow


def chunks(reach: float) -> tuple[Any, Any, Any]:
    """The nodes in portions of FIRST_NODES: first node, distance, and the distance of all nodes so far.

    The third is 0 where the level of the portion is not complete yet.
    """
    first, distance, complete = [], [], []
    for level in range(LEVELS):
        h = 2 * reach / FIRST_NODES / 2**level
        portions = max(1, 2 ** (level - 1))
        step = h if level == 0 else 2 * h
        for i in range(portions):
            first.append(-reach + (h if level else 0) + i * step * FIRST_NODES)
            distance.append(step)
            complete.append(h if i == portions - 1 else 0.0)
    return np.array(first), np.array(distance), np.array(complete)


def substitute(xp: Namespace, t: Array, piece: Interval) -> tuple[Any, Any, Any]:
    """The points, their distances to the nearer end, and their weights, at nodes t."""
    u = np.pi * xp.sinh(t)
    if piece.kind == FINITE:
        width = piece.upper - piece.lower
        share = 1 / (1 + xp.exp(xp.abs(u)))  # of the width, from the nearer end
        near = width * share
        x = xp.where(t < 0, piece.lower + near, piece.upper - near)
        return x, xp.where(t < 0, -near, near), width * np.pi * xp.cosh(t) * share * (1 - share)
    reach = xp.exp(u / 2)
    x = piece.lower + reach if piece.kind == RIGHT else piece.upper - reach
    return x, xp.full(xp.shape(t), xp.nan), reach * np.pi / 2 * xp.cosh(t)


def weighted(xp: Namespace, piece: Interval, x: Array, weight: Array, value: Array) -> Array:
    """Weights times values; a pole at an end itself, or an overflow far out, counts nothing."""
    at_end = xp.abs(x) > FAR
    if piece.kind != LEFT:
        at_end = at_end | (x == piece.lower)
    if piece.kind != RIGHT:
        at_end = at_end | (x == piece.upper)
    negligible = at_end & ~xp.isfinite(value)
    return weight * xp.where(negligible, 0.0, value)


# --- Gauss and Kronrod -----------------------------------------------------------------------------------------------

_KRONROD_NODES = np.array([
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
    0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866,
    0.148874338981631210884826001129720, 0,
])  # fmt: skip
_KRONROD_WEIGHTS = np.array([
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
    0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
    0.147739104901338491374841515972068, 0.149445554002916905664936468389821,
])  # fmt: skip
NODES = np.concatenate([-_KRONROD_NODES, _KRONROD_NODES[-2::-1]])
KRONROD = np.concatenate([_KRONROD_WEIGHTS, _KRONROD_WEIGHTS[-2::-1]])
GAUSS = np.zeros(21)
GAUSS[1::2] = np.polynomial.legendre.leggauss(10)[1]
MOST_INTERVALS = 200


def rational(piece: Interval) -> tuple[float, float, Callable[[Any, Any], tuple[Any, Any]]]:
    """An interval, and the map (xp, s) from it to the points of the piece and their weights."""
    if piece.kind == FINITE:
        width = piece.upper - piece.lower
        return 0.0, 1.0, lambda xp, s: (piece.lower + width * s, width + 0 * s)
    end, sign = (piece.lower, 1) if piece.kind == RIGHT else (piece.upper, -1)
    return 0.0, 1.0, lambda xp, s: (end + sign * s / (1 - s), 1 / (1 - s) ** 2)
