"""Laws drawn by rejection or inversion, in JAX: each is one loop over all components, from a state of `streams`.

XLA compiles them in a fraction of the time of JAX's own, which nest loops around a generator of many operations.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array, lax

from ..arrays import named
from .base import propose_angle
from .streams import fold, normals, uniforms

xp = named("jax")


def _accepted(state: Array, settled: Array, out: Array, propose: Callable[[Array], tuple[Array, Array]]) -> Array:
    """Proposals, round by round, until every component has accepted one or was settled before."""

    def step(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        number, done, out = carry
        accepted, proposal = propose(fold(state, number))
        return number + 1, done | accepted, jnp.where(done, out, proposal)

    return lax.while_loop(lambda carry: ~jnp.all(carry[1]), step, (jnp.asarray(1), settled, out))[2]


def _inverted(u: Array, first: Array, ratio: Callable[[Array], Array]) -> Array:
    """Counts by inversion: add up the probabilities until they pass u, or one is too small to add.

    The probability of count k + 1 is that of k times `ratio(k)`.
    """

    def step(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        k, p, total, _ = carry
        following = p * ratio(k)
        further = (total <= u) & (total + following > total)
        return jnp.where(further, k + 1, k), jnp.where(further, following, p), total + further * following, further

    start = jnp.zeros_like(first), first, first, jnp.full(first.shape, True)
    return lax.while_loop(lambda carry: jnp.any(carry[3]), step, start)[0]


# --- gamma and beta --------------------------------------------------------------------------------------------------


@jax.custom_jvp
def log_gamma(state: Array, alpha: Array) -> Array:
    """Logarithms of gamma variables of rate 1, which underflow for small alpha; NaN where alpha is no finite parameter.

    Source: Marsaglia and Tsang (2000), "A simple method for generating gamma variables", TOMS 26(3).
    """
    small = alpha < 1
    d = jnp.where(small, alpha + 1, alpha) - 1 / 3

    def propose(state: Array) -> tuple[Array, Array]:
        t = normals(state, alpha.shape, alpha.dtype) / (3 * jnp.sqrt(d))
        log_u = jnp.log1p(-uniforms(fold(state, 1), alpha.shape, alpha.dtype))
        inside = jnp.where(t > -1, t, 0.0)
        log1p_t = jnp.log1p(inside)
        bound = d * (3 * (log1p_t - inside + 0.5 * inside * inside) - inside**3)  # no digits are lost for large d
        return (t > -1) & (log_u <= bound), jnp.log(d) + 3 * log1p_t

    usable = (alpha >= 0) & (alpha < jnp.inf)
    made = _accepted(state, ~usable, jnp.where(usable, 0.0, jnp.nan).astype(alpha.dtype), propose)
    log_u = jnp.log1p(-uniforms(fold(state, 0), alpha.shape, alpha.dtype))
    return jnp.where(small, made + log_u / alpha, made)


@log_gamma.defjvp
def _(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    """By alpha the derivative along which the variable keeps its probability."""
    made = log_gamma(*primals)
    draw = jnp.maximum(jnp.exp(made), jnp.finfo(made.dtype).tiny)
    return made, lax.random_gamma_grad(primals[1], draw) / draw * tangents[1]


@partial(jax.jit, inline=True)
def gamma(state: Array, alpha: Array) -> Array:
    return jnp.exp(log_gamma(state, alpha))


@partial(jax.jit, inline=True)
def beta(state: Array, a: Array, b: Array) -> Array:
    return jax.nn.sigmoid(log_gamma(fold(state, 0), a) - log_gamma(fold(state, 1), b))


# --- counts ----------------------------------------------------------------------------------------------------------


@partial(jax.jit, inline=True)
def poisson(state: Array, rate: Array) -> Array:
    """Counts as reals, in the precision of the rate."""
    small = rate < 10
    few = jnp.where(small, rate, 1.0)
    u = uniforms(fold(state, 0), rate.shape, rate.dtype)
    inverted = _inverted(u, jnp.exp(-few), lambda k: few / (k + 1))
    return jnp.where(small, inverted, _many_poisson(fold(state, 1), jnp.where(small, 10.0, rate)))


def _many_poisson(state: Array, rate: Array) -> Array:
    """For rates of at least 10. Source: Hörmann (1993), "The transformed rejection method": PTRS."""
    b = 0.931 + 2.53 * jnp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha, squeeze = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)

    def propose(state: Array) -> tuple[Array, Array]:
        def log_ratio(k: Array) -> Array:
            return k * jnp.log(rate) - rate - lax.lgamma(k + 1)

        return _hat(state, a, b, rate + 0.43, inverse_alpha, squeeze, jnp.inf, log_ratio)

    return _accepted(state, ~(rate < jnp.inf), jnp.full_like(rate, -1.0), propose)


@partial(jax.jit, inline=True)
def binomial(state: Array, n: Array, p: Array) -> Array:
    """Counts as reals; -1 where n or p are none of a binomial law."""
    if state.dtype != jnp.uint64:
        return jax.random.binomial(state, n, p)  # in single precision differences of lgamma have too few digits
    usable = (n >= 0) & (n < jnp.inf) & (p >= 0) & (p <= 1)
    trials, rare = jnp.where(usable, n, 0.0), jnp.where(usable, jnp.minimum(p, 1 - p), 0.0)
    small = trials * rare < 10
    few, odds = jnp.where(small, trials, 0.0), rare / (1 - rare)
    u = uniforms(fold(state, 0), n.shape, n.dtype)
    inverted = _inverted(u, jnp.exp(few * jnp.log1p(-rare)), lambda k: (few - k) / (k + 1) * odds)
    many = _many_binomial(fold(state, 1), jnp.where(small, 20.0, trials), jnp.where(small, 0.5, rare))
    made = jnp.where(small, inverted, many)
    return jnp.where(usable, jnp.where(p > 0.5, n - made, made), -1.0)


def _many_binomial(state: Array, n: Array, p: Array) -> Array:
    """For p up to 0.5 and means of at least 10. Source: Hörmann (1993), "The generation of binomial random variates",
    JSCS 46(1): BTRS.
    """
    odds, scale = p / (1 - p), jnp.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * scale
    a = -0.0873 + 0.0248 * b + 0.01 * p
    mode = jnp.floor((n + 1) * p)
    at_mode = lax.lgamma(mode + 1) + lax.lgamma(n - mode + 1)

    def propose(state: Array) -> tuple[Array, Array]:
        def log_ratio(k: Array) -> Array:
            return at_mode - lax.lgamma(k + 1) - lax.lgamma(n - k + 1) + (k - mode) * jnp.log(odds)

        inverse_alpha = (2.83 + 5.1 / b) * scale
        return _hat(state, a, b, n * p + 0.5, inverse_alpha, 0.92 - 4.2 / b, n, log_ratio)

    return _accepted(state, jnp.full(n.shape, False), jnp.zeros_like(n), propose)


def _hat(
    state: Array, a: Array, b: Array, center: Array, inverse_alpha: Array, squeeze: Array, most: Array | float,
    log_ratio: Callable[[Array], Array],
) -> tuple[Array, Array]:  # fmt: skip
    """A round of transformed rejection: which lanes accept, and their counts, at most `most`.

    `log_ratio` is the logarithm of a count's probability over that which the hat is scaled by.
    """
    u, v = uniforms(state, (2, *b.shape), b.dtype)
    u, v = u - 0.5, 1 - v
    edge = 0.5 - jnp.abs(u)
    k = jnp.floor((2 * a / edge + b) * u + center)
    inside = (k >= 0) & (k <= most)
    fits = jnp.log(v * inverse_alpha / (a / (edge * edge) + b)) <= log_ratio(jnp.where(inside, k, 0.0))
    return inside & (((edge >= 0.07) & (v <= squeeze)) | fits), k


@partial(jax.jit, inline=True)
def hypergeometric(u: Array, draws: Array, good: Array, bad: Array) -> Array:
    """Inversion: add up the probabilities, each got from the one before, until they pass u."""
    least, most = jnp.maximum(0.0, draws - bad), jnp.minimum(draws, good)
    first = _lchoose(good, least) + _lchoose(bad, draws - least) - _lchoose(good + bad, draws)

    def step(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        k, log_p, total = carry
        ratio = (good - k) * (draws - k) / ((k + 1) * (bad - draws + k + 1))
        log_p = log_p + jnp.log(ratio)
        return k + 1, log_p, total + jnp.exp(log_p)

    start = least, first, jnp.exp(first)
    return lax.while_loop(lambda carry: (carry[2] <= u) & (carry[0] < most), step, start)[0]


def _lchoose(n: Array, k: Array) -> Array:
    return lax.lgamma(n + 1) - lax.lgamma(k + 1) - lax.lgamma(n - k + 1)


# --- angles ----------------------------------------------------------------------------------------------------------


@partial(jax.jit, inline=True)
def von_mises(state: Array, kappa: Array) -> Array:
    """NaN for a kappa that is none of a von Mises law."""
    usable = (kappa >= 0) & (kappa < jnp.inf)

    def propose(state: Array) -> tuple[Array, Array]:
        return propose_angle(xp, kappa, uniforms(state, (3, *kappa.shape), kappa.dtype))

    return _accepted(state, ~usable, jnp.where(usable, 0.0, jnp.nan).astype(kappa.dtype), propose)
