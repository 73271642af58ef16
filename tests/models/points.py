"""A plausible parameter point of every program in models/, by name: functions of the data and a random generator."""
from __future__ import annotations

import numpy as np


def _near(rng, *centres):
    """Values within five percent of some."""
    return np.array(centres) * rng.uniform(0.95, 1.05, len(centres))


def _share(rng, *shape):
    return rng.dirichlet(np.full(shape[-1], 4.0), shape[:-1])


def _garch11(d, rng):
    alpha1 = rng.uniform(0.2, 0.4)
    return dict(mu=rng.normal(0.2, 0.1), alpha0=rng.uniform(0.2, 0.5), alpha1=alpha1,
                beta1=(1 - alpha1) * rng.uniform(0.2, 0.8))  # fmt: skip


def _hierarchical_index(d, rng):
    mean_size, mean_growth = rng.normal(240, 5), rng.normal(6, 0.3)
    return dict(
        mean_size=mean_size, mean_growth=mean_growth, sd_size=rng.uniform(10, 20), sd_growth=rng.uniform(0.3, 0.8),
        sigma=rng.uniform(6, 9), size_at_middle=rng.normal(mean_size, 10, d.rats),
        growth=rng.normal(mean_growth, 0.4, d.rats),
    )  # fmt: skip


def _multivariate(d, rng):
    rows = np.tril(rng.normal(size=(d.D, d.D)), -1) + 2 * np.eye(d.D)
    return dict(
        centre=rng.normal([1, -2, 0], 0.2), scale=rng.uniform(0.5, 2, d.D),
        factor=rows / np.linalg.norm(rows, axis=1, keepdims=True),
    )  # fmt: skip


POINTS = {
    "lotka_volterra": lambda d, rng: dict(
        rate=_near(rng, 0.55, 0.028, 0.024, 0.8), initial=_near(rng, 33, 6), sigma=rng.uniform(0.2, 0.4, 2)
    ),
    "coin": lambda d, rng: dict(bias=rng.uniform(0.2, 0.8)),
    "eight_schools": lambda d, rng: dict(
        mean_effect=rng.normal(4, 2), spread=rng.uniform(2, 8), effect=rng.normal(4, 4, d.schools)),
    "eight_schools_noncentered": lambda d, rng: dict(
        mean_effect=rng.normal(4, 2), spread=rng.uniform(2, 8), standardized=rng.normal(0, 1, d.schools)),
    "linear_regression": lambda d, rng: dict(
        level=rng.normal(203, 0.2), slope=rng.normal(1.9, 0.1), sigma=rng.uniform(0.3, 0.8)),
    "arK": lambda d, rng: dict(drift=rng.normal(), weight=rng.uniform(-0.5, 0.5, d.K), noise=rng.uniform(0.5, 2)),
    "arma11": lambda d, rng: dict(
        level=rng.normal(1, 0.2), persistence=rng.uniform(0, 0.8), echo=rng.uniform(-0.5, 0.5),
        noise=rng.uniform(0.4, 0.8)),
    "garch11": _garch11,
    "hmm_example": lambda d, rng: dict(
        move=_share(rng, 2, 2), centre=rng.normal([-1, 2], 0.3), sigma=rng.uniform(0.6, 1.2)),
    "dogs": lambda d, rng: dict(after_shock=rng.uniform(0.8, 0.95), after_avoidance=rng.uniform(0.7, 0.9)),
    "gaussian_mixture": lambda d, rng: dict(
        share=_share(rng, d.K), centre=rng.normal([-2, 1.5], 0.3), width=rng.uniform(0.6, 1.4, d.K)),
    "gp_regr": lambda d, rng: dict(
        length_scale=rng.uniform(0.7, 1.5), amplitude=rng.uniform(0.7, 1.5), noise=rng.uniform(0.2, 0.5)),
    "old_syntax": lambda d, rng: dict(level=rng.normal(-1, 0.5), slope=rng.normal(-0.2, 0.1)),
    "logistic_regression_loop": lambda d, rng: dict(intercept=rng.normal(-0.5, 0.3), slope=rng.normal(size=d.K)),
    "nested_loop": lambda d, rng: dict(
        ability=rng.normal(size=d.people), difficulty=rng.normal(size=d.items),
        discrimination=rng.uniform(0.5, 2, d.items)),
    "ragged": lambda d, rng: dict(
        overall=rng.normal(4, 1), between=rng.uniform(1, 3), within=rng.uniform(0.8, 1.5),
        centre=rng.normal(4, 1, d.groups)),
    "conditional": lambda d, rng: dict(
        baseline=rng.normal(2, 0.3), benefit=rng.normal(1, 0.5), sigma=rng.uniform(0.6, 1.2)),
    "reduction": lambda d, rng: dict(
        level=rng.normal(17, 1), slope=rng.normal([0.7, 1.3, -0.1], 0.1), sigma=rng.uniform(2, 5)),
    "hierarchical_index": _hierarchical_index,
    "poisson_glm": lambda d, rng: dict(log_rate=rng.normal(3.7, 0.1), slope=_near(rng, 1.8, -0.2)),
    "zero_inflated": lambda d, rng: dict(idle=rng.uniform(0.3, 0.7), rate=rng.uniform(0.5, 1.2)),
    "multivariate": _multivariate,
    "capture_recapture": lambda d, rng: dict(
        survival=rng.uniform(0.6, 0.9, d.occasions - 1), sighting=rng.uniform(0.4, 0.8)),
}  # fmt: skip
POINTS |= {"discrete_mixture": POINTS["gaussian_mixture"], "discrete_hmm": POINTS["hmm_example"]}
