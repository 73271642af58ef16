"""What a fit says of the discrete parameters of one random program, beside all joint assignments.

Draws, marginal probabilities and most probable values are asked for as users do, all programs in one process with its
caches; the random programs of `trial` compute log densities alone.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special, stats

import stanimport
from stanlib.errors import StanError
from tests.discrete.small import Program, assignments, program, size_of, terms
from tests.discrete.trial import Skipped

DRAWS = 150  # at each of two points
UNLIKELY = 1e-6  # that draws of the right law are so far from it


class Joint(NamedTuple):
    """All assignments, (assignments, elements), and the logarithms of their terms at two points."""

    values: np.ndarray
    logs: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        found: np.ndarray = special.softmax(self.logs, axis=0)
        return found

    def number(self, values: np.ndarray) -> int:
        """Which assignment this is. Raises ValueError if it is none."""
        return self.values.tolist().index([int(v) for v in values])


def trial(seed: int) -> str:
    """What is wrong with the answers about the program of a seed, "" if nothing is.

    Raises:
        Skipped: for what is refused, and where nothing is possible.
    """
    small, rng = program(seed), np.random.default_rng(seed)
    points = [rng.normal(size=size_of(small)) * 0.5 for _ in range(2)]
    joint = _joint(small, points)
    if not np.isfinite(joint.logs.max(axis=0)).all():
        raise Skipped("impossible")
    try:
        fit = stanimport.generate_quantities(stanimport.loads(small.text()), small.data, seed=seed,
                                             previous_fit=_draws(points))  # fmt: skip
    except StanError:
        raise Skipped("refused") from None
    found = (*_drawn(fit, small, joint), *_most_probable(fit, small, joint), *_marginal(fit, small, joint))
    return f"{found[0]}\n{small.text()}{small.data}" if found else ""


def _joint(small: Program, points: list[np.ndarray]) -> Joint:
    values = [np.concatenate([np.ravel(z[v.name]) for v in small.variables]) for z in assignments(small)]
    return Joint(np.array(values), np.array([[value for value, _ in t] for t in terms(small, points)]))


def _draws(points: list[np.ndarray]) -> dict[str, np.ndarray]:
    """The continuous parameters of all programs at points, each as often as there are to be draws."""
    at = np.repeat(points, DRAWS, axis=0)
    return {"m": at[:, :4], "s": np.exp(at[:, 4]), "p": special.expit(at[:, 5])}


def _by_point(small: Program, each: list[np.ndarray]) -> np.ndarray:
    """Values of all variables, (points, draws, elements)."""
    flat = [np.asarray(a).reshape(2 * DRAWS, v.size) for a, v in zip(each, small.variables)]
    return np.concatenate(flat, axis=1).reshape(2, DRAWS, -1)


def _drawn(fit: stanimport.Fit, small: Program, joint: Joint) -> list[str]:
    """Draws that are impossible, or more or fewer of some than there can be by chance."""
    drawn = _by_point(small, [fit.stan_variable(v.name) for v in small.variables])
    out = []
    for values, p in zip(drawn, joint.probabilities.T):
        counts = np.bincount([joint.number(v) for v in values], minlength=len(p))
        if counts[p == 0].any():
            out.append(f"impossible draws: {counts}, of {p}")
        elif _chance(counts, p) < UNLIKELY:
            out.append(f"draws {counts}, not {DRAWS * p}")
    return out


def _chance(counts: np.ndarray, p: np.ndarray) -> float:
    """How probable it is that draws are as far from their law, by Pearson's test; seldom values are taken together."""
    order = np.argsort(-p)
    often = order[DRAWS * p[order] >= 5]
    expected = np.append(DRAWS * p[often], DRAWS * (1 - p[often].sum()))
    observed = np.append(counts[often], DRAWS - counts[often].sum())
    if expected[-1] < 5:
        expected, observed = (np.append(a[:-2], a[-2:].sum()) for a in (expected, observed))
    if len(expected) < 2:
        return 1.0
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


def _most_probable(fit: stanimport.Fit, small: Program, joint: Joint) -> list[str]:
    """Values that others are more probable than."""
    found = _by_point(small, [fit.most_probable(v.name) for v in small.variables])
    numbers = [joint.number(values[0]) for values in found]
    return [f"{joint.values[n]} with {logs[n]} is not the most probable, {logs.max()}"
            for n, logs in zip(numbers, joint.logs.T) if logs[n] < logs.max() - 1e-8]  # fmt: skip


def _marginal(fit: stanimport.Fit, small: Program, joint: Joint) -> list[str]:
    """Probabilities of single elements that are not those of all assignments, the mean over the points."""
    out, at, p = [], 0, joint.probabilities.mean(axis=1)
    for v in small.variables:
        found = np.asarray(fit.discrete_probabilities(v.name)).reshape(v.size, -1)
        expected = np.zeros_like(found)
        for i, values in enumerate(v.ranges):
            expected[i, : len(values)] = [p[joint.values[:, at + i] == k].sum() for k in values]
        at += v.size
        if not np.allclose(np.nan_to_num(found), expected, atol=1e-7):
            out.append(f"probabilities of {v.name}: {found.tolist()}, not {expected.tolist()}")
    return out
