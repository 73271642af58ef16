"""Convergence statistics of draws of shape (chains, draws, columns): rank-normalized R-hat and effective sample sizes.

Source: Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), "Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16. The effective sample size of given numbers and
the plain R-hat are NumPyro's.
"""
from __future__ import annotations

import numpy as np
from numpyro.diagnostics import effective_sample_size, gelman_rubin
from scipy.special import ndtri


def split(draws: np.ndarray) -> np.ndarray:
    """Every chain as two: its first and its second half, without the middle draw if there is one."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def rank_normalized(draws: np.ndarray) -> np.ndarray:
    """Normal scores of the ranks over all chains; equal draws share their mean rank."""
    flat = draws.reshape(-1, draws.shape[-1])
    ranks = np.empty(flat.shape)
    for j, column in enumerate(flat.T):
        _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks[:, j] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return np.asarray(ndtri((ranks - 0.375) / (len(flat) + 0.25))).reshape(draws.shape)


def rhat(draws: np.ndarray) -> np.ndarray:
    """Rank-normalized split R-hat, the larger of that of the location and that of the scale; NaN where it has none."""
    halves = split(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    with np.errstate(all="ignore"):
        values = [gelman_rubin(rank_normalized(h)) for h in (halves, folded)]
    return _where_defined(draws, np.maximum(*values))


def ess_bulk(draws: np.ndarray) -> np.ndarray:
    """The effective sample size for the location; NaN for what does not vary."""
    return _ess(draws, rank_normalized(split(draws)))


def ess_tail(draws: np.ndarray) -> np.ndarray:
    """The smaller of the effective sample sizes for the 5% and 95% quantiles; NaN for what does not vary."""
    halves = split(draws)
    tails = [(halves <= np.quantile(draws, p, axis=(0, 1))).astype(float) for p in (0.05, 0.95)]
    return np.fmin(*(_ess(draws, t) for t in tails))


def ess_mean(draws: np.ndarray) -> np.ndarray:
    """The effective sample size for the mean."""
    return _ess(draws, split(draws))


def mcse_mean(draws: np.ndarray) -> np.ndarray:
    """The Monte Carlo standard error of the mean."""
    return np.asarray(draws.std(axis=(0, 1), ddof=1) / np.sqrt(ess_mean(draws)))


def ebfmi(energy: np.ndarray) -> np.ndarray:
    """The estimated Bayesian fraction of missing information of each chain, from energies (chains, draws).

    Source: Betancourt (2016), "Diagnosing suboptimal cotangent disintegrations in Hamiltonian Monte Carlo".
    """
    with np.errstate(all="ignore"):
        return np.asarray(np.square(np.diff(energy, axis=1)).mean(axis=1) / energy.var(axis=1))


def _ess(draws: np.ndarray, values: np.ndarray) -> np.ndarray:
    """NumPyro's effective sample size, at most the number of draws times its logarithm in base 10."""
    if values.shape[1] < 2:
        return np.full(draws.shape[-1], np.nan)
    count = values.shape[0] * values.shape[1]
    with np.errstate(all="ignore"):
        size = np.asarray(effective_sample_size(values))
    return _where_defined(values, np.minimum(size, count * np.log10(count)))


def _where_defined(draws: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values, NaN for columns that are constant, not finite, or too short."""
    if draws.shape[1] < 4:
        return np.full(draws.shape[-1], np.nan)
    low, high = draws.min(axis=(0, 1)), draws.max(axis=(0, 1))
    return np.where(np.isfinite(low) & np.isfinite(high) & (low < high), values, np.nan)
