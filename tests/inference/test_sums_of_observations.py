"""Log densities of a model that computes them itself: of each observation where they can be told apart, else none."""
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning

PROGRAM = """
functions {{
  real one_lpdf(real y, real m) {{ return normal_lpdf(y | m, 1) + 0.25; }}
  real all_lpdf(vector y, vector m) {{ return normal_lpdf(y | m, 1) + 0.25; }}
}}
data {{ int N; vector[N] x; vector[N] w; vector[N] y; }}
parameters {{ real a; }}
model {{ {statements} }}
"""
N = 4
X, W, Y = np.array([[1.0, 2.0, 4.0, 8.0], [0.5, 1.0, 2.0, 0.25], [0.1, 2.0, 3.0, 9.0]])
DATA = {"N": N, "x": X, "w": W, "y": Y}
A = np.array([0.3, -1.2, 2.0])
EACH = stats.norm.logpdf(Y, A[:, None] * X, 1)
WHOLE = "the log likelihood leaves y out: the log densities of the 4 numbers of y are one sum"
TOLD_APART = {
    "weights": ("for (n in 1:N) target += w[n] * normal_lpdf(y[n] | a * x[n], 1);", W * EACH),
    "weights of its own": ("for (n in 1:N) target += w[n] * one_lpdf(y[n] | a * x[n]);", W * (EACH + 0.25)),
    "its own": ("for (n in 1:N) y[n] ~ one(a * x[n]);", EACH + 0.25),
    "truncated": ("for (n in 1:N) target += normal_lpdf(y[n] | a * x[n], 1) - normal_lccdf(0 | a * x[n], 1);",
                  EACH - stats.norm.logsf(0, A[:, None] * X, 1)),
}  # fmt: skip
SUMS = {
    "a power": "target += 0.5 * normal_lpdf(y | a * x, 1);",
    "truncated": "target += normal_lpdf(y | a * x, 1) - N * normal_lccdf(-10 | a, 1);",
    "its own": "y ~ all(a * x);",
    "its own as an increment": "target += all_lpdf(y | a * x);",
    "a power of its own": "target += 0.5 * all_lpdf(y | a * x);",
}


def log_likelihood(statements):
    """By variable, and what was warned of."""
    module = stanimport.loads(PROGRAM.format(statements=statements), name="summed")
    fit = stanimport.generate_quantities(module, DATA, previous_fit={"a": A})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LikelihoodWarning)
        groups = fit.to_arviz(posterior_predictive=False, prior=False)
    found = groups["log_likelihood"].data_vars if "log_likelihood" in groups.groups() else {}
    return {n: v.values[0] for n, v in found.items()}, [str(w.message) for w in told if w.category is LikelihoodWarning]


@pytest.mark.parametrize("case", TOLD_APART)
def test_terms_of_single_observations_are_told_apart(case):
    statements, expected = TOLD_APART[case]
    found, told = log_likelihood(statements)
    assert list(found) == ["y"] and not told
    np.testing.assert_allclose(found["y"], expected, rtol=1e-10)


@pytest.mark.parametrize("case", SUMS)
def test_one_sum_for_all_is_no_log_density_of_one_observation(case):
    found, told = log_likelihood(SUMS[case])
    assert not found and len(told) == 1 and told[0].startswith(WHOLE)


def test_sums_for_some_of_several_statements_stay():
    """Those of groups, say: they can be left out one by one."""
    found, told = log_likelihood("y[1] ~ normal(a * x[1], 1); y[2:N] ~ all(a * x[2:N]);")
    np.testing.assert_allclose(found["y"], EACH[:, 0], rtol=1e-10)
    np.testing.assert_allclose(found["y__2"][:, 0], EACH[:, 1:].sum(axis=1) + 0.25, rtol=1e-10)
    assert told[0].startswith("the log likelihood holds 2 log densities of the 4 numbers of y: there are sums")


def test_priors_of_the_program_s_own_are_no_observations():
    found, told = log_likelihood("target += 2 * one_lpdf(a | 0); y ~ normal(a * x, 1);")
    assert list(found) == ["y"] and not told
    np.testing.assert_allclose(found["y"], EACH, rtol=1e-10)
