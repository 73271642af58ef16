"""Arrays of no discrete parameters: statements about them add what is left of them, and there is nothing to draw."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from tests.random_programs.referee import ours

PROGRAM = """data { int N; vector[N] y; }
parameters { vector[2] m; array[N] int<lower=1, upper=2> z; }
model { m ~ normal(0, 1); %s }
generated quantities { int total = sum(z); }"""
# What they add, but the law of m.
STATEMENTS = {
    "z ~ categorical_logit(m);": 0,
    "y ~ normal(m[z], 1);": 0,
    "for (n in 1:N) y[n] ~ normal(m[z[n]], 1);": 0,
    "for (t in 2:N) target += m[z[t]] * m[z[t - 1]];": 0,
    "target += m[1] * (3 + sum(z));": 3,
    "target += m[1] * (2 + sum(sort_asc(z)));": 2,
    "int count = 1; for (n in 1:N) if (z[n] == 2) count += 1; target += m[1] * count;": 1,
    "array[N] int q = sort_asc(z); y ~ normal(m[q], 1);": 0,
    "y ~ normal(to_vector(cumulative_sum(z)) * m[1], 1);": 0,
    "target += m[1] + sum(m[z]) * log_sum_exp(append_row(m[z], 1));": 1,
    "int t = 1; while (t <= N) { y[t] ~ normal(m[z[t]], 1); t += 1; }": 0,
}  # fmt: skip
POINT = np.array([0.3, -0.7])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_the_rest_of_the_density(backend):
    pytest.importorskip(backend, reason="the backend is not installed")
    data = {"N": 0, "y": []}
    for statement, factor in STATEMENTS.items():
        (found,) = ours.outcomes(PROGRAM % statement, data, [POINT], backend, jit=False)
        assert not found.rejected, (statement, found.rejected)
        expected = stats.norm.logpdf(POINT).sum() + factor * POINT[0]
        np.testing.assert_allclose(found.log_density, expected, atol=1e-12, err_msg=statement)
        np.testing.assert_allclose(found.gradient, -POINT + [factor, 0], atol=1e-12, err_msg=statement)
        assert (found.values or {})["total"] == 0, statement


@pytest.mark.parametrize("bounds", ["lower=1, upper=2", "lower=2, upper=most", "lower=least, upper=most"])
def test_bounds_of_their_own_and_probabilities(bounds):
    program = PROGRAM.replace("lower=1, upper=2", bounds) % "z ~ categorical_logit(m); y ~ normal(m[z], 1);"
    program = program.replace("vector[N] y;", "vector[N] y; array[N] int least; array[N] int most;")
    data = {"N": 0, "y": [], "least": [], "most": []}
    fit = stanimport.generate_quantities(stanimport.loads(program), data, seed=1, previous_fit={"m": [POINT, POINT]})
    assert fit.discrete_probabilities("z").shape[0] == 0
    assert fit.most_probable("z").shape == fit.stan_variable("z").shape == (2, 0)
    assert fit.stan_variable("total").tolist() == [0, 0]
    (found,) = ours.outcomes(program, data, [POINT], "numpyro", jit=False)
    np.testing.assert_allclose(found.log_density, stats.norm.logpdf(POINT).sum(), atol=1e-12)
