"""The Pareto shape of importance weights: whether an approximation comes close enough to the posterior.

Source: Vehtari, Simpson, Gelman, Yao and Gabry (2024), "Pareto smoothed importance sampling", Journal of Machine
Learning Research 25; for variational inference Yao, Vehtari, Simpson and Gelman (2018), "Yes, but did it work?", ICML;
for the fit Zhang and Stephens (2009), "A new and efficient estimation method for the generalized Pareto distribution",
Technometrics 51.
"""
from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np

from ...errors import warn

__all__ = ["ParetoWarning"]
RELIABLE = 0.7
_FEWEST = 5  # of the largest ratios, for a fit


class ParetoWarning(RuntimeWarning):
    """The approximation is far from the posterior: importance weights can't repair it."""


def pareto_shape(log_ratios: np.ndarray) -> float:
    """The shape of the tail of importance ratios, k-hat: above 0.7 the approximation is far from the posterior.

    Args:
        log_ratios: log densities of the posterior minus those of the approximation, at its draws; up to a constant.

    Returns:
        The estimate; infinity if a ratio is none or a few are beyond all others, minus infinity if those of the tail
        are equal, NaN for fewer than 25 draws.
    """
    ratios = np.sort(np.where(np.isnan(log_ratios), -np.inf, log_ratios))
    count = len(ratios)
    tail = int(np.ceil(min(0.2 * count, 3 * np.sqrt(count))))
    if tail < _FEWEST:
        return float("nan")
    if not np.isfinite(ratios[-1]) or not np.isfinite(ratios[-tail - 1]):
        return float("inf")
    threshold = ratios[-tail - 1]
    excesses = np.exp(ratios[-tail:] - ratios[-1]) - np.exp(threshold - ratios[-1])
    quartile = int(tail / 4 + 0.5) - 1
    if excesses[quartile] < np.finfo(float).tiny and ratios[-tail:][quartile] > threshold:
        return float("inf")  # next to the largest the others are nothing
    if excesses[0] <= 0 or excesses[-1] <= excesses[0] * (1 + 1e-12):
        return float("-inf")
    return _shape(excesses)


def _shape(excesses: np.ndarray) -> float:
    """The shape of a generalized Pareto law from sorted excesses, drawn a little to one half where they are few."""
    count, prior = len(excesses), 3
    grid = 30 + int(np.sqrt(count))
    at = 1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))
    at = at / (prior * excesses[int(count / 4 + 0.5) - 1]) + 1 / excesses[-1]
    shapes = np.log1p(-at[:, None] * excesses).mean(axis=1)
    profile = count * (np.log(-at / shapes) - shapes - 1)
    weights = 1 / np.exp(profile - profile[:, None]).sum(axis=1)
    kept = weights >= 10 * np.finfo(float).eps
    mean = float((at[kept] * weights[kept]).sum() / weights[kept].sum())
    shape = float(np.log1p(-mean * excesses).mean())
    return (count * shape + 10 * 0.5) / (count + 10)


def compare(stats: Mapping[str, np.ndarray], info: MutableMapping[str, Any], wanted: bool) -> None:
    """Note the Pareto shape of the weights of draws, NaN if their densities are not known, and warn of a large one."""
    if wanted:
        known = "log_q__" in stats
        info["pareto_k"] = pareto_shape((stats["log_p__"] - stats["log_q__"]).ravel()) if known else float("nan")
        warn_of(info["pareto_k"])


def warn_of(shape: float) -> None:
    """Warn of an approximation that is far from the posterior."""
    if shape > RELIABLE:
        told = f"the Pareto shape (k-hat) of the approximation's importance weights is {shape:.2f}, above {RELIABLE}"
        warn(f"{told}: the posterior is another law; sample from it, or try another algorithm",
             ParetoWarning)  # fmt: skip
