"""Chains that are stranded in warm-up: where the sampler has broken down, at densities of no importance.

From a random initial value far from everything a chain can get to where the density is so steep that only tiny steps
are accepted. There it stays, makes trees of the greatest depth, and its draws spoil the posterior. What tells it from a
chain in another mode is that its steps shrank to nothing, or, at the end of warm-up, that where it is holds next to
nothing of the posterior: the integral over a place is about its density times its volume. A mode of a millionth of the
posterior stays visible.

The median density of a chain times the volume that its variances tell is never much less than the integral, but may be
far more where the place is no ellipsoid, as the neck and the mouth of a funnel together. So a chain counts as light by
that number, and what another one holds is measured by importance sampling. Whatever the density, that hardly ever
gives far too much: a mean of positive numbers is exp(t) times what is expected with a probability below exp(-t).
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stanlib.dataclass import dataclass

from .metric import log_volume, size_of

ATTEMPTS = 10  # how often chains begin anew at one milestone
COLLAPSED = 1e-3  # a step below this share of the best chain's
SMALLEST = 1e-10  # a step that is too small for any chain
FAR = 20.0  # below the best chain's log density, beside ten times its spread
LIGHT, FOR_EACH = 20.0, 1.0  # below the best chain's logarithm of the integral: a constant, and for each parameter
MEASURED, DRAWS = 8, 32  # chains at most whose integrals are measured, and draws for an estimate
_OF_NORMAL = (1 + math.log(2 * math.pi)) / 2  # for each parameter: a normal law's integral beside density and volume


@dataclass(frozen=True)
class Restart:
    """A chain that began anew, counted from 1: after which iteration of warm-up, and why."""

    chain: int
    iteration: int
    reason: str


def stranded(
    levels: Sequence[np.ndarray], step_sizes: Sequence[float], metrics: Sequence[np.ndarray], is_last: bool,
    measure: Callable[[int], float] | None = None,
) -> Mapping[int, str]:  # fmt: skip
    """Which chains are stranded, and why.

    Args:
        levels: of each chain, the log densities of its latest draws.
        step_sizes: of each chain.
        metrics: the inverse metric of each.
        is_last: whether warm-up ends here. A chain with sound steps is only then where it will be.
        measure: the logarithm of the integral around a chain, which may be too small, but hardly ever too large; if
            None, the places are taken to be ellipsoids.
    """
    middles, steps = [_middle(v) for v in levels], [length(*pair) for pair in zip(step_sizes, metrics)]
    out = _collapsed(middles, steps, levels)
    if is_last:
        out |= {i: reason for i, reason in _light(middles, metrics, measure).items() if i not in out}
    return out


def _collapsed(middles: Sequence[float], steps: Sequence[float], levels: Sequence[np.ndarray]) -> dict[int, str]:
    """The chains whose steps shrank to nothing."""
    best = int(np.argmax(middles))
    spread = float(np.subtract(*np.percentile(_late(levels[best]), (75, 25)))) if middles[best] > -np.inf else 0.0
    out = {}
    for i, (middle, step) in enumerate(zip(middles, steps)):
        behind = middles[best] - middle if middles[best] > -np.inf else 0.0
        if step < SMALLEST:
            out[i] = f"its steps shrank to {step:.2g}"
        elif step < COLLAPSED * steps[best] and behind > FAR + 10 * spread:
            out[i] = f"its steps shrank to {step:.2g}, its log density is {behind:.3g} below that of chain {best + 1}"
    return out


def _light(
    middles: Sequence[float], metrics: Sequence[np.ndarray], measure: Callable[[int], float] | None
) -> dict[int, str]:  # fmt: skip
    """The chains in places that hold next to nothing beside what the best one holds."""
    size = size_of(metrics[0])
    integrals = np.array([m + log_volume(metric) for m, metric in zip(middles, metrics)]) + size * _OF_NORMAL
    best, allowed = int(np.argmax(integrals)), LIGHT + FOR_EACH * size
    if not integrals[best] > -np.inf:
        return {}
    held = integrals[best]
    if measure is not None and (held - integrals > allowed).any():
        chosen = np.argsort(-integrals)[:MEASURED]
        held, best = max((measure(int(i)), int(i)) for i in chosen if held - integrals[i] <= allowed)
    return {
        i: f"the posterior where it is, density times volume, is exp(-{lost:.3g}) of that around chain {best + 1}"
        for i, lost in enumerate(held - integrals) if lost > allowed
    }  # fmt: skip


def integral(evaluate: Callable[[np.ndarray], float], metric: Any, inverse: np.ndarray, centers: Sequence[np.ndarray],
             rng: np.random.Generator) -> float:  # fmt: skip
    """The logarithm of the integral of a density around a place, by importance sampling: the largest of some estimates.

    Args:
        evaluate: the log density at a point.
        metric: of the place, whose inverse is the covariance of the normal laws to draw from.
        inverse: that matrix as an array.
        centers: of the normal laws, one for each estimate.
        rng: for the draws.
    """
    constant, found = log_volume(inverse) + metric.size * math.log(2 * math.pi) / 2, []
    for center in centers:
        weights = np.full(DRAWS, -np.inf)
        for k in range(DRAWS):
            momentum = metric.shaped(rng.normal(size=metric.size))
            step = metric.velocity(momentum)
            value = evaluate(center + step)
            if np.isfinite(value):
                weights[k] = value + 0.5 * momentum @ step + constant
        found.append(float(np.logaddexp.reduce(weights)) - math.log(DRAWS))
    return max(found)


def length(step_size: float, inverse_metric: np.ndarray) -> float:
    """How far one step gets: its size times the geometric mean of the scales of an inverse metric.

    A metric that was learned where a chain is stranded is as small as the steps there, whose size tells nothing then.
    """
    return float(step_size * np.exp(log_volume(inverse_metric) / size_of(inverse_metric)))


def _late(levels: np.ndarray) -> np.ndarray:
    return levels[len(levels) // 2 :]


def _middle(levels: np.ndarray) -> float:
    """The median of the later half; -inf where there is none, or no density in it is a number."""
    late = _late(levels)
    return float(np.median(late)) if len(late) and np.isfinite(late).all() else -np.inf
