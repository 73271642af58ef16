"""Modes of a model as Prophet has it: a trend whose slope changes at points, by sharp priors, and seasons."""
from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import stanimport

N, CHANGES, WAVES = 150, 12, 3
TREND = """
data { int N; int J; int K; vector[N] t; vector[N] y; vector[J] change; matrix[N, K] season; }
transformed data {
  matrix[N, J] after;
  for (n in 1:N) for (j in 1:J) after[n, j] = t[n] >= change[j] ? t[n] - change[j] : 0;
}
parameters { real k; real m; vector[J] delta; real<lower=0> sigma; vector[K] beta; }
model {
  k ~ normal(0, 5);
  m ~ normal(0, 5);
  delta ~ double_exponential(0, 0.05);
  sigma ~ normal(0, 0.5);
  beta ~ normal(0, 10);
  y ~ normal(m + k * t + after * delta + season * beta, sigma);
}
"""


def series():
    """A bend and a yearly wave of four years, with noise."""
    t = np.linspace(0, 1, N)
    season = np.stack([f(8 * np.pi * i * t) for i in range(1, WAVES + 1) for f in (np.sin, np.cos)], axis=1)
    noise = np.random.default_rng(3).normal(0, 0.05, N)
    y = 0.3 + 0.8 * t - 1.5 * np.maximum(t - 0.4, 0) + 0.1 * season[:, 0] + noise
    return {"N": N, "J": CHANGES, "K": 2 * WAVES, "t": t, "y": y, "season": season,
            "change": np.linspace(0, 0.8, CHANGES + 1)[1:]}  # fmt: skip


def largest(data):
    """The largest log density: a change is the difference of two that are not negative, of which it is smooth."""
    after, ends = np.maximum(data["t"][:, None] - data["change"], 0), 3 + CHANGES * np.arange(3)

    def minus(p):
        k, m, s, up, down, beta = *p[:3], *np.split(p, ends)[1:]
        left = data["y"] - m - k * data["t"] - after @ (up - down) - data["season"] @ beta
        value = (k**2 + m**2) / 50 + (up + down).sum() / 0.05 + 2 * s**2 + beta @ beta / 200
        slope = -left / s**2
        gradient = [k / 25 + slope @ data["t"], m / 25 + slope.sum(), 4 * s + N / s - left @ left / s**3]
        parts = gradient, 20 + after.T @ slope, 20 - after.T @ slope, beta / 100 + data["season"].T @ slope
        return value + N * np.log(s) + left @ left / (2 * s**2), np.concatenate(parts)

    start = np.concatenate([[0, 0, 1], np.full(2 * CHANGES, 0.01), np.zeros(2 * WAVES)])
    free = [(None, None)]
    bounds = 2 * free + [(1e-6, None)] + 2 * CHANGES * [(0, None)] + 2 * WAVES * free
    found = scipy.optimize.minimize(minus, start, jac=True, bounds=bounds, options={
        "maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9})  # fmt: skip
    scales = 2 * [5] + [0.5] + 2 * WAVES * [10] + N * [1]
    return -found.fun - np.log(np.sqrt(2 * np.pi) * np.array(scales)).sum() - CHANGES * np.log(0.1)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("start", [{"seed": 1}, {"seed": 2}, {"seed": 3}, {"seed": 6}, {"seed": 1, "inits": 0},
                                   {"seed": 1, "inits": {"sigma": 1.0}}])  # fmt: skip
def test_newton_ends_where_steps_gain_nothing(start):
    """Near the mode, from wherever it begins and soon: CmdStan's Prophet falls back on it where L-BFGS sticks. Steps
    that are halved and not damped take thousands of Hessians with more changes than these."""
    data, module = series(), stanimport.loads(TREND)
    mode, best = stanimport.optimize(module, data, algorithm="newton", iter=150, **start), largest(data)
    assert mode.converged and "gains" in mode.info["message"]
    assert best - 0.05 < mode.stats["lp__"][0, 0] < best + 1e-6


@pytest.mark.sampled(4)
@pytest.mark.parametrize("start", [{"seed": 1}, {"seed": 2}, {"seed": 3}, {"seed": 1, "inits": 0}])
def test_the_default_ends_at_the_mode_though_it_is_at_kinks(start):
    data, module = series(), stanimport.loads(TREND)
    mode, best = stanimport.optimize(module, data, **start), largest(data)
    assert mode.converged and mode.stats["lp__"][0, 0] == pytest.approx(best, abs=1e-4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("tolerance", [{}, {"tol_param": 1e-8}, {"tol_rel_grad": 1e7}, {"tol_obj": 1e-12}])
def test_a_density_without_a_mode_has_none_by_any_tolerance(tolerance):
    """That of a hierarchy grows without end where its scale runs to 0: steps are small there, slopes are not."""
    module = stanimport.loads("""data { int J; vector[J] y; vector[J] se; }
        parameters { real mu; real<lower=0> tau; vector[J] theta; }
        model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, se); }""")
    data = {"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "se": [15, 10, 16, 11, 9, 11, 10, 18]}
    with pytest.raises(RuntimeError, match="did not converge.* the density still rises"):
        stanimport.optimize(module, data, seed=1, **tolerance)


def test_what_is_asked_to_gain_little_may_end_on_a_slope():
    module = stanimport.loads("parameters { vector[2] x; } model { x ~ normal(0, 1); }")
    mode = stanimport.optimize(module, inits={"x": [30.0, 40.0]}, seed=1, tol_obj=1e6)
    assert mode.converged and np.abs(mode.stan_variable("x")).max() > 1e-3


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("algorithm", ["lbfgs", "bfgs"])
def test_searches_that_break_off_at_kinks_are_followed_by_one_that_does_not(algorithm):
    """Wherever they break off, also amid large gains. The mode is that of a smooth problem, as `largest` has it."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(100, 30))
    y = x[:, :5] @ [3, -2, 1, 0.5, 4] + rng.normal(size=100)
    module = stanimport.loads("""data { int N; int K; matrix[N, K] x; vector[N] y; } 
        parameters { vector[K] beta; real<lower=0> sigma; }
        model { beta ~ double_exponential(0, 0.2); sigma ~ normal(0, 2); y ~ normal(x * beta, sigma); }""")

    def minus(p):
        s, (up, down) = p[0], np.split(p[1:], 2)
        left = y - x @ (up - down)
        slope = x.T @ left / s**2
        value = 5 * p[1:].sum() + s**2 / 8 + 100 * np.log(s) + left @ left / (2 * s**2)
        return value, np.concatenate([[s / 4 + 100 / s - left @ left / s**3], 5 - slope, 5 + slope])

    found = scipy.optimize.minimize(minus, np.ones(61), jac=True, bounds=[(1e-6, None)] + 60 * [(0, None)], options={
        "maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9})  # fmt: skip
    best = -found.fun - 30 * np.log(0.4) - 50.5 * np.log(2 * np.pi) - np.log(2)
    for seed in range(8):
        mode = stanimport.optimize(module, {"N": 100, "K": 30, "x": x, "y": y}, seed=seed, algorithm=algorithm)
        assert mode.converged and mode.stats["lp__"][0, 0] == pytest.approx(best, abs=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("algorithm", ["lbfgs", "bfgs"])
def test_a_mode_in_the_neck_of_a_funnel_is_one(algorithm):
    """Where gradients are huge next to it, so that no step of a usual line search is good enough."""
    funnel = "parameters { real t; vector[9] x; } model { t ~ normal(0, 3); x ~ normal(0, exp(t / 2)); }"
    module = stanimport.loads(funnel)
    at = -9 * 9 / 2  # where -t^2 / 18 - 9 t / 2 is largest
    best = -np.log(3) - 5 * np.log(2 * np.pi) - at**2 / 18 - 9 * at / 2
    for seed in range(4):
        mode = stanimport.optimize(module, seed=seed, algorithm=algorithm)
        assert mode.stan_variable("t") == pytest.approx(at, abs=1e-3)
        assert mode.stats["lp__"][0, 0] == pytest.approx(best, abs=1e-6)
