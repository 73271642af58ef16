"""What data alone add to the target: Jacobians of outcomes are told where log densities of these are asked for."""
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning
from stanimport.inference.fits.replications import ReplicationWarning

PROGRAM = """
data { int N; vector[N] y; vector[N] x; }
transformed data { vector[N] z; for (n in 1:N) z[n] = log(y[n]); real change = sum(z); }
parameters { real a; }
model { %s }
"""
Y, A = np.array([1.0, 2.5, 0.25]), np.array([0.5, -1.0])
OF_LOGS = stats.norm.logpdf(np.log(Y), A[:, None], 1)
TOLD = {
    "by elements": ("log(y) ~ normal(a, 1); target += -log(y);", "y"),
    "in a loop": ("for (n in 1:N) { log(y[n]) ~ normal(a, 1); target += -log(y[n]); }", "y"),
    "of transformed data": ("z ~ normal(a, 1); target += -sum(z);", "z"),
    "of what these are made of": ("z ~ normal(a, 1); target += -sum(log(y));", "y"),
    "of what is made of the same": ("z ~ normal(a, 1); target += -change;", "change"),
    "by way of a variable": ("real t = 0; for (n in 1:N) t += log(y[n]); z ~ normal(a, 1); target += -t;", "y"),
}


def fit_of(statements):
    module = stanimport.loads(PROGRAM % statements)
    return stanimport.generate_quantities(module, {"N": 3, "y": Y, "x": Y}, previous_fit={"a": A})


def told_by(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"]
    told = [str(w.message) for w in caught if issubclass(w.category, LikelihoodWarning)]
    return next(iter(found.data_vars.values())).values[0], told


@pytest.mark.parametrize("case", TOLD)
def test_jacobians_of_outcomes_are_told(case):
    statements, of = TOLD[case]
    found, told = told_by(fit_of(statements))
    np.testing.assert_allclose(found, OF_LOGS, rtol=1e-10)
    assert [f"adds to the target, which depends on {of}:" in one for one in told] == [True]


def test_constants_of_no_outcome_are_not():
    found, told = told_by(fit_of("y ~ normal(a, 1); target += -sum(log(x)); target += -N * log(2.0) - size(y);"))
    np.testing.assert_allclose(found, stats.norm.logpdf(Y, A[:, None], 1), rtol=1e-10)
    assert told == []


def test_constants_that_an_outcome_decides_are_told():
    """The chance of some outcomes, as of a hurdle, where it is known: models with others are compared by it."""
    found, told = told_by(fit_of("for (n in 1:N) { if (y[n] > 2) target += log(0.3); y[n] ~ normal(a, 1); }"))
    np.testing.assert_allclose(found, stats.norm.logpdf(Y, A[:, None], 1), rtol=1e-10)
    assert ["line 5 adds to the target, which depends on y:" in one for one in told] == [True]


def test_those_beside_a_density_belong_to_it():
    found, told = told_by(fit_of("for (n in 1:N) target += normal_lpdf(log(y[n]) | a, 1) - log(y[n]);"))
    np.testing.assert_allclose(found, stats.lognorm.logpdf(Y, 1, scale=np.exp(A[:, None])), rtol=1e-10)
    assert told == []


def test_replications_are_by_the_same_law():
    fit = fit_of("z ~ normal(a, 1e-9); target += -sum(z);")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReplicationWarning)
        made = fit.posterior_predictive(seed=1).stan_variable("z")
    np.testing.assert_allclose(made, np.repeat(A[:, None], 3, axis=1), atol=1e-6)
