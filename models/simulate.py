"""The data sets that are simulated, written beside their programs: `python models/simulate.py`.

Each comes from a function that draws from its program's own law at the parameters named in it, with a seed of its own,
so that one data set can change without the others.
"""
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Data = dict[str, Any]
Simulation = Callable[[np.random.Generator], Data]


def coin(rng: np.random.Generator, flips: int = 20) -> Data:
    """Bias 0.7."""
    return dict(flips=flips, heads=(rng.random(flips) < 0.7).astype(int))


def ar_k(rng: np.random.Generator, T: int = 120, weight: tuple[float, ...] = (0.5, -0.3, 0.2)) -> Data:
    """Drift 0.4, noise 1."""
    series = list(rng.normal(size=len(weight)))
    while len(series) < T:
        series.append(0.4 + np.dot(weight, series[: -len(weight) - 1 : -1]) + rng.normal())
    return dict(K=len(weight), T=T, series=np.round(series, 3))


def arma11(rng: np.random.Generator, T: int = 150) -> Data:
    """Level 1, persistence 0.6, echo 0.3, noise 0.5."""
    shock = rng.normal(0, 0.5, T)
    series = [1 + shock[0]]
    for t in range(1, T):
        series.append(1 + 0.6 * (series[-1] - 1) + 0.3 * shock[t - 1] + shock[t])
    return dict(T=T, series=np.round(series, 3))


def garch11(rng: np.random.Generator, T: int = 200) -> Data:
    """mu 0.2, alpha0 0.3, alpha1 0.3, beta1 0.4."""
    volatility, returns = [0.8], [0.2 + 0.8 * rng.normal()]
    for _ in range(1, T):
        volatility.append(np.sqrt(0.3 + 0.3 * (returns[-1] - 0.2) ** 2 + 0.4 * volatility[-1] ** 2))
        returns.append(0.2 + volatility[-1] * rng.normal())
    return dict(T=T, returns=np.round(returns, 3), first_volatility=0.8)


def hmm_example(rng: np.random.Generator, T: int = 100) -> Data:
    """Each state is left with probability 0.1 and 0.2; centres -1 and 2, sigma 0.8."""
    leave, centre, state, y = (0.1, 0.2), (-1.0, 2.0), 0, []
    for _ in range(T):
        y.append(rng.normal(centre[state], 0.8))
        if rng.random() < leave[state]:
            state = 1 - state
    return dict(T=T, y=np.round(y, 3))


def gaussian_mixture(rng: np.random.Generator, N: int = 120) -> Data:
    """Two components: shares 0.35 and 0.65, centres -2 and 1.5, widths 0.7 and 1."""
    second = rng.random(N) < 0.65
    y = np.where(second, 1.5, -2.0) + np.where(second, 1.0, 0.7) * rng.normal(size=N)
    return dict(K=2, N=N, y=np.round(y, 3))


def gp_regr(rng: np.random.Generator, N: int = 20, M: int = 5) -> Data:
    """A sine with noise 0.2, and new points between and beyond the observed ones."""
    x = np.sort(rng.uniform(-3, 3, N))
    y = np.sin(1.5 * x) + rng.normal(0, 0.2, N)
    return dict(N=N, x=np.round(x, 3), y=np.round(y, 3), M=M, x_new=np.linspace(-4, 4, M))


def logistic_regression_loop(rng: np.random.Generator, N: int = 200, K: int = 3) -> Data:
    """Intercept -0.5, slopes falling from 1 to -1."""
    x = np.round(rng.normal(size=(N, K)), 3)
    eta = -0.5 + x @ np.linspace(1, -1, K)
    return dict(N=N, K=K, x=x, y=(rng.random(N) < _inv_logit(eta)).astype(int))


def nested_loop(rng: np.random.Generator, people: int = 60, items: int = 8) -> Data:
    """Standard normal abilities, difficulties from -2 to 2, discriminations from 0.6 to 1.6."""
    ability, difficulty = rng.normal(size=(people, 1)), np.linspace(-2, 2, items)
    eta = np.linspace(0.6, 1.6, items) * (ability - difficulty)
    return dict(people=people, items=items, correct=(rng.random((people, items)) < _inv_logit(eta)).astype(int))


def ragged(rng: np.random.Generator, groups: int = 12) -> Data:
    """One to fifteen observations per group; overall mean 5, standard deviation 2 between and 1 within groups."""
    length = rng.integers(1, 16, groups)
    centre = rng.normal(5, 2, groups)
    return dict(groups=groups, length=length, y=np.round(rng.normal(np.repeat(centre, length), 1.0), 3))


def multivariate(rng: np.random.Generator, N: int = 60) -> Data:
    """Three variables with correlations 0.6, -0.3 and 0.2."""
    correlation = np.array([[1, 0.6, -0.3], [0.6, 1, 0.2], [-0.3, 0.2, 1]])
    factor = np.diag([1.0, 2.0, 0.5]) @ np.linalg.cholesky(correlation)
    y = np.array([1.0, -2.0, 0.0]) + rng.normal(size=(N, 3)) @ factor.T
    return dict(N=N, D=3, y=np.round(y, 3))


def capture_recapture(rng: np.random.Generator, animals: int = 60, occasions: int = 6) -> Data:
    """Survival 0.8, sighting 0.6; animals are marked on all occasions but the last."""
    first = rng.integers(0, occasions - 1, animals)[:, None]
    later = np.arange(occasions) > first
    alive = np.cumprod(np.where(later, rng.random((animals, occasions)) < 0.8, True), axis=1)
    seen = np.where(later, alive * (rng.random((animals, occasions)) < 0.6), np.arange(occasions) == first)
    return dict(animals=animals, occasions=occasions, seen=seen.astype(int))


SIMULATIONS: dict[str, tuple[Simulation, int]] = {
    "coin": (coin, 1),
    "arK": (ar_k, 2),
    "arma11": (arma11, 3),
    "garch11": (garch11, 4),
    "hmm_example": (hmm_example, 5),
    "gaussian_mixture": (gaussian_mixture, 6),
    "gp_regr": (gp_regr, 7),
    "logistic_regression_loop": (logistic_regression_loop, 8),
    "nested_loop": (nested_loop, 9),
    "ragged": (ragged, 10),
    "multivariate": (multivariate, 11),
    "discrete_mixture": (gaussian_mixture, 6),
    "discrete_hmm": (hmm_example, 5),
    "capture_recapture": (capture_recapture, 12),
}


def simulate(name: str, **sizes: int) -> Data:
    """The data of a program; `sizes` (T=1000) make larger ones than those in the folder."""
    simulation, seed = SIMULATIONS[name]
    data = simulation(np.random.default_rng(seed), **sizes)
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in data.items()}


def text(data: Data) -> str:
    """The JSON of a data set, one variable a line."""
    return "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in data.items()) + "\n}\n"


def _inv_logit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


if __name__ == "__main__":
    for program in SIMULATIONS:
        (Path(__file__).parent / f"{program}.json").write_text(text(simulate(program)))
