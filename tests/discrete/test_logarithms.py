"""Logarithms that are -inf for some value of a discrete parameter: that value counts for nothing, nor its gradient."""
from __future__ import annotations

import jax
import numpy as np
import pytest

from stanimport.inference.density.posterior import Posterior
from tests.discrete.small import Variable
from tests.discrete.styles import Style
from tests.discrete.trial import compared
from tests.random_programs.referee import ours

DATA = {"N": 3, "t": [0.3, 2.0, 1.1], "seen": [1, 0, 2]}
HEAD = """functions { real weight(int k, real r) { return log(k * r); }
  real twice(int k, real r) { return weight(k, r) + log(r); } }
data { int N; vector<lower=0>[N] t; array[N] int seen; %given% }
parameters { real<lower=0> mean; real<lower=0> rate; real<lower=0, upper=1> p; %discrete% }
"""
PRIOR = "target += poisson_lpmf(k[n] | mean);"
TERMS = {
    "cured": "target += k[n] * exponential_lccdf(t[n] | rate); if (seen[n] == 1) target += log(k[n] * rate);",
    "abundance and detection": "for (j in 1:2) target += j <= seen[n] ? log1m((1 - p)^k[n]) : k[n] * log1m(p);",
    "in logarithms": "for (j in 1:2) target += j <= seen[n] ? log1m_exp(k[n] * log1m(p)) : k[n] * log1m(p);",
    "a difference": "target += log_diff_exp(k[n] * rate, 0);",
    "a multiple": "target += lmultiply(t[n], k[n] * rate) + log2(k[n] * p) + log10(k[n] * p);",
    "a local variable": "real r = k[n] * rate; vector[2] both = [r, p]'; target += sum(log(both));",
    "a function": "target += twice(k[n], rate);",
    "a component": "vector[4] w = [0, 1, 2, 3]' * rate; target += log(w[k[n] + 1]);",
}
K = Variable("k", (3,), 0, 4)


def style(term: str) -> Style:
    return Style(f"{HEAD} model {{ for (n in 1:N) {{ {PRIOR} {term} }} }}", (K,), DATA, 10**6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", TERMS)
def test_gradients_are_of_the_other_values(name):
    pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    assert compared(style(TERMS[name]), 3, ("pyro", "numpyro")) == ""


@pytest.mark.slow
def test_second_derivatives_are_finite():
    module = ours.translated(style(TERMS["abundance and detection"]).text(), "numpyro", "mixed")
    posterior = Posterior(module, module.transformed_data(**DATA))
    hessian = jax.hessian(posterior.log_density)(np.array([0.2, 0.1, -0.4]))
    assert np.isfinite(hessian).all()
