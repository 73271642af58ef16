"""What data decide in traced loops decides shapes and bounds behind them: the same as statement by statement."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

import stanimport
from tests.random_programs.referee import ours

PROGRAM = """functions {
  real f(vector y, vector b, real r) { real x = r; int k = 0;
    for (n in 1:size(b)) { x = tanh(x) + b[n]; if (n %% 2 == 0) { x = sin(x) + k; k += n; } }
    for (n in 1:(k %% 5)) x += b[n] * y[n]; return x; } }
data { int N; array[N] int s; vector[N] y; } parameters { real a; vector[N] b; }
model { real x = a; int k = 1; int m = 0; array[N] int ix = rep_array(1, N);
  real d = 0.5; vector[N] v = rep_vector(0.5, N);
  %s
  target += x; }"""
FORMS = {
    "the last": """for (n in 1:N) { x = tanh(x) + b[n]; if (y[n] > 0.3) { x = sin(x); k = n; } }
  for (n in 1:k) x += b[n] * y[n];""",
    "read in the loop": """for (n in 1:N) { x = tanh(x) + b[n] * k; if (y[n] > 0.3) { x = sin(x); k = n; } }
  for (n in 1:k) x += b[n] * y[n];""",
    "read before it is set": """k = 3; for (n in 1:N) { x = tanh(x + k) + b[n]; k = s[n]; x *= k; }
  x += sum(b[1:k]);""",
    "positions": """for (n in 1:N) { x = tanh(x) + b[n]; if (y[n] > 0.3) { m += 1; ix[m] = n; x *= ix[1]; } }
  for (i in 1:m) x += b[ix[i]] * y[i];""",
    "a size": """for (n in 1:N) { x = tanh(x) + b[n]; if (s[n] > 2) k += s[n]; } k = k %% N + 1;
  { vector[k] w = b[1:k] * x; for (i in 1:k) w[i] += i; x += sum(w); }""",
    "through other ints": """int j = 0;
  for (n in 1:N) { int t = s[n] - 1; x = tanh(x) * t + b[n]; j = t > 2 ? j + 1 : j; k = j + 1; }
  for (n in 1:k) x += b[n] * j;""",
    "by reals": """for (n in 1:N) { d = 0.5 * d + y[n]; x = tanh(x) + b[n] * d; if (d > 0.4) k = n; }
  for (n in 1:k) x += b[n] * d;""",
    "in inner loops": """for (n in 1:N) { for (j in 1:s[n]) { x = tanh(x) + b[j]; if (j == 2) k = n; } m = m + s[n]; }
  for (n in 1:k) x += b[n] * y[n]; x += sum(b[1:(m %% N)]);""",
    "with values of parameters": """for (n in 1:N) { x = tanh(x) + b[n]; if (y[n] > 0.3) k = n; if (x > 0) m = n; }
  for (n in 1:k) x += b[n] * m;""",
    "observed": """for (n in 1:N) { y[n] ~ normal(x, 1); x = tanh(x) + b[n]; if (y[n] > 0.3) k = n; }
  y[1:k] ~ normal(x, 2);""",
    "in a branch of data": """if (s[1] < 3) { for (n in 1:N) { x = tanh(x) + b[n]; if (y[n] > 0.3) k = n; } }
  for (n in 1:k) x += b[n] * y[n];""",
    "twice": """for (n in 1:N) { x = tanh(x) + b[n]; if (y[n] > 0.3) k = n; }
  for (n in 1:k) { x = tanh(x) + b[n]; if (y[n] < 0.3) m = n; } for (n in 1:m) x += b[n] * k;""",
    "a function's": "x += f(y, b, a);",
    "its own bounds": """k = 2; for (n in k:5) { x = tanh(x) + b[n]; if (y[n] > 0.3) k = n; m += 1; }
  for (n in 1:k) x += b[n] * y[n]; x += sum(b[1:(m % N)]);""",
    "its own bounds, read in it": """k = 2; for (n in k:5) { x = tanh(x) + b[n] * k; k = 4; }
  for (n in 1:k) x += b[n] * y[n];""",
    "arrays in the loop": """for (n in 1:N) { array[2] int p = {s[n], n}; x = tanh(x) + b[p[2]];
    if (p[1] > 2) k = p[1]; v[n] = x; }
  x += sum(v[1:k]);""",
}  # fmt: skip
DATA = {"N": 7, "s": [1, 3, 2, 6, 4, 5, 2], "y": [0.1, 0.4, 0.3, 0.9, 0.5, 0.2, 0.1]}
AT = np.array([0.3, 0.7, -0.2, 0.4, 0.1, -0.6, 0.5, -0.4])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scanned", [False, True], ids=["", "scanned"])
@pytest.mark.parametrize("form", FORMS)
def test_as_statement_by_statement(form, scanned):
    compare(PROGRAM % FORMS[form].replace("%%", "%"), DATA, AT, "decided", scanned=scanned)


def test_compiled_by_both_backends():
    """As Stan computes it, in one program that JAX compiles."""
    stanli = pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = PROGRAM % " ".join(f"{{ {FORMS[n]} }}" for n in ("read in the loop", "positions", "by reals"))
    value, slope = stanli.Model(stan_code=text, data=DATA).log_prob_grad(AT)[:2]
    for backend in ("numpyro", "pyro"):
        got = ours.outcomes(text, DATA, [AT], backend, parts=("gradient",))[0]
        np.testing.assert_allclose(got.log_density, value, rtol=1e-10)
        np.testing.assert_allclose(got.gradient, slope, rtol=1e-8, atol=1e-10)


def test_what_nothing_reads_is_left_out():
    text = stanimport.translate("decided.stan", source=PROGRAM % FORMS["the last"])
    model = text.partition("def model")[2].partition("def generated_quantities")[0]
    assert model.count(" k = ") == 2  # at first, and in a loop of its own
    assert "k_" not in model
