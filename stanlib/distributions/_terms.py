"""What the densities share: safe logarithms, the edges of the support, linear predictors."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..domains import between
from ..errors import StanIndexError, StanUnknownError

LOG_2 = math.log(2)
LOG_PI = math.log(math.pi)
LOG_2_PI = math.log(2 * math.pi)
LARGEST_LOG = 1e4  # of a floating point number it is less
MANY = 500  # observations from which on a table in memory pays
FEW = 16  # components up to which a product with a matrix does better than to pick them
MANY_STANDARDIZED = 64  # observations from which on a division for all of them together pays


def holds(xp: Namespace, condition: Array) -> bool:
    """Whether a condition is known to hold everywhere, so that nothing needs to be masked."""
    return xp.is_concrete(condition) and bool(xp.all(condition))


def inner(xp: Namespace, inside: Any, y: Any, value: Any) -> Array:
    """y, and `value` in the place of what is outside the support, so that the formula has finite gradients there."""
    return y if xp.holds(inside) else xp.where(inside, y, value)


def within(xp: Namespace, inside: Array, terms: Array, outside: Any = None) -> Array:
    """The terms inside the support, -inf (or `outside`) elsewhere."""
    return terms if xp.holds(inside) else xp.where(inside, terms, -xp.inf if outside is None else outside)


def next_to_end(xp: Namespace, distance: Any, slope: Any) -> Array:
    """slope * distance where the distance from an end is 0: nothing, with the derivative that there is from inside."""
    at_end = distance == 0
    return xp.where(at_end, slope, 0) * xp.where(at_end, distance, 0.0)


def log0(xp: Namespace, x: Array) -> Array:
    """log(x) for x >= 0, with gradient 0 instead of infinity at 0."""
    positive = x > 0
    return within(xp, positive, xp.log(inner(xp, positive, x, 1.0)))


def finite_log(xp: Namespace, log_rate: Array) -> Array:
    """The logarithm of a rate that counts multiply: not infinity, so that less an infinite rate there is -inf."""
    return xp.minimum(log_rate, LARGEST_LOG)


def log_one_less(xp: Namespace, x: Any) -> Array:
    """log(1 - x) for x <= 1, with gradient 0 instead of infinity at 1."""
    less = x < 1
    return within(xp, less, xp.log1p(-inner(xp, less, x, 0.5)))


def times(xp: Namespace, n: Array, x: Array) -> Array:
    """n x, and 0 where n is 0 and x infinite."""
    used = n != 0
    return n * x if holds(xp, used) else xp.where(used, n * inner(xp, used, x, 0.0), 0.0)


def power_terms(
    xp: Namespace, y: Array, p: Real, rest: Real, tail: Callable[[Array, Array], Array]
) -> Array:
    """p log(y) + rest - tail(y, log(y)) for y > 0, its limit at 0 and -inf below; the tail vanishes at 0."""
    inside = y > 0
    y1 = inner(xp, inside, y, 1.0)
    log_y = xp.log(y1)
    terms = p * log_y + rest - tail(y1, log_y)
    if holds(xp, inside):
        return terms
    at_zero = xp.where(p > 0, -xp.inf, xp.where(p < 0, xp.inf, rest))
    return xp.where(inside, terms, xp.where(y == 0, at_zero, -xp.inf))


def softplus(xp: Namespace, x: Array) -> Array:
    """log(1 + exp(x))."""
    return -split_log_expit(xp, x)[1]


def split_log_expit(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """log(inv_logit(x)) and log(inv_logit(-x)); the branches are smooth, so that 0 needs no care."""
    left = x < 0
    tail = xp.log1p(xp.exp(xp.where(left, x, -x)))
    return xp.where(left, x, 0.0) - tail, xp.where(left, 0.0, -x) - tail


def log_of(xp: Namespace, p: Array, q: Array) -> Array:
    """log(p) of two probabilities that sum to 1 and are each precise when small."""
    lower = p < q
    return xp.where(lower, log0(xp, xp.where(lower, p, 0.5)), xp.log1p(-xp.where(lower, 0.5, q)))


def log1mexp_neg(xp: Namespace, t: Array, log_t: Array) -> Array:
    """log(1 - exp(-t)) for t >= 0, also for a t that underflows, from its logarithm."""
    tiny, large = t < 1e-8, t > LOG_2
    middle = xp.where(tiny | large, 0.5, t)
    far = xp.minimum(xp.where(large, t, 1.0), 800.0)  # beyond, derivatives of exp(-t) would be 0 times infinity
    return xp.where(
        tiny, log_t - 0.5 * t,
        xp.where(large, xp.log1p(-xp.exp(-far)), xp.log(-xp.expm1(-middle))),
    )  # fmt: skip


def standardized(xp: Namespace, y: Any, mu: Any, sigma: Real) -> Array:
    """(y - mu) / sigma, by a single division where many observations share sigma, by none where that is 1."""
    centered: Array = y if type(mu) is float and mu == 0.0 and not xp.is_integer(y) else y - mu
    if type(sigma) is float and sigma == 1.0:
        return centered
    shared = math.prod(xp.shape(sigma)) == 1 and math.prod(xp.shape(centered)) >= MANY_STANDARDIZED
    scaled: Array = centered * (1.0 / sigma) if shared else centered / sigma
    return scaled


def predictor(xp: Namespace, name: str, x: Real, alpha: Real, beta: Real) -> Array:
    """alpha + x beta for a matrix of rows x or a single row.

    Raises:
        StanIndexError: if the columns of x and the coefficients differ in number.
    """
    columns, coefficients = xp.shape(x)[-1], xp.shape(beta)[0]
    if columns != coefficients:
        raise StanIndexError(f"{name}: x has {columns} columns, but there are {coefficients} coefficients")
    return xp.matmul(x, beta) + alpha


def pick(xp: Namespace, x: Array, y: Array) -> Array:
    """The y-th component of the vector x (counted from 1), or of every row of x; -inf for a y that is none."""
    if xp.are_between(y, 1, xp.shape(x)[-1]):
        return pick_column(xp, x, y) if xp.ndim(x) > 1 else _from_table(xp, x, y)
    inside = (y >= 1) & (y <= xp.shape(x)[-1])
    terms = pick_column(xp, x, y) if xp.ndim(x) > 1 else _from_table(xp, x, inner(xp, inside, y, 1))
    return within(xp, inside, terms)


def log_shares(xp: Namespace, x: Array) -> Array:
    """The logarithms of softmax along the last axis, which may be empty."""
    return x - xp.logsumexp(x, axis=-1, keepdims=True) if xp.shape(x)[-1] else x


def _from_table(xp: Namespace, x: Array, y: Array) -> Array:
    table = stored(xp, xp.asarray(x), math.prod(xp.shape(y)))
    return xp.get(table, (xp.integer(y - 1),))


def pick_all(xp: Namespace, tables: tuple[Array, ...], y: Array) -> tuple[Array, ...]:
    """The y-th components of vectors of one length, all finite; for many known y by a product with a matrix, whose
    derivative is another one, where XLA would else add up observation by observation.
    """
    few, many = xp.shape(tables[0])[-1] <= FEW, math.prod(xp.shape(y)) >= MANY
    if few and many and xp.ndim(tables[0]) == 1 and xp.is_concrete(y):
        known, rows = xp.known(y), xp.known(xp.arange(xp.shape(tables[0])[0]))
        assert known is not None and rows is not None  # what is concrete is known
        chosen = known == rows[:, None] + 1
        return tuple(xp.matmul(xp.stack(tables), chosen.astype(float)))
    return tuple(pick(xp, t, y) for t in tables)


def stored(xp: Namespace, x: Array, uses: Real) -> Array:
    """The vector x, written to memory: XLA would else compute components anew for every observation that picks one."""
    if xp.LIBRARY != "jax" or xp.is_concrete(x) or uses < MANY:
        return x
    return xp.at_set(x, xp.arange(xp.shape(x)[0]), x)


def pick_column(xp: Namespace, x: Array, y: Array) -> Array:
    """The y-th component of every row; 0 for a y that is none."""
    if xp.LIBRARY == "torch" and xp.are_between(y, 1, xp.shape(x)[-1]):
        return xp.pick_last(x, xp.integer(y) - 1)
    return _masked_column(xp, x, y)


def _masked_column(xp: Namespace, x: Array, y: Array) -> Array:
    """The same by a mask, whose gradient is a sum too where XLA's of an index is a scatter."""
    y = xp.reshape(xp.asarray(y), xp.shape(y) + (1,))
    columns, _ = xp.convert((xp.arange(1, xp.shape(x)[-1] + 1), x))
    return xp.sum(xp.where(columns == y, x, 0.0), axis=-1)


def categories(name: str) -> Any:
    """The domain of an ordered outcome, as a function of its location and cut points."""

    def domain(location: Array, c: Array) -> Any:
        if len(c.shape) == 2 and c.shape[0] != 1 and not getattr(location, "shape", ()):
            raise StanIndexError(f"{name}: {c.shape[0]} vectors of cut points for one location")
        return between(1, c.shape[-1] + 1)

    return domain


def cut_points(
    xp: Namespace, name: str, y: Array, eta: Array, c: Real, end: Real, tables: tuple[Array, ...] = ()
) -> tuple[Array, ...]:
    """The cut points below and above category y, which are -end and end at the ends, and its entries of other tables.

    Raises:
        StanIndexError: unless there is one vector of cut points, or one for every location.
    """
    if xp.ndim(c) == 2 and xp.ndim(eta) == 1 and xp.shape(c)[:1] != xp.shape(eta):
        raise StanIndexError(f"{name}: {xp.shape(c)[0]} vectors of cut points for {xp.shape(eta) or 1} locations")
    edges = with_ends(xp, c, -end, end)
    y = xp.where((y >= 1) & (y < xp.shape(edges)[-1]), y, 1)
    return pick_all(xp, (edges[..., :-1], edges[..., 1:], *tables), y)


def with_ends(xp: Namespace, c: Real, before: Real, after: Real) -> Array:
    """c with numbers before and behind the components of its last axis."""
    end = xp.zeros(xp.shape(c)[:-1] + (1,))
    return xp.concatenate([end + before, c, end + after], axis=-1)


def known_maximum(xp: Namespace, name: str, n: Array) -> int:
    """The greatest of the counts that a sum runs over; it sets the length of an array.

    Raises:
        StanUnknownError: if a compiled program only learns it when it runs.
    """
    if xp.LIBRARY == "jax" and not xp.is_concrete(n):
        raise StanUnknownError(f"{name}: distribution functions need counts that are known when a program is compiled")
    known = xp.known(n)
    assert known is not None
    return max(0, int(known.max()) if known.size else 0)


def outcomes(xp: Namespace, most: int, shape: tuple[int, ...], *like: Array) -> Array:
    """0, 1, ..., `most` along a new leading axis in front of those of a shape, as reals of the parameters."""
    return xp.reals((xp.arange(most + 1).reshape((-1,) + (1,) * len(shape)), *like))[0]
