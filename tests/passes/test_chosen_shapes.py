"""Values of which data choose one of another shape: what functions return, and conditional expressions.

Iterations of which each has a shape of its own don't run at once, nor does the backend trace them.
"""
from __future__ import annotations

import beside_stan
import numpy as np
import pytest

from stanlib.errors import StanTracingError
from tests.random_programs.referee import ours
from tests.random_programs.referee.outcome import differences
from tests.random_programs.referee.walk import Walker

FUNCTIONS = """functions {
  vector pick(int k, vector a) { if (k == 1) return a; else return a[1:2]; }
  vector early(int k, vector a) { if (k > 3) return a[1:2]; return a; }
  vector either(int k, vector a, vector b) { return k > 3 ? a : b; }
  vector by_loop(int k, vector a) {
    vector[0] none;
    if (k > 4) return none;
    for (i in 1:2) { if (k == i) return a[1:i]; }
    return a;
  }
  vector of_another(int k, vector a) { return early(k + 1, a); }
  array[] int rows_of(int k) { if (k > 2) return {1, 2}; return {3}; }
  vector appended(int k, vector a) { if (k > 2) return append_row(a, a); return a; }
  vector of_real(real x, vector a) { if (x > 0.3) return append_row(a, a); return a; }
  vector of_calls(int k, vector a) { if (k > 2) return early(1, a); else return early(4, a); }
  vector by_parameter(real x, vector a) { if (x > 0.5) return a[1:2]; return a; }
  real own_lpdf(real y, int k, vector a) { return normal_lpdf(y | sum(early(k, a)), 1); }
  vector from_parameter(real x, vector a) { for (i in 1:2) { if (x > i) return a[1:i]; } return a; }
}
data { int K; array[K] int b; vector[K] x; }
parameters { vector[3] s; }
"""
VALUES = {
    "branches": "sum(tanh(pick(b[k], s * k)))", "early": "sum(tanh(early(b[k], s * k)))",
    "conditional": "sum(tanh(either(b[k], s, s[1:2])))", "loop": "sum(by_loop(b[k], s))",
    "function": "sum(of_another(b[k], s))", "indices": "sum(s[rows_of(b[k])])",
    "appended": "dot_self(appended(b[k], s))", "real": "dot_self(of_real(x[k], s))",
    "expression": "sum(b[k] > 2 ? s : s[2:3])", "index": "sum(pick(k, s))",
    "calls": "sum(of_calls(b[k], s))", "density": "own_lpdf(x[k] | b[k], s)",
}  # fmt: skip
USES = {
    "sum": "model {{ s ~ std_normal(); for (k in 1:K) target += {0}; }}",
    "filled": "model {{ s ~ std_normal(); vector[K] r; for (k in 1:K) r[k] = {0}; target += sum(r) + r[1]; }}",
    "carried": "model {{ s ~ std_normal(); real t = 0; for (k in 1:K) t = tanh(t) + {0}; target += t; }}",
    "quantity": "model {{ s ~ std_normal(); }} generated quantities {{ vector[K] r; for (k in 1:K) r[k] = {0}; }}",
    "branch": "model {{ s ~ std_normal(); real t = 0; for (k in 1:K) if (s[1] > x[k]) t += {0}; target += t; }}",
}
DATA = {"K": 6, "b": [1, 4, 3, 5, 5, 2], "x": [0.1, 0.5, 0.2, 0.9, -1.0, 0.7]}
POINTS = [np.array([0.3, -0.2, 0.5]), np.array([1.0, 0.4, -0.5])]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("value", VALUES)
def test_chosen_shapes_are_stans(value, use, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = FUNCTIONS + USES[use].format(VALUES[value])
    expected = [Walker(text, DATA).outcome(p, "shapes") for p in POINTS]  # statement by statement
    assert differences(ours.outcomes(text, DATA, POINTS, backend, jit=False), expected) == []
    if value != "index":  # of which stanli makes NaN
        beside_stan.compare(text, DATA, backend)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_laws_of_the_program_are_stans(backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = FUNCTIONS + "model { s ~ std_normal(); for (k in 1:K) x[k] ~ own(b[k], s); }"
    beside_stan.compare(text, DATA, backend)


@pytest.mark.parametrize("value", ["sum(by_parameter(s[1] * k, s))", "sum(s[1] * k > 0.5 ? s : s[2:2])"])
def test_shapes_that_parameters_choose_in_each_iteration(value):
    """PyTorch runs them as they are, JAX can't: that is an error, and neither a value nor a rejected draw."""
    text = f"{FUNCTIONS} model {{ s ~ std_normal(); for (k in 1:K) target += {value}; }}"
    for got in ours.outcomes(text, DATA, POINTS[:1], "numpyro"):
        assert got.rejected.startswith(StanTracingError.__name__) and ", line " in got.rejected
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    expected = [Walker(text, DATA).outcome(p, "shapes") for p in POINTS]
    assert differences(ours.outcomes(text, DATA, POINTS, "pyro"), expected) == []


def test_a_shape_that_parameters_choose_in_a_branch_is_an_error():
    """And no rejected draw: Stan would throw nothing."""
    text = FUNCTIONS + "model { s ~ std_normal(); target += sum(from_parameter(s[1], s)); }"
    got = ours.outcomes(text, DATA, [np.array([0.5, 0.2, -1.0])], "numpyro")[0]
    assert got.rejected.startswith(StanTracingError.__name__) and ", line 18, column 62" in got.rejected
