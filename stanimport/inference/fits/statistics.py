"""Convergence statistics of draws of shape (chains, draws, columns): rank-normalized R-hat and effective sample sizes.

Source: Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), "Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16; for the truncation of autocorrelations, Geyer
(1992), "Practical Markov chain Monte Carlo", Statistical Science 7. ArviZ has the same statistics; they stand here
because the table of a fit would take twice as long if it waited for the import.
"""
from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import numpy as np

_NORMAL = NormalDist()
_MANY = 20_000  # normal scores beyond which importing SciPy is faster than computing them one by one


def split(draws: np.ndarray) -> np.ndarray:
    """Every chain as two: its first and its second half, without the middle draw if there is one."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def rank_normalized(draws: np.ndarray) -> np.ndarray:
    """Normal scores of the ranks over all chains; equal draws share their mean rank."""
    flat = draws.reshape(-1, draws.shape[-1])
    doubled = np.empty(flat.shape, int)  # the ranks times two
    for j, column in enumerate(flat.T):
        _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
        doubled[:, j] = (2 * np.cumsum(counts) - counts + 1)[place]
    return _normal_scores(doubled, len(flat)).reshape(draws.shape)


def _normal_scores(doubled: np.ndarray, count: int) -> np.ndarray:
    """The normal scores of ranks times two, of which there are at most twice as many as draws."""
    scores = _known_scores(count)
    occurs = np.zeros(len(scores), bool)
    occurs[doubled] = True
    new = np.flatnonzero(occurs & np.isnan(scores))
    scores[new] = _normal_quantiles((new / 2 - 0.375) / (count + 0.25))
    of_draws: np.ndarray = scores[doubled]
    return of_draws


@lru_cache(2)
def _known_scores(count: int) -> np.ndarray:
    """The scores of ranks times two, NaN where nobody has asked yet: the columns of a table have the same ranks."""
    return np.full(2 * count + 1, np.nan)


def _normal_quantiles(probabilities: np.ndarray) -> np.ndarray:
    if len(probabilities) > _MANY:
        from scipy.special import ndtri

        return np.asarray(ndtri(probabilities))
    return np.array([_NORMAL.inv_cdf(p) for p in probabilities.tolist()])


def rhat(draws: np.ndarray) -> np.ndarray:
    """Rank-normalized split R-hat, the larger of that of the location and that of the scale; NaN where it has none."""
    return rhat_and_ess_bulk(draws)[0]


def rhat_and_ess_bulk(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both, which have the normal scores of the draws in common; NaN for less than four draws of a chain."""
    if draws.shape[1] < 4:
        return np.full(draws.shape[-1], np.nan), np.full(draws.shape[-1], np.nan)
    halves = split(draws)
    scores = rank_normalized(halves)
    with np.errstate(all="ignore"):
        folded = np.abs(halves - np.median(halves, axis=(0, 1)))
        values = [_potential_reduction(h) for h in (scores, rank_normalized(folded))]
    return _where_defined(draws, np.maximum(*values)), _ess(draws, scores)


def _potential_reduction(draws: np.ndarray) -> np.ndarray:
    """The square root of the variance of all draws over that within the chains."""
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    return np.asarray(np.sqrt((draws.shape[1] - 1) / draws.shape[1] + between / within))


def ess_bulk(draws: np.ndarray) -> np.ndarray:
    """The effective sample size for the location; NaN for what does not vary."""
    return _ess(draws, rank_normalized(split(draws)))


def ess_tail(draws: np.ndarray) -> np.ndarray:
    """The smaller of the effective sample sizes for the 5% and 95% quantiles; NaN for what does not vary."""
    halves = split(draws)
    with np.errstate(invalid="ignore"):  # of infinite values
        tails = [(halves <= q).astype(float) for q in np.quantile(draws, (0.05, 0.95), axis=(0, 1))]
    smaller: np.ndarray = np.fmin(*(_ess(draws, t) for t in tails))
    return smaller


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
    """The effective sample size for the mean of values, at most their number times its logarithm in base 10."""
    if values.shape[1] < 4:
        return np.full(draws.shape[-1], np.nan)
    count = values.shape[0] * values.shape[1]
    with np.errstate(all="ignore"):
        time = _autocorrelation_time(values)  # of antithetic chains it may come out negative
        sizes = _where_defined(values, count / np.maximum(time, 1 / np.log10(count)))
    return np.where(np.isnan(draws.min(axis=(0, 1))), np.nan, sizes)  # ranks and tails have values there too


def _autocorrelation_time(values: np.ndarray) -> np.ndarray:
    """The sum of all autocorrelations, both ways: of pairs up to the first negative one, decreasing.

    Half of what is left out then is its first one, if that is positive. Source: Vehtari et al. (2021), section 3.2, and
    what Stan makes of it.
    """
    chains, length = values.shape[:2]
    centered = values - values.mean(axis=1, keepdims=True)
    by_column = np.ascontiguousarray(np.moveaxis(centered, -1, 0))
    spectrum = np.fft.rfft(by_column, 2 * length)
    power = (np.square(spectrum.real) + np.square(spectrum.imag)).mean(axis=1)  # of all chains: the rest is linear
    covariances = np.fft.irfft(power, 2 * length)[:, :length].T / length
    within = covariances[0] * length / (length - 1)
    between = values.mean(axis=1).var(axis=0, ddof=1) if chains > 1 else 0.0
    correlations = 1 - (within - covariances) / (covariances[0] + between)
    correlations[0] = 1
    pairs = correlations[: length // 2 * 2].reshape(length // 2, 2, -1).sum(axis=1)
    kept = np.logical_and.accumulate(pairs > 0)
    first = np.minimum(2 * kept.sum(axis=0), length - 1)[None]
    left_out = np.where(kept.all(axis=0), 0, np.maximum(np.take_along_axis(correlations, first, 0)[0], 0))
    return np.asarray(2 * np.where(kept, np.minimum.accumulate(pairs), 0).sum(axis=0) - 1 + left_out)


def _where_defined(draws: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values, NaN for columns that are constant, not finite, or too short."""
    if draws.shape[1] < 4:
        return np.full(draws.shape[-1], np.nan)
    low, high = draws.min(axis=(0, 1)), draws.max(axis=(0, 1))
    return np.where(np.isfinite(low) & np.isfinite(high) & (low < high), values, np.nan)
