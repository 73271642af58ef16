"""Functions of discrete parameters that call themselves, once or twice in each call, or one another."""
from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats

from tests.random_programs.referee import ours

DATA = {"N": 3, "y": [0.4, -1.0, 1.3]}
PROGRAM = """functions { %s }
data { int N; vector[N] y; } parameters { vector[2] mu; array[N] int<lower=1, upper=2> z; }
model { vector[N] m; for (n in 1:N) m[n] = mu[z[n]]; target += total(y, m, 1, N); }
"""
FUNCTIONS = {
    "halves": """real total(vector y, vector m, int low, int high) {
      if (low > high) return 0;
      if (low == high) return normal_lpdf(y[low] | m[low], 1);
      int middle = (low + high) %/% 2;
      return total(y, m, low, middle) + total(y, m, middle + 1, high); }""",
    "one after the other": """real total(vector y, vector m, int low, int high) {
      return low > high ? 0 : normal_lpdf(y[low] | m[low], 1) + total(y, m, low + 1, high); }""",
    "by turns": """real total(vector y, vector m, int low, int high);
      real rest(vector y, vector m, int low, int high) { return total(y, m, low, high) + total(y, m, high + 1, high); }
      real total(vector y, vector m, int low, int high) {
        return low > high ? 0 : normal_lpdf(y[low] | m[low], 1) + rest(y, m, low + 1, high); }""",
}


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_sum_over_both_values(name, backend):
    pytest.importorskip(backend, reason="the backend is not installed")
    points, begun = [np.array([0.3, -0.8]), np.array([-1.1, 0.2])], time.process_time()
    found = ours.outcomes(PROGRAM % FUNCTIONS[name], DATA, points, backend, parts=("gradient",), jit=False)
    assert not any(f.rejected for f in found), found[0].rejected
    expected = [np.logaddexp(*(stats.norm.logpdf(DATA["y"], m) for m in mu)).sum() for mu in points]
    np.testing.assert_allclose([f.log_density for f in found], expected, rtol=1e-12)
    assert time.process_time() - begun < 30  # where each call is written out, halves take minutes
