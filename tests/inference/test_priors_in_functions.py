"""Priors and observations that stand in functions of the program: draws are those of the laws that they call."""
import numpy as np
import pytest
from scipy import stats

import stanimport

PROGRAM = """
functions {{
  void observed_lp(vector y, real a) {{ y ~ normal(a, 0.5); }}
  void each_lp(vector y, real a) {{ for (n in 1:size(y)) y[n] ~ normal(a, 0.5); }}
  void prior_lp(real a) {{ a ~ normal(3, 2); }}
  real both_lp(vector y, real a) {{ prior_lp(a); observed_lp(y, a); return 2 * a; }}
  real by_shift_lpdf(vector y, real a) {{ return normal_lpdf(y | a, 0.5); }}
}}
data {{ int N; vector[N] y; }}
parameters {{ real a; }}
transformed parameters {{ {derived} }}
model {{ {statements} }}
"""
CASES = {
    "observations": ("", "a ~ normal(3, 2); observed_lp(y, a);"),
    "observations in a loop": ("", "a ~ normal(3, 2); each_lp(y, a);"),
    "a prior": ("", "prior_lp(a); y ~ normal(a, 0.5);"),
    "both, and a value": ("", "real b = both_lp(y, a);"),
    "both, in transformed parameters": ("real b = both_lp(y, a);", ""),
    "a density of the program": ("", "prior_lp(a); y ~ by_shift(a);"),
    "the same, as increment": ("", "prior_lp(a); target += by_shift_lupdf(y | a);"),
}


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore:_lp functions in transformed parameters")
@pytest.mark.parametrize("derived, statements", CASES.values(), ids=CASES.keys())
def test_draws_are_those_of_the_laws_in_functions(derived, statements):
    module = stanimport.loads(PROGRAM.format(derived=derived, statements=statements))
    made = stanimport.prior_predictive(module, {"N": 2}, draws=1000, seed=1).stan_variables()
    assert stats.kstest((made["a"] - 3) / 2, "norm").pvalue > 1e-3
    assert stats.kstest(((made["y"] - made["a"][:, None]) / 0.5).ravel(), "norm").pvalue > 1e-3


@pytest.mark.filterwarnings("ignore:_lp functions in transformed parameters")
def test_what_transformed_parameters_observe_by_a_function_has_its_densities():
    module = stanimport.loads(PROGRAM.format(derived="real b = both_lp(y, a);", statements="a ~ normal(b, 1);"))
    a, y = np.array([0.5, 1, 2]), np.array([1.0, 2])
    fit = stanimport.generate_quantities(module, {"N": 2, "y": y}, previous_fit={"a": a})
    np.testing.assert_array_equal(fit.stan_variable("b"), 2 * a)
    found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"]["y"].values[0]
    np.testing.assert_allclose(found, stats.norm.logpdf(y, a[:, None], 0.5))
