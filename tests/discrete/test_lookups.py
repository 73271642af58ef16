"""What is the same for all values of a discrete parameter is computed once."""
from __future__ import annotations

import numpy as np

from stanimport.inference.density.posterior import Posterior
from tests.random_programs.referee.ours import translated


def traced(text, data):
    import jax

    module = translated(text, "numpyro", "mixed")
    posterior = Posterior(module, module.transformed_data(**data))
    return str(jax.make_jaxpr(posterior.log_density)(np.zeros(posterior.size)))


def test_logarithms_of_simplexes_are_taken_before_they_are_looked_up(x64):
    found = traced("""data { int N; array[N] int doc; vector[N] y; }
parameters { array[3] simplex[2] th; ordered[2] mu; array[N] int<lower=1, upper=2> z; }
model { for (n in 1:N) { z[n] ~ categorical(th[doc[n]]); y[n] ~ normal(mu[z[n]], 1); } }""",
        {"N": 50, "doc": [1 + n % 3 for n in range(50)], "y": [0.1] * 50})  # fmt: skip
    assert "f64[3,2] = log " in found
    assert "f64[50,2] = log " not in found and "f64[2,50] = log " not in found


def test_both_outcomes_of_a_logit_share_an_exponential(x64):
    found = traced("""data { int N; vector[N] x; vector[N] y; }
parameters { real a; real b; ordered[2] mu; array[N] int<lower=0, upper=1> z; }
model { for (n in 1:N) { z[n] ~ bernoulli_logit(a + b * x[n]); y[n] ~ normal(mu[z[n] + 1], 1); } }""",
        {"N": 50, "x": [0.3] * 50, "y": [0.1] * 50})  # fmt: skip
    assert "f64[50] = exp" in found
    assert "f64[2,50] = exp" not in found and "f64[50,2] = exp" not in found
