"""What a variable keeps of an inner loop that has no iterations in some of the outer one."""
from __future__ import annotations

import numpy as np
import pytest

from tests.random_programs.referee import ours
from tests.random_programs.referee.walk import Walker

INNER = {
    "constant": "b = exp(a);",
    "by index": "b = exp(a) * k;",
    "among terms": "b = fmin(exp(a), 1.3); target += k * a;",
    "data": "b = 0.1 * k;",
    "carried": "b = 0.5 * b + a;",
    "carried beside terms": "b *= a; target += b;",
}
BOUNDS = {"empty first": "2:d", "empty last": "d:2", "each its own": "1:d", "of data": "1:m[d]",
          "one alone": "3:d"}  # fmt: skip
AT = np.array([0.7])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("inner", INNER)
def test_the_value_behind_an_inner_loop(inner, bounds, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = f"""data {{ int n; array[n] int m; }} parameters {{ real a; }}
      model {{ for (d in 1:n) {{
        real b = 0.5; for (k in {BOUNDS[bounds]}) {{ {INNER[inner]} }} target += d * tanh(b); }} }}"""
    data = {"n": 3, "m": [2, 0, 1]}
    right, got = Walker(text, data).outcome(AT, "last"), ours.outcomes(text, data, [AT], backend, jit=False,
                                                                       parts=("gradient",))[0]  # fmt: skip
    np.testing.assert_allclose(got.log_density, right.log_density, rtol=1e-12)
    np.testing.assert_allclose(got.gradient @ right.direction, right.slope, rtol=1e-6, atol=1e-8)
