"""Normalizing flows as approximations: their densities are those of their draws, and come close to the posterior's."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.special import digamma

import stanimport
from stanimport.inference.options import OptionError

CHAIN = "parameters { real a; real<lower=0> b; } model { a ~ normal(0, 1); b ~ lognormal(2 * a, 0.5); }"
SLOW = pytest.param("numpyro", "bnaf", marks=pytest.mark.slow)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend, algorithm", [
    ("numpyro", "iaf"), ("pyro", "iaf"), ("pyro", "bnaf"), ("pyro", "spline"), SLOW,
])  # fmt: skip
def test_densities_of_a_flow_are_those_of_its_draws(backend, algorithm):
    """The entropy by the densities is that by the distances between nearest draws."""
    fit = stanimport.variational(
        stanimport.loads(CHAIN, backend=backend), seed=1, algorithm=algorithm, eta=0.02,
        draws=1500 if backend == "numpyro" else 700, iter=2000 if backend == "numpyro" else 150,
        require_converged=False,
    )  # fmt: skip
    points = np.stack([fit.stan_variable("a"), np.log(fit.stan_variable("b"))], 1)
    nearest = cKDTree(points).query(points, 2)[0][:, 1]
    count = len(points)
    entropy = digamma(count) - digamma(1) + np.log(np.pi) + 2 * np.log(nearest).mean()
    assert -fit.stats["log_q__"].mean() == pytest.approx(entropy, abs=0.15)
    if backend == "numpyro":
        assert (fit.stats["log_p__"] - fit.stats["log_q__"]).mean() > -1  # the best of mean-field laws has -1.4


@pytest.mark.slow
def test_a_flow_is_fitted_by_minibatches():
    source = """
        data { int N; vector[N] y; } parameters { real a; real b; }
        model { a ~ normal(0, 1); b ~ normal(0, 1); y ~ normal(a + b, 1); }
    """
    y = np.random.default_rng(1).normal(1.0, 1.0, 100)
    fit = stanimport.variational(stanimport.loads(source), {"N": 100, "y": y}, minibatch={"N": 50}, seed=1, iter=3000,
                                 algorithm="iaf", eta=0.02, require_converged=False)  # fmt: skip
    total = fit.stan_variable("a") + fit.stan_variable("b")
    assert total.mean() == pytest.approx(y.sum() / (100 + 1 / 2), abs=0.06)
    assert np.corrcoef(fit.stan_variable("a"), fit.stan_variable("b"))[0, 1] < -0.8


@pytest.mark.parametrize("source, algorithm, said", [
    ("parameters { real a; } model { a ~ normal(0, 1); }", "iaf", "one of several parameters, and there is 1"),
    (CHAIN, "spline", "NumPyro has no spline flow"),
    (CHAIN, "splines", "did you mean 'spline'"),
])  # fmt: skip
def test_flows_that_there_are_not(source, algorithm, said):
    with pytest.raises(OptionError, match=said):
        stanimport.variational(stanimport.loads(source), seed=1, algorithm=algorithm)


@pytest.mark.slow
def test_a_flow_without_an_inverse_is_compared_with_the_posterior_by_minibatches():
    """Its density is known at its own draws alone."""
    source = "data { int N; vector[N] y; } " + CHAIN.replace("0.5);", "0.5); y ~ normal(a, 1);")
    fit = stanimport.variational(stanimport.loads(source), {"N": 6, "y": np.zeros(6)}, minibatch={"N": 3}, seed=1,
                                 iter=20, algorithm="bnaf", draws=30, require_converged=False)  # fmt: skip
    assert not np.isnan(fit.info["pareto_k"])
