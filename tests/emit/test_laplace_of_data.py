"""Laplace's approximation of data, where the program branches on latent values: beside the library's likelihood."""
from __future__ import annotations

import numpy as np
import pytest

from tests.random_programs.referee import ours

PROGRAM = """
functions {
  matrix K(array[] real x, real s) { return add_diag(gp_exp_quad_cov(x, s, 0.7), 0.1); }
  real seen(vector theta, array[] int y, real a) {
    real out = 0;
    for (i in 1:size(y)) {
      if (theta[i] > 0.3) { out += a * poisson_log_lpmf(y[i] | theta[i]); continue; }
      int k = 0;
      while (k < 2 && theta[i] < 9) { out += 0.5 * a * poisson_log_lpmf(y[i] | theta[i]); k += 1; }
    }
    return out;
  }
}
data { int n; array[n] int y; array[n] real x; }
transformed data {
  real branched = laplace_marginal(seen, (y, 1.0), 1, K, (x, 1.1));
  real straight = laplace_marginal_poisson_log_lpmf(y | linspaced_int_array(n, 1, n), zeros_vector(n), 1, K, (x, 1.1));
}
parameters { real m; }
model { m ~ normal(0, 1); }
generated quantities {
  real a = branched; real b = straight;
  vector[n] latent = laplace_latent_rng(seen, (y, 1.0), 1, K, (x, 1.1));
}
"""


@pytest.mark.parametrize("backend", [pytest.param("numpyro", marks=pytest.mark.slow), "pyro"])
def test_marginals_and_draws_of_data_alone(backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    data = {"n": 3, "y": [0, 1, 3], "x": [0.1, 0.5, 1.2]}
    [got] = ours.outcomes(PROGRAM, data, [np.array([0.3])], backend, jit=False, parts=("variables",))
    assert not got.rejected
    np.testing.assert_allclose(got.values["a"], got.values["b"], rtol=1e-9)
    assert all(np.isfinite(got.values[f"latent[{i}]"]) for i in (1, 2, 3))
