"""Tuples that depend on discrete parameters, taken apart."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.random_programs.referee import ours

DATA = {"N": 3, "y": [0.4, -1.0, 1.3]}
HEAD = """functions { tuple(real, tuple(real, int)) parts(int k, vector mu) { return (mu[k], (1.5 * k, 3 - k)); } }
data { int N; vector[N] y; } parameters { vector[2] mu; array[N] int<lower=1, upper=2> z; }
"""
PROGRAMS = {
    "in the model": """model { for (n in 1:N) { real a; real b; int c; (a, (b, c)) = parts(z[n], mu);
      y[n] ~ normal(a, b); target += 0.3 * c; } }""",
    "in transformed parameters": """transformed parameters { array[N] real a; array[N] real b; array[N] int c;
      for (n in 1:N) { (a[n], (b[n], c[n])) = parts(z[n], mu); } }
    model { y ~ normal(a, b); target += 0.3 * sum(c); }""".replace("array[N] int c;", "array[N] real c;"),
    "items": """model { for (n in 1:N) { tuple(real, tuple(real, int)) t = parts(z[n], mu);
      y[n] ~ normal(t.1, t.2.1); target += 0.3 * t.2.2; } }""",
    "arrays of them, set item by item": """model { array[N] tuple(real, real) t; array[N] tuple(int, vector[2]) u;
      for (n in 1:N) t[n].2 = 1.5 * z[n];
      for (n in 1:N) { t[n].1 = mu[z[n]]; u[n].1 = 3 - z[n]; u[n].2[2] = 0.3 * u[n].1; }
      for (n in 1:N) { y[n] ~ normal(t[n].1, t[n].2); target += u[n].2[2]; } }""",
    "arrays of them, all items in one loop": """model { array[N] tuple(real, tuple(vector[2], real)) t;
      for (n in 1:N) { t[n].1 = mu[z[n]]; t[n].2.1[2] = 1.5 * z[n]; t[n].2.2 = 3 - z[n]; }
      for (n in 1:N) { y[n] ~ normal(t[n].1, t[n].2.1[2]); target += 0.3 * t[n].2.2; } }""",
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_sum_over_both_values(name, backend):
    pytest.importorskip(backend, reason="the backend is not installed")
    points = [np.array([0.3, -0.8]), np.array([-1.1, 0.2])]
    found = ours.outcomes(HEAD + PROGRAMS[name], DATA, points, backend, parts=("gradient",), jit=False)
    assert not any(f.rejected for f in found), found[0].rejected
    expected = []
    for mu in points:
        terms = [stats.norm.logpdf(DATA["y"], mu[k - 1], 1.5 * k) + 0.3 * (3 - k) for k in (1, 2)]
        expected.append(np.logaddexp(*terms).sum())
    np.testing.assert_allclose([f.log_density for f in found], expected, rtol=1e-12)
