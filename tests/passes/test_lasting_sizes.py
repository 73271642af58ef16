"""Containers whose sizes are declared by variables that change afterwards: each keeps the sizes that it began with.

The value is that of the program evaluated statement by statement.
"""
from __future__ import annotations

import numpy as np
import pytest

from tests.random_programs.referee import ours
from tests.random_programs.referee.walk import Walker

FILLED = "for (g in 1:2) {{ for (i in 1:n) {each} s += exp(0.1 * b * sum(x)); x[N] = g; }}"
CHANGES = {
    "assigned": "int n = N; vector[n] x = rep_vector(7, n); n = N - 1; " + FILLED,
    "compound": "int n = N; vector[n] x = rep_vector(7, n); n -= 1; " + FILLED,
    "in a branch": "int n = N; vector[n] x = rep_vector(7, n); if (y[1] > 0) n = N - 1; " + FILLED,
    "in a loop": "int n = N; for (k in 1:2) {{ vector[n + k - 1] x = rep_vector(7, N); n = N - 1; " + FILLED + " }}",
    "array": "array[1] int l = {{N}}; vector[l[1]] x = rep_vector(7, N); l[1] = N - 1; int n = l[1]; " + FILLED,
    "item": "tuple(int, real) p = (N, 1.0); vector[p.1] x = rep_vector(7, N); p.1 = N - 1; int n = p.1; " + FILLED,
    "bounds first": "int n = N - 1; vector[n + 1] x = rep_vector(7, N); int k = n; n = 1; n = k; " + FILLED,
}
PROGRAM = """data {{ int N; vector[N] y; }}
parameters {{ real b; }}
model {{
  real s = 0;
  {{ {} }}
  target += s;
}}"""
DATA = {"N": 3, "y": [0.5, -1.0, 2.0]}
AT = np.array([0.3])
BACKENDS = ["numpyro", "pyro"]


def both(text: str, backend: str) -> tuple[object, ours.Outcome]:
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    got = ours.outcomes(text, DATA, [AT], backend, jit=False, parts=("gradient",))[0]
    return Walker(text, DATA).outcome(AT, "sizes"), got


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("change", CHANGES)
def test_sizes_that_change_after_the_declaration(change, backend):
    right, got = both(PROGRAM.format(CHANGES[change].format(each="x[i] = g * b + i;")), backend)
    assert right.rejected == got.rejected == ""
    np.testing.assert_allclose(got.log_density, right.log_density, rtol=1e-9)
    np.testing.assert_allclose(got.gradient @ right.direction, right.slope, rtol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_assigned_has_the_declared_size(backend):
    """Stan compares the sizes with those of the declaration, not with what its variables are by then."""
    change = "int n = N; vector[n] x; n = N - 1; x = rep_vector(b, {}); s += sum(x);"
    right, got = both(PROGRAM.format(change.format("N")), backend)
    np.testing.assert_allclose(got.log_density, right.log_density, rtol=1e-9)
    right, got = both(PROGRAM.format(change.format("N - 1")), backend)
    assert right.rejected and got.rejected


TRANSFORMED = """data { int N; }
transformed data {
  int n = N;
  vector[n] x = rep_vector(7, n);
  n = N - 1;
  vector[n] z = rep_vector(2, n);
  for (i in 1:n) x[i] = i;
}
parameters { real b; vector[n] q; }
model {
  for (g in 1:2) for (i in 1:N) target += x[i] * b * g;
  for (i in 1:n) target += z[i] * b + q[i];
}
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_of_transformed_data(backend):
    """x is (1, 2, 7) and z (2, 2): the target is 30 b + 4 b + the sum of q."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    got = ours.outcomes(TRANSFORMED, {"N": 3}, [np.array([0.3, 1.0, 2.0])], backend, jit=False, parts=("gradient",))[0]
    assert got.rejected == ""
    np.testing.assert_allclose(got.log_density, 34 * 0.3 + 3)
    np.testing.assert_allclose(got.gradient, [34, 1, 1])
