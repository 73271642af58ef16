"""Observations at places that a program counts in loops which the backend runs: log likelihoods and replications."""
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning

PROGRAM = """
functions {
  void each_lp(vector y, array[] int sizes, vector b) {
    int q = 0;
    for (j in 1:size(sizes)) for (i in 1:sizes[j]) { q += 1; y[q] ~ normal(b[j] + i, 1); }
  }
}
data { int N; int J; vector[N] y; array[J] int sizes; }
parameters { vector[J] b; }
model { b ~ normal(0, 1); %s }
"""
SIZES, Y = [1, 3, 0, 2], np.array([0.5, 1.5, -1.0, 2.0, 0.25, 4.0])
B = np.array([[1.0, -2.0, 3.0, 0.5], [0.0, 1.0, 2.0, 3.0]])
MEANS = B[:, np.repeat(np.arange(4), SIZES)] + np.concatenate([np.arange(1, s + 1) for s in SIZES])
DATA = {"N": 6, "J": 4, "y": Y, "sizes": SIZES}
DRAWN = {
    "before": "int q = 0; for (j in 1:J) for (i in 1:sizes[j]) { q += 1; y[q] ~ normal(b[j] + i, 1); }",
    "down": """int q = N; for (k in 1:J) { int j = J + 1 - k;
               for (i in 1:sizes[j]) { y[q] ~ normal(b[j] + sizes[j] + 1 - i, 1); q -= 1; } }""",
    "in a function": "each_lp(y, sizes, b);",
}
TOLD = {
    "iterations left out": """int q = 0; for (j in 1:J) { if (sizes[j] == 0) continue;
        for (i in 1:sizes[j]) { q += 1; y[q] ~ normal(b[j] + i, 1); } }""",
    "densities": """int q = 0; for (j in 1:J) { if (sizes[j] == 0) continue;
        for (i in 1:sizes[j]) { q += 1; target += normal_lpdf(y[q] | b[j] + i, 1); } }""",
    "two counters": """int q = 0; for (n in 1:N) { q += 1; int j = 1; int c = sizes[1];
        while (c < q) { j += 1; c += sizes[j]; }
        y[q] ~ normal(b[j] + q - c + sizes[j], 1); }""",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", [*DRAWN, *TOLD])
def test_log_likelihoods(case):
    module = stanimport.loads(PROGRAM % {**DRAWN, **TOLD}[case])
    fit = stanimport.generate_quantities(module, DATA, previous_fit={"b": B})
    with warnings.catch_warnings():
        warnings.simplefilter("error", LikelihoodWarning)
        found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"]["y"].values[0]
    np.testing.assert_allclose(found, stats.norm.logpdf(Y, MEANS, 1), rtol=1e-10)


@pytest.mark.parametrize("case", DRAWN)
def test_replications(case):
    program = (PROGRAM % DRAWN[case]).replace(", 1);", ", 1e-9);")
    fit = stanimport.generate_quantities(stanimport.loads(program), DATA, previous_fit={"b": B})
    np.testing.assert_allclose(fit.posterior_predictive(seed=1).stan_variable("y"), MEANS, atol=1e-6)


def test_what_parameters_choose_is_none_of_known_numbers():
    module = stanimport.loads(PROGRAM % """
        int q = 0; for (n in 1:N) { if (b[1] > 0.5) q = n; else q = 1; y[q] ~ normal(b[2], 1); }""")
    fit = stanimport.generate_quantities(module, DATA, previous_fit={"b": B})
    with pytest.warns(LikelihoodWarning, match="leaves out what line 11 adds to the target, which depends on y"):
        assert "log_likelihood" not in fit.to_arviz(posterior_predictive=False, prior=False)
