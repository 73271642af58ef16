"""Parameters with nothing free in them, such as a simplex of one number, and laws on domains with bounds of data."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import stanimport

ONE_VALUE = """data { int K; vector[K] b; vector[K] y; matrix[K, K] m; }
parameters { simplex[K] p; corr_matrix[K] R; cholesky_factor_corr[K] L; real a; array[2] simplex[K] q; }
transformed parameters { vector[K] mu = (m + a) * p + R * b; }
model { a ~ std_normal(); p ~ dirichlet(rep_vector(2, K)); for (i in 1:2) q[i] ~ dirichlet(b); y ~ normal(mu, 1); }
"""
LOWER = """data { vector[2] low; } parameters { vector<lower=low>[2] x; } model { x ~ normal(0.5, 2); }"""


def log_density(text, backend, data, point):
    module = stanimport.loads(text, backend=backend)
    if backend == "numpyro":
        from stanimport.inference import LogProb

        return float(LogProb(module, data).at(np.array(point))[0])
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    return float(Density(module, data)(torch.tensor(point, dtype=torch.float64)))


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_parameters_with_nothing_free(backend, x64, torch_double):
    data = {"K": 1, "b": [0.5], "y": [0.2], "m": [[3.0]]}
    values = [log_density(ONE_VALUE, backend, data, [a]) for a in (0.3, -0.4)]
    wanted = [norm.logpdf(a) + norm.logpdf(0.2, 3 + a + 0.5) for a in (0.3, -0.4)]
    assert values[1] - values[0] == pytest.approx(wanted[1] - wanted[0], rel=1e-12)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_laws_on_domains_with_bounds_of_data(backend, x64, torch_double):
    low, points = np.array([-1.0, 0.5]), [[0.2, -0.3], [0.7, 0.1]]
    values = [log_density(LOWER, backend, {"low": low}, p) for p in points]
    wanted = [np.sum(norm.logpdf(low + np.exp(p), 0.5, 2) + p) for p in points]
    assert values[1] - values[0] == pytest.approx(wanted[1] - wanted[0], rel=1e-12)
