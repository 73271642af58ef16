"""What `generated_quantities` returns for a draw, by program of models/.

EXPECTED has functions of data and parameters for the quantities that the draw determines, RANDOM the shapes of those
that are drawn at random.
"""
from __future__ import annotations

import closed_forms
import numpy as np
from scipy import signal, special, stats

normal = stats.norm.logpdf


def _linear_regression(d, p):
    intercept = p.level - p.slope * np.mean(d.pressure)
    return dict(intercept=intercept, log_lik=normal(d.boiling_point, intercept + p.slope * d.pressure, p.sigma))


def _lotka_volterra(d, p):
    years = closed_forms.populations(d, p)
    return dict(population=years, equilibrium=[p.rate[3] / p.rate[2], p.rate[0] / p.rate[1]])


def _arma11(d, p):
    x = d.series - p.level
    shock = signal.lfilter([1, -p.persistence], [1, p.echo], x)
    return dict(shock=shock, forecast=p.level + p.persistence * x[-1] + p.echo * shock[-1])


def _garch11(d, p):
    drive = np.append(d.first_volatility**2, p.alpha0 + p.alpha1 * (d.returns[:-1] - p.mu) ** 2)
    volatility = np.sqrt(signal.lfilter([1], [1, -p.beta1], drive))
    return dict(volatility=volatility, long_run_variance=p.alpha0 / (1 - p.alpha1 - p.beta1))


def _hmm_example(d, p):
    """Viterbi's recursion with the paths themselves in place of pointers."""
    emission = normal(d.y[:, None], p.centre, p.sigma)
    paths = {j: (-np.log(2) + emission[0, j], [j]) for j in range(2)}
    for e in emission[1:]:
        steps = {j: [(v + np.log(p.move[i, j]) + e[j], [*path, j]) for i, (v, path) in paths.items()] for j in range(2)}
        paths = {j: max(candidates) for j, candidates in steps.items()}
    value, path = max(paths.values())
    return dict(state=np.array(path) + 1, log_probability=value)


def _dogs(d, p):
    shocks = np.cumsum(d.shocked, axis=1)[:, :-1]
    later = shocks * np.log(p.after_shock) + (np.arange(1, d.trials) - shocks) * np.log(p.after_avoidance)
    log_risk = np.hstack([np.zeros((d.dogs, 1)), later])
    return dict(log_risk=log_risk, expected_shocks=np.exp(log_risk).sum(axis=0))


def _gaussian_mixture(d, p):
    joint = stats.norm.pdf(d.y[:, None], p.centre, p.width) * p.share
    return dict(responsibility=joint / joint.sum(axis=1, keepdims=True))


def _gp_regr(d, p):
    def covariance(a, b):
        return p.amplitude**2 * np.exp(-0.5 * ((a[:, None] - b) / p.length_scale) ** 2)

    noisy, between = covariance(d.x, d.x) + p.noise**2 * np.eye(d.N), covariance(d.x, d.x_new)
    gain = np.linalg.solve(noisy, between).T
    return dict(f_mean=gain @ d.y, f_sd=np.sqrt(p.amplitude**2 - np.sum(gain * between.T, axis=1)))


def _old_syntax(d, p):
    centre = np.mean(d.temperature)
    eta = p.level + p.slope * (d.temperature - centre)
    return dict(eta=eta, risk_at_31=special.expit(p.level + p.slope * (31 - centre)))


def _noncentered(d, p):
    effect = p.mean_effect + p.spread * p.standardized
    return dict(effect=effect, log_lik=normal(d.gain, effect, d.se))


def _ragged(d, p):
    log_lik = normal(d.y, np.repeat(p.centre, d.length), p.within)
    return dict(log_lik=[part.sum() for part in np.split(log_lik, np.cumsum(d.length)[:-1])])


def _reduction(d, p):
    residual = d.loss - p.level - (d.setting - np.mean(d.setting, axis=0)) @ p.slope
    return dict(squares=residual @ residual, rms=np.sqrt(np.mean(residual**2)))


def _poisson_glm(d, p):
    log_time = np.log(np.arange(1, d.quarters + 1) / d.quarters)
    return dict(rate=np.exp(p.log_rate) * np.exp(np.polyval([p.slope[1], p.slope[0], 0], log_time)))


EXPECTED = {
    "lotka_volterra": _lotka_volterra,
    "coin": lambda d, p: dict(odds=p.bias / (1 - p.bias)),
    "eight_schools": lambda d, p: dict(
        shrinkage=1 / (1 + (p.spread / d.se) ** 2), best=1 + np.argmax(p.effect)),
    "eight_schools_noncentered": _noncentered,
    "linear_regression": _linear_regression,
    "arK": lambda d, p: {},
    "arma11": _arma11,
    "garch11": _garch11,
    "hmm_example": _hmm_example,
    "dogs": _dogs,
    "gaussian_mixture": _gaussian_mixture,
    "gp_regr": _gp_regr,
    "old_syntax": _old_syntax,
    "logistic_regression_loop": lambda d, p: dict(
        log_lik=special.log_expit((2 * d.y - 1) * (p.intercept + d.x @ p.slope))),
    "nested_loop": lambda d, p: {},
    "ragged": _ragged,
    "conditional": lambda d, p: dict(median_ratio=np.exp(p.benefit)),
    "reduction": _reduction,
    "hierarchical_index": lambda d, p: dict(size_at_birth=p.mean_size - 22 * p.mean_growth),
    "poisson_glm": _poisson_glm,
    "zero_inflated": lambda d, p: dict(prob_zero=1 - (1 - p.idle) * stats.poisson.sf(0, p.rate)),
    "multivariate": lambda d, p: dict(correlation=p.factor @ p.factor.T),
    **dict.fromkeys(("discrete_mixture", "discrete_hmm", "capture_recapture"), lambda d, p: {}),
}  # fmt: skip

RANDOM = {
    "coin": lambda d: dict(next_flip=()),
    "eight_schools_noncentered": lambda d: dict(replicated=(d.schools,)),
    "linear_regression": lambda d: dict(y_rep=(d.N,)),
    "gaussian_mixture": lambda d: dict(component=(d.N,)),
    "nested_loop": lambda d: dict(score_rep=(d.people,)),
    "poisson_glm": lambda d: dict(deaths_rep=(d.quarters,)),
    "zero_inflated": lambda d: dict(count_rep=(d.N,)),
    "multivariate": lambda d: dict(y_new=(d.D,)),
    "discrete_mixture": lambda d: dict(component=(d.N,)),
    "discrete_hmm": lambda d: dict(state=(d.T,), switches=()),
    "capture_recapture": lambda d: dict(alive=(d.animals, d.occasions), survivors=()),
}
