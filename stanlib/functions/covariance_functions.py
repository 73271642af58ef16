"""Covariance functions of Gaussian processes, most of them of distances alone: those of data are computed once.

Source: Stan Functions Reference, "Gaussian Process covariance functions".
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import same_size
from ..domains import FINITE, POSITIVE, POSITIVE_FINITE, Domain, everywhere
from ..registry import stan_function
from .distances import root

_X, _Y = [0.0, 1.0, 2.5], [0.5, 2.0]
# Stan throws for what is infinite, but for vectors where numbers come of infinite distances.
_TAKEN = {"x": everywhere(FINITE), "y": everywhere(FINITE)}
_NUMBERS = Domain(
    "finite, in vectors not nan", lambda xp, x: xp.isfinite(x) if xp.ndim(x) == 1 else ~xp.isnan(x), safe=0.0
)  # fmt: skip
_ONE_SET = Domain(
    "finite, alone or in vectors not nan",
    lambda xp, x: xp.isfinite(x) if xp.ndim(x) == 1 and xp.shape(x)[0] > 1 else ~xp.isnan(x), safe=0.0,
)  # fmt: skip
_ONE_INPUT = Domain(
    "finite, alone not nan", lambda xp, x: xp.isfinite(x) if xp.shape(x)[0] > 1 else ~xp.isnan(x), safe=0.0
)
_LENGTHS = Domain(
    "positive, of several dimensions finite", lambda xp, x: (x > 0) & xp.isfinite(x) if xp.ndim(x) else x > 0, safe=1.0
)  # fmt: skip
_NONNEGATIVE_FINITE = Domain("nonnegative finite", lambda xp, x: (x >= 0) & (x < xp.inf))


def _kernel(
    name: str, suffix: str = "", lengths: tuple[str, ...] = ("real length_scale", "array[] real length_scale")
) -> list[str]:
    """The signatures over one set of inputs and two, numbers or vectors; a length scale per dimension is optional."""
    out = []
    for inputs in ("array[] real x", "array[] vector x", "array[] real x, array[] real y",
                   "array[] vector x, array[] vector y"):  # fmt: skip
        for length in lengths:
            if "array" not in length or "vector" in inputs:
                out.append(f"matrix {name}({inputs}, real sigma, {length}{suffix})")
    return out


def _one(texts: Sequence[str]) -> list[str]:
    return [t for t in texts if " y," not in t]


def _two(texts: Sequence[str]) -> list[str]:
    return [t for t in texts if " y," in t]


def _gaps(xp: Namespace, name: str, x: Array, y: Array | None) -> Array:
    """x[i] - y[j] for all i and j, with an axis for the dimensions of vectors.

    Without y they are those of one set, whose inputs have no distance to themselves, infinite ones too.
    """
    if y is None:
        itself = xp.eye(xp.shape(x)[0], dtype=bool)
        return xp.where(itself if xp.ndim(x) == 1 else itself[..., None], 0.0, _gaps(xp, name, x, x))
    if xp.ndim(x) == 1:
        return x[:, None] - y[None, :]
    same_size(name, "size of the vectors in x", xp.shape(x)[1], "size of those in y", xp.shape(y)[1])
    return x[:, None, :] - y[None, :, :]


def _squared_distances(xp: Namespace, name: str, x: Array, y: Array | None, length_scale: Any = None) -> Array:
    """Squared distances; divided by the squared length scales, one per dimension, if these are given."""
    gaps = _gaps(xp, name, x, y)
    squares = gaps * gaps
    if xp.ndim(x) == 1:
        return squares
    if length_scale is None:
        return xp.sum(squares, axis=-1)
    same_size(name, "size of the length scales", xp.shape(length_scale)[0], "size of the vectors", xp.shape(x)[1])
    return xp.matmul(squares, 1.0 / xp.square(length_scale))


def _scaled_square(xp: Namespace, name: str, x: Array, y: Array | None, length_scale: Array) -> Array:
    if xp.ndim(length_scale):
        return _squared_distances(xp, name, x, y, length_scale)
    return _squared_distances(xp, name, x, y) / xp.square(length_scale)


def _scaled_distance(xp: Namespace, name: str, x: Array, y: Array | None, length_scale: Array) -> Array:
    if xp.ndim(length_scale):
        return root(xp, _squared_distances(xp, name, x, y, length_scale))
    return root(xp, _squared_distances(xp, name, x, y)) / length_scale


def _exp_quad(xp: Namespace, name: str, x: Array, y: Array | None, sigma: Array, length_scale: Array) -> Array:
    return xp.square(sigma) * xp.exp(-0.5 * _scaled_square(xp, name, x, y, length_scale))


_EXP_QUAD = _kernel("gp_exp_quad_cov")
_EXP_QUAD_DOMAINS = {"x": _ONE_SET, "sigma": POSITIVE, "length_scale": _LENGTHS}
_EXP_QUAD_CROSS_DOMAINS = {**_EXP_QUAD_DOMAINS, "x": _NUMBERS, "y": _NUMBERS}


@stan_function(*_one(_EXP_QUAD), domains=_EXP_QUAD_DOMAINS, examples=[(_X, 1.5, 0.7)])
def gp_exp_quad_cov(xp: Namespace, x: Array, sigma: Array, length_scale: Array) -> Array:
    return _exp_quad(xp, "gp_exp_quad_cov", x, None, sigma, length_scale)


@stan_function(*_two(_EXP_QUAD), domains=_EXP_QUAD_CROSS_DOMAINS, examples=[(_X, _Y, 1.5, 0.7)])
def gp_exp_quad_cross_cov(xp: Namespace, x: Array, y: Array, sigma: Array, length_scale: Array) -> Array:
    return _exp_quad(xp, "gp_exp_quad_cov", x, y, sigma, length_scale)


_REMOVED = _kernel("cov_exp_quad", lengths=("real length_scale",))
_REMOVED += [t.replace("array[] vector", "array[] row_vector") for t in _REMOVED if "array[] vector" in t]


@stan_function(
    *_one(_REMOVED), domains=_EXP_QUAD_DOMAINS, examples=[(_X, 1.5, 0.7)], removed="2.33", successor="gp_exp_quad_cov"
)
def cov_exp_quad(xp: Namespace, x: Array, sigma: Array, length_scale: Array) -> Array:
    return _exp_quad(xp, "cov_exp_quad", x, None, sigma, length_scale)


@stan_function(
    *_two(_REMOVED), domains=_EXP_QUAD_CROSS_DOMAINS, examples=[(_X, _Y, 1.5, 0.7)], removed="2.33",
    successor="gp_exp_quad_cov",
)  # fmt: skip
def cross_cov_exp_quad(xp: Namespace, x: Array, y: Array, sigma: Array, length_scale: Array) -> Array:
    return _exp_quad(xp, "cov_exp_quad", x, y, sigma, length_scale)


_DOMAINS = {**_TAKEN, "sigma": POSITIVE_FINITE, "length_scale": POSITIVE_FINITE}
_ONE_SET_DOMAINS = {**_DOMAINS, "x": _ONE_INPUT}


def _exponential(xp: Namespace, x: Array, y: Array | None, sigma: Array, length_scale: Array) -> Array:
    return xp.square(sigma) * xp.exp(-_scaled_distance(xp, "gp_exponential_cov", x, y, length_scale))


_EXPONENTIAL = _kernel("gp_exponential_cov")
_EXPONENTIAL_DOMAINS = {**_DOMAINS, "x": _ONE_SET}
_EXPONENTIAL_CROSS_DOMAINS = {**_DOMAINS, "x": _NUMBERS, "y": _NUMBERS}


@stan_function(*_one(_EXPONENTIAL), domains=_EXPONENTIAL_DOMAINS, examples=[(_X, 1.5, 0.7)])
def gp_exponential_cov(xp: Namespace, x: Array, sigma: Array, length_scale: Array) -> Array:
    return _exponential(xp, x, None, sigma, length_scale)


@stan_function(*_two(_EXPONENTIAL), domains=_EXPONENTIAL_CROSS_DOMAINS, examples=[(_X, _Y, 1.5, 0.7)])
def gp_exponential_cross_cov(xp: Namespace, x: Array, y: Array, sigma: Array, length_scale: Array) -> Array:
    return _exponential(xp, x, y, sigma, length_scale)


def _matern32(xp: Namespace, x: Array, y: Array | None, sigma: Array, length_scale: Array) -> Array:
    r = math.sqrt(3) * _scaled_distance(xp, "gp_matern32_cov", x, y, length_scale)
    return xp.square(sigma) * (1 + r) * xp.exp(-r)


_MATERN32 = _kernel("gp_matern32_cov")


@stan_function(*_one(_MATERN32), domains=_ONE_SET_DOMAINS, examples=[(_X, 1.5, 0.7)])
def gp_matern32_cov(xp: Namespace, x: Array, sigma: Array, length_scale: Array) -> Array:
    infinite_is_nan = xp.ndim(length_scale) > 0
    return _matern32(xp, x, x if infinite_is_nan else None, sigma, length_scale)


@stan_function(*_two(_MATERN32), domains=_DOMAINS, examples=[(_X, _Y, 1.5, 0.7)])
def gp_matern32_cross_cov(xp: Namespace, x: Array, y: Array, sigma: Array, length_scale: Array) -> Array:
    return _matern32(xp, x, y, sigma, length_scale)


def _matern52(xp: Namespace, x: Array, y: Array | None, sigma: Array, length_scale: Array) -> Array:
    r = math.sqrt(5) * _scaled_distance(xp, "gp_matern52_cov", x, y, length_scale)
    return xp.square(sigma) * (1 + r + r * r / 3) * xp.exp(-r)


_MATERN52 = _kernel("gp_matern52_cov")


@stan_function(*_one(_MATERN52), domains=_ONE_SET_DOMAINS, examples=[(_X, 1.5, 0.7)])
def gp_matern52_cov(xp: Namespace, x: Array, sigma: Array, length_scale: Array) -> Array:
    return _matern52(xp, x, None, sigma, length_scale)


@stan_function(*_two(_MATERN52), domains=_DOMAINS, examples=[(_X, _Y, 1.5, 0.7)])
def gp_matern52_cross_cov(xp: Namespace, x: Array, y: Array, sigma: Array, length_scale: Array) -> Array:
    return _matern52(xp, x, y, sigma, length_scale)


def _periodic(xp: Namespace, x: Array, y: Array | None, sigma: Array, length_scale: Array, period: Array) -> Array:
    if xp.ndim(x) == 1:
        distance = _gaps(xp, "gp_periodic_cov", x, y)
    else:
        distance = root(xp, _squared_distances(xp, "gp_periodic_cov", x, y))
    return xp.square(sigma) * xp.exp(-2 * xp.square(xp.sin(math.pi / period * distance) / length_scale))


_PERIODIC = _kernel("gp_periodic_cov", suffix=", real period", lengths=("real length_scale",))
_PERIODIC_DOMAINS = {**_TAKEN, "sigma": POSITIVE_FINITE, "length_scale": POSITIVE, "period": POSITIVE}


@stan_function(*_one(_PERIODIC), domains={**_PERIODIC_DOMAINS, "x": _ONE_INPUT}, examples=[(_X, 1.5, 0.7, 2.0)])
def gp_periodic_cov(xp: Namespace, x: Array, sigma: Array, length_scale: Array, period: Array) -> Array:
    return _periodic(xp, x, None, sigma, length_scale, period)


@stan_function(*_two(_PERIODIC), domains=_PERIODIC_DOMAINS, examples=[(_X, _Y, 1.5, 0.7, 2.0)])
def gp_periodic_cross_cov(xp: Namespace, x: Array, y: Array, sigma: Array, length_scale: Array, period: Array) -> Array:
    return _periodic(xp, x, y, sigma, length_scale, period)


def _dot_prod(xp: Namespace, x: Array, y: Array, sigma: Array) -> Array:
    if xp.ndim(x) == 1:
        return xp.square(sigma) + x[:, None] * y[None, :]
    same_size("gp_dot_prod_cov", "size of the vectors in x", xp.shape(x)[1], "size of those in y", xp.shape(y)[1])
    return xp.square(sigma) + xp.matmul(x, xp.transpose(y))


_DOT_PROD_DOMAINS = {**_TAKEN, "sigma": _NONNEGATIVE_FINITE}


@stan_function(
    "matrix gp_dot_prod_cov(array[] real x, real sigma)", "matrix gp_dot_prod_cov(array[] vector x, real sigma)",
    domains=_DOT_PROD_DOMAINS, examples=[(_X, 1.5)],
)  # fmt: skip
def gp_dot_prod_cov(xp: Namespace, x: Array, sigma: Array) -> Array:
    return _dot_prod(xp, x, x, sigma)


@stan_function(
    "matrix gp_dot_prod_cov(array[] real x, array[] real y, real sigma)",
    "matrix gp_dot_prod_cov(array[] vector x, array[] vector y, real sigma)",
    domains=_DOT_PROD_DOMAINS, examples=[(_X, _Y, 1.5)],
)  # fmt: skip
def gp_dot_prod_cross_cov(xp: Namespace, x: Array, y: Array, sigma: Array) -> Array:
    return _dot_prod(xp, x, y, sigma)
