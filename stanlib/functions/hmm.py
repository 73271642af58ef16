"""Hidden Markov models. Source: Stan Functions Reference, "Hidden Markov Models".

The forward and backward recursions run in two forms. On the scale of probabilities, scaled to sum to 1 at every step,
a step is one small product; what underflows there is too little to matter later, as long as every state can be
reached from every other with a probability that is not absurdly small. Else they run in logarithms. Derivatives are
written out: they are the smoothed probabilities that the recursions give anyway.
"""
from __future__ import annotations

import functools
import math
from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import nonempty, same_size, square
from ..closeness import is_double
from ..domains import SIMPLEX
from ..random.base import Random
from ..registry import stan_function

# Of a transition, in double and single precision: what underflows, divided by it, is still far below a rounding error.
LEAST_PROBABILITY, LEAST_OF_SINGLE = 1e-270, 1e-30

_EXAMPLE = ([[-0.5, 0.2, -1.0], [0.3, -2.0, 0.1]], [[0.9, 0.1], [0.3, 0.7]], [0.6, 0.4])
_DOMAINS = {"Gamma": SIMPLEX, "rho": SIMPLEX}
Pair = tuple[Array, Array]
ValueAndSlopes = tuple[Array, tuple[Array, Array, Array]]


@stan_function(
    "real hmm_marginal(matrix log_omega, matrix Gamma, vector rho)", domains=_DOMAINS, examples=[_EXAMPLE],
    first_order=True,
)
def hmm_marginal(xp: Namespace, log_omega: Array, Gamma: Array, rho: Array) -> Array:
    """The log density of the observations, summed over the paths of the hidden states.

    Column t of log_omega holds the log density of observation t in every state, Gamma the probabilities to go from
    one state (row) to another, rho those of the first state.
    """
    _check_sizes(xp, "hmm_marginal", log_omega, Gamma, rho)
    f, gradients = (functools.partial(_choose, xp, i) for i in (0, 1))
    return xp.with_gradient(f, gradients)(log_omega, Gamma, rho)


@stan_function(
    "matrix hmm_hidden_state_prob(data matrix log_omega, data matrix Gamma, data vector rho)", domains=_DOMAINS,
    examples=[_EXAMPLE], first_order=True,
)  # fmt: skip
def hmm_hidden_state_prob(xp: Namespace, log_omega: Array, Gamma: Array, rho: Array) -> Array:
    """The probabilities of every hidden state, one column per observation, given all observations."""
    _check_sizes(xp, "hmm_hidden_state_prob", log_omega, Gamma, rho)
    out: Array = _choose(xp, 1, log_omega, Gamma, rho)[1][0]
    return out


@stan_function(
    "array[] int hmm_latent_rng(matrix log_omega, matrix Gamma, vector rho)", domains=_DOMAINS, random=True
)
def hmm_latent_rng(xp: Namespace, random: Random, log_omega: Array, Gamma: Array, rho: Array) -> Array:
    """A path of the hidden states, given all observations: drawn backwards from the filtered probabilities."""
    _check_sizes(xp, "hmm_latent_rng", log_omega, Gamma, rho)
    log_gamma = _log(xp, Gamma)
    filtered = _log_forward(xp, log_omega, log_gamma, rho)
    u, start, _ = xp.convert((random.uniform(xp.shape(filtered)[:1]), xp.zeros(xp.shape(rho)), filtered))
    arrivals = xp.transpose(log_gamma)

    def step(next_state: Array, x: tuple[Array, Array], arrivals: Array) -> tuple[Array, Array]:
        log_weights, u = x
        log_weights = log_weights + next_state
        sums = xp.cumsum(xp.exp(log_weights - xp.max(log_weights)), axis=-1)
        state = xp.sum(xp.integer(sums[:-1] <= u * sums[-1]))
        return xp.get(arrivals, (state,)), state + 1

    return xp.scan(step, start, (filtered, u), arrivals, reverse=True)[1]


def _check_sizes(xp: Namespace, name: str, log_omega: Array, Gamma: Array, rho: Array) -> None:
    nonempty(xp, name, log_omega)
    states = xp.shape(log_omega)[0]
    same_size(name, "the rows of Gamma", square(xp, name, Gamma), "the rows of log_omega", states)
    same_size(name, "the size of rho", xp.shape(rho)[0], "the rows of log_omega", states)


def _choose(xp: Namespace, kind: int, log_omega: Array, Gamma: Array, rho: Array) -> Any:
    """The log density (kind 0), or beside it its derivatives (kind 1), in the form that is safe for Gamma."""
    forms = [functools.partial(f, xp) for f in ((_scaled, _in_logarithms), (_scaled_gradients, _log_gradients))[kind]]
    return xp.cond(xp.min(Gamma) > _least(xp, Gamma), *forms, log_omega, Gamma, rho)


def _least(xp: Namespace, p: Array) -> float:
    return LEAST_PROBABILITY if is_double(xp, p) else LEAST_OF_SINGLE


def _log(xp: Namespace, p: Array) -> Array:
    """log(p), -inf at 0."""
    return xp.where(p > 0, xp.log(xp.where(p > 0, p, 1.0)), -xp.inf)


def _over(xp: Namespace, p: Array, total: Array) -> Array:
    """p divided by its total, 0 where that is 0."""
    return p / xp.where(total > 0, total, 1.0)


def _product(xp: Namespace, p: Array, matrix: Array) -> Array:
    """p matrix; in the body of a loop XLA compiles this to better code than a product of matrices."""
    return xp.sum(p[:, None] * matrix, axis=0)


def _weights(xp: Namespace, log_omega: Array, rho: Array) -> tuple[Array, Array]:
    """The densities of each observation relative to its most likely state, by rows, and the log of what they lack.

    Of the first one only states that rho allows count, by what rho makes of them: next to a state that it excludes
    they might underflow, all of them. Derivatives in rho have the excluded ones, as long as these don't overflow.
    """
    least = _least(xp, rho)
    allowed = _log(xp, xp.where(rho > 0, xp.maximum(rho, least), 0.0))
    rest = xp.max(log_omega[:, 1:], axis=0) if xp.shape(log_omega)[1] > 1 else log_omega[0, 1:]
    first = xp.max(log_omega[:, :1] + allowed[:, None], axis=0)
    most = xp.concatenate([first, rest])
    most = xp.where(xp.isfinite(most), most, 0.0)
    return xp.transpose(xp.exp(xp.minimum(log_omega - most, -math.log(least)))), most


def _forward(xp: Namespace, weights: Array, Gamma: Array, rho: Array) -> tuple[Array, Array]:
    """The filtered probabilities of the states, and the density of each observation given those before it."""

    def step(predicted: Array, weight: Array, Gamma: Array) -> tuple[Array, tuple[Array, Array]]:
        joint = predicted * weight
        density = xp.sum(joint)
        filtered = _over(xp, joint, density)
        return _product(xp, filtered, Gamma), (filtered, density)

    return xp.scan(step, rho, weights, Gamma)[1]


def _scaled(xp: Namespace, log_omega: Array, Gamma: Array, rho: Array) -> Array:
    weights, lacking = _weights(xp, log_omega, rho)
    return xp.sum(xp.log(_forward(xp, weights, Gamma, rho)[1]) + lacking)


def _scaled_gradients(xp: Namespace, log_omega: Array, Gamma: Array, rho: Array) -> ValueAndSlopes:
    """The log density and its derivatives in log_omega, Gamma and rho, in their shapes, by scaled probabilities."""
    weights, lacking = _weights(xp, log_omega, rho)
    filtered, density = _forward(xp, weights, Gamma, rho)

    states = xp.shape(rho)[0]
    ones, zeros, _ = xp.convert((xp.ones(states), xp.zeros((states, states)), filtered))
    before = xp.concatenate([zeros[:1], filtered[:-1]])

    def step(carry: Pair, x: tuple[Array, Array, Array], departures: Array) -> tuple[Pair, Array]:
        """`later` is the density of what follows relative to what is expected, by state."""
        later, moves = carry
        weight, density, before = x
        here = _over(xp, later * weight, density)
        return (_product(xp, here, departures), moves + before[:, None] * here), later

    (_, moves), later = xp.scan(step, (ones, zeros), (weights, density, before), xp.transpose(Gamma), reverse=True)
    first = _over(xp, later[0] * weights[0], density[0])
    return xp.sum(xp.log(density) + lacking), (xp.transpose(filtered * later), moves, first)


def _log_forward(xp: Namespace, log_omega: Array, log_gamma: Array, rho: Array) -> Array:
    """The logarithms of the joint densities of the observations so far and the state, by rows."""

    def step(predicted: Array, log_weight: Array, log_gamma: Array) -> tuple[Array, Array]:
        joint = predicted + log_weight
        return xp.logsumexp(joint[:, None] + log_gamma, axis=0), joint

    rows = xp.transpose(log_omega)
    return xp.scan(step, _log(xp, rho), rows, log_gamma)[1]


def _in_logarithms(xp: Namespace, log_omega: Array, Gamma: Array, rho: Array) -> Array:
    return xp.logsumexp(_log_forward(xp, log_omega, _log(xp, Gamma), rho)[-1])


def _log_gradients(xp: Namespace, log_omega: Array, Gamma: Array, rho: Array) -> ValueAndSlopes:
    """The log density and these derivatives, in logarithms; those in Gamma and rho are 0 where they are infinite."""
    log_gamma = _log(xp, Gamma)
    joint = _log_forward(xp, log_omega, log_gamma, rho)
    value = xp.logsumexp(joint[-1])
    base = xp.where(value > -xp.inf, value, 0.0)

    def step(carry: Pair, x: Pair, departures: Array) -> tuple[Pair, Array]:
        """`later` is the log density of what follows, by state."""
        later, moves = carry
        log_weight, before = x
        here = later + log_weight
        moves = moves + xp.exp(before[:, None] + here - base)
        return (xp.logsumexp(here[:, None] + departures, axis=0), moves), later

    rows, states = xp.transpose(log_omega), xp.shape(rho)[0]
    zeros, _ = xp.convert((xp.zeros((states, states)), joint))
    before = xp.concatenate([zeros[:1] - xp.inf, joint[:-1]])
    departures = xp.transpose(log_gamma)
    (_, moves), later = xp.scan(step, (zeros[0], zeros), (rows, before), departures, reverse=True)
    first = xp.exp(rows[0] + later[0] - base)
    return value, (xp.transpose(xp.exp(joint + later - base)), _bounded(xp, moves), _bounded(xp, first))


def _bounded(xp: Namespace, x: Array) -> Array:
    """Derivatives in probabilities of 0, which can be infinite, must not make NaN of what doesn't change them."""
    return xp.where(xp.isinf(x), 0.0, x)
