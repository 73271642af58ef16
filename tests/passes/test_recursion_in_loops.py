"""Recursive functions in loops that a backend would trace: the index tells how often they call themselves."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

PROGRAM = """functions {
  real f(vector q, int n) { if (n == 0) return 0; return q[n] + 0.5 * f(q, n - 1); }
  real turned(vector q, int n, int k) { if (n == 0) return q[1]; return q[n] * turned(q, k, 0); }
  real around(vector q, int n) { int j = n - 1; return turned(q, 1, j) + 1; }
  real even(vector q, int n) { return n < 1 ? 1 : q[n] * odd(q, n - 1); }
  real odd(vector q, int n) { return n < 1 ? 0.5 : tanh(q[n] + even(q, n - 1)); }
  real f_lp(vector q, int n) { if (n < 1) return 1; target += q[n]; return f_lp(q, n - 1) * 0.5; }
  real w_lpdf(real x, int n) { if (n < 1) return normal_lpdf(x | 0, 1); return 0.5 * w_lpdf(x + 1 | n - 1); }
}
data { int N; array[N] int at; }
parameters { real a; vector[N] b; }
model { real x = a; for (n in 1:N) { %s target += x; } }"""
STEPS = {
    "itself": "x = tanh(x + f(b, n));",
    "by data": "x = tanh(x + f(b * x, at[n]));",
    "by another argument": "x = tanh(x + around(b * x, n));",
    "of each other": "x = tanh(x + even(b, n));",
    "that adds to the target": "x = tanh(x + f_lp(b * x, n));",
    "a density": "x = tanh(x + b[n]); x ~ w(at[n]);",
    "in a loop inside": "for (j in 1:N) x = tanh(x + f(b, j) * n);",
}
DATA = {"N": 6, "at": [2, 0, 5, 1, 3, 3]}
AT = np.array([0.05, 0.7, 0.6, -0.4, 0.1, -0.6, 0.5])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", STEPS)
def test_recursion_ends_where_the_index_tells(name, backend):
    compare(PROGRAM % STEPS[name], DATA, AT, "recursion", backend, scanned=True)
