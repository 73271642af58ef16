"""Chains that are stranded in warm-up: where the sampler has broken down, at densities of no importance.

From a random initial value far from everything a chain can get to where the density is so steep that only tiny steps
are accepted. There it stays, makes trees of the greatest depth, and its draws spoil the posterior. What tells it from a
chain in another mode is that its steps shrank to nothing, or, at the end of warm-up, that its density is lower than any
volume could make up for.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

ATTEMPTS = 10  # how often chains begin anew at one milestone
COLLAPSED = 1e-3  # a step below this share of the best chain's
SMALLEST = 1e-10  # a step that is too small for any chain
FAR = 20.0  # below the best chain's log density, beside ten times its spread
HOPELESS, FOR_EACH = 100.0, 50.0  # the same for a chain that moves: a constant, and for each parameter


def stranded(
    levels: Sequence[np.ndarray], steps: Sequence[float], size: int, is_last: bool
) -> Mapping[int, str]:  # fmt: skip
    """Which chains are stranded, and why.

    Args:
        levels: of each chain, the log densities of its latest draws.
        steps: of each chain, the length of a step: see `length`.
        size: the number of parameters.
        is_last: whether warm-up ends here. A chain with sound steps is only then where it will be.
    """
    middles = [_middle(v) for v in levels]
    best = int(np.argmax(middles))
    spread = float(np.subtract(*np.percentile(_late(levels[best]), (75, 25)))) if middles[best] > -np.inf else 0.0
    out = {}
    for i, (middle, step) in enumerate(zip(middles, steps)):
        behind = middles[best] - middle if middles[best] > -np.inf else 0.0
        if step < SMALLEST:
            out[i] = f"its steps shrank to {step:.2g}"
        elif step < COLLAPSED * steps[best] and behind > FAR + 10 * spread:
            out[i] = f"its steps shrank to {step:.2g}, its log density is {behind:.3g} below that of chain {best + 1}"
        elif is_last and behind > HOPELESS + FOR_EACH * size:
            out[i] = f"its log density is {behind:.3g} below that of chain {best + 1}"
    return out


def length(step_size: float, inverse_metric: np.ndarray) -> float:
    """How far one step gets: its size times the geometric mean of the scales of an inverse metric.

    A metric that was learned where a chain is stranded is as small as the steps there, whose size tells nothing then.
    """
    if inverse_metric.ndim == 1:
        return float(step_size * np.exp(np.log(inverse_metric).mean() / 2))
    return float(step_size * np.exp(np.linalg.slogdet(inverse_metric)[1] / (2 * len(inverse_metric))))


def _late(levels: np.ndarray) -> np.ndarray:
    return levels[len(levels) // 2 :]


def _middle(levels: np.ndarray) -> float:
    """The median of the later half; -inf where there is none."""
    late = _late(levels)
    return float(np.median(late)) if len(late) and not np.isnan(late).any() else -np.inf
