"""Branches inside of inner loops of which some iterations are empty, on conditions that are one for all of them."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

PROGRAM = """functions {
  real f(vector q, real r) { real x = r; for (n in 1:size(q)) x = 0.5 * x + q[n]; return x; }
  real positive(real x) { if (x < 0) reject("negative"); return x; } }
data { int N; array[N] int s; vector[N] y; } parameters { real a; vector[N] b; }
model { real x = a;
  for (t in 1:N) { for (k in 1:s[t]) { if (%s) x += a * k; else x -= b[t]; } x = tanh(x) + 0.1 * t; }
  target += x; }"""
CONDITIONS = {
    "a call": "f(y, a) > 0.2", "of each iteration around": "f(b, y[t]) > 0.2",
    "a density": "normal_lpdf(y[t] | a, t) > -2",
    "thrown where nothing runs": "positive(y[t] + 0 * a) > 0.3", "among others": "t > 2 && f(y, b[t]) > 0",
    "an element": "b[s[t] + 1] > 0",
}
DATA = {"N": 6, "s": [1, 3, 0, 2, 0, 5], "y": [0.1, 0.4, -0.2, 0.7, -0.5, 0.2]}
AT = np.array([0.3, 0.7, -0.2, 0.4, 0.1, -0.6, 0.5])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", CONDITIONS)
def test_the_side_is_that_of_the_iterations_that_run(name, backend):
    compare(PROGRAM % CONDITIONS[name], DATA, AT, "branches", backend, scanned=True)
