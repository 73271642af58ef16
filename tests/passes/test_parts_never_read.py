"""Parts that functions in loops are given: Stan throws for one that there is not, read or not."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

from tests.random_programs.referee import ours
from tests.random_programs.referee.walk import Walker

LAZY = """functions {{
  real over(vector x, int n, real v) {{ if (n == 0) return 0; return sum(x[1:n]) * v; }}
  real along(vector x, int n, vector v) {{ real s = 0; for (i in 1:n) s += x[i] * v[i]; return s; }}
  real chosen(vector x, int n, real v) {{ real s = sum(x[1:n]); return n > 0 ? s * v : s; }} }}
data {{ int N; array[N] int n; array[N] int g; vector[4] x; matrix[3, 4] w; }}
parameters {{ vector[3] a; array[3] vector[4] b; }}
model {{
  for (i in 1:N) target += {call};
  target += -dot_self(a); for (k in 1:3) target += -dot_self(b[k]); }}"""
CALLS = {
    "behind a return": "over(x, n[i], a[g[i]])", "in a loop": "along(x, n[i], b[g[i]])",
    "of data": "over(x, n[i], w[g[i], 1])", "in a conditional": "chosen(x, n[i], a[g[i]])",
    "a number of a row": "over(x, n[i], b[g[i], 2])", "a column": "along(x, n[i], w[2, g[i]:(g[i] + 3)]')",
}


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", CALLS)
def test_a_part_that_a_function_is_given_and_never_reads(name, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text, at = LAZY.format(call=CALLS[name]), np.linspace(-1, 1, 15)
    data = {"N": 2, "n": [0, 2], "g": [4, 1], "x": [0.1, 0.2, 0.3, 0.4], "w": np.eye(3, 4).tolist()}
    assert Walker(text, data).outcome(at, "throws").rejected
    got = ours.outcomes(text, data, [at], backend, jit=False, parts=("gradient",))[0]
    assert got.log_density == -np.inf or ", line " in got.rejected
    compare(text, {**data, "g": [1, 1]}, at, "never read", backend)
