"""What data make wrong in a loop, under a condition on parameters: it matters in the iterations that get there."""
from __future__ import annotations

import math

import numpy as np
import pytest
from densities import module_log_density

import stanimport

BOTH = pytest.mark.parametrize("backend", ["numpyro", "pyro"])
FUNCTIONS = """functions {
  real scale(real x) { return normal_lpdf(1 | x, -1); }
  real refused(real x, int n) { if (n < 0) reject("n is ", n); return x; }
  real component(vector v, int k) { return v[k]; }
  real repeated(real x, int n) { return sum(rep_vector(x, n)); }
}
"""
DATA = """data { int N; int m; array[N] int i; array[N] int neg; vector[N] y; matrix[2, 2] S; vector[2] b; }
parameters { vector[3] x; real a; }
"""
GIVEN = {"N": 3, "m": -1, "i": [1, 2, 3], "neg": [-1, 0, 2], "y": [0.5, -0.2, 1.0], "S": [[1.0, 2.0], [2.0, 1.0]],
         "b": [0.3, 0.4]}  # fmt: skip
DRAW = {"x": np.array([0.3, 0.2, -0.4]), "a": np.array(0.6)}
WRONG = (  # in the first iteration at least
    "target += normal_lpdf(y[n] | a, -1);", "y[n] ~ normal(a, neg[n]);", "target += normal_lcdf(y[n] | a, -1);",
    "target += normal_lpdf(a | 0, neg[n]);", "target += scale(x[n]);", "target += scale(1.0);",
    "target += refused(x[n], neg[n]);", "target += poisson_lpmf(neg[n] | exp(a));", "m ~ poisson(exp(a));",
    "2 ~ binomial(neg[n], inv_logit(a));", "b ~ multi_normal(b * x[n], S);", "b ~ multi_normal(b, S);",
    "target += sum(cholesky_decompose(S)) * a;", "target += log1m(2) * a;", "target += log_mix(1.3, a, x[n]);",
    "target += x[neg[n]];", "target += x[m];", "target += component(x, neg[n]);", "target += a * (6 %/% (m + 1));",
    "i[n] ~ categorical(b);", "i[n] ~ ordered_logistic(a, b[{2, 1}]);", "reject(n);", "if (neg[n] < 0) reject(n);",
    "target += sum(rep_vector(a, neg[n]));", "target += repeated(x[n], m);", "vector[m] w; target += a + size(w);",
    "vector[neg[n]] w = rep_vector(a, neg[n]); target += sum(w);", "y[n] ~ normal(a, -1) T[0, ];",
    "target += sum(one_hot_vector(2, i[n] + 2));", "for (k in 1:i[n]) target += normal_lpdf(x[k] | 0, k - 1);",
)  # fmt: skip


def log_density(condition, statement, backend):
    program = f"{FUNCTIONS}{DATA}model {{ target += a; for (n in 1:N) if ({condition}) {{ {statement} }} }}"
    module = stanimport.loads(program, backend=backend)
    return float(module_log_density(module, module.transformed_data(**GIVEN), DRAW, backend))


@BOTH
@pytest.mark.parametrize("statement", WRONG)
def test_what_no_iteration_reaches_rejects_nothing(statement, backend, x64, torch_double):
    assert log_density("x[n] > 5", statement, backend) == pytest.approx(0.6)


@BOTH
@pytest.mark.parametrize("statement", WRONG)
def test_what_an_iteration_reaches_rejects_the_draw(statement, backend, x64, torch_double):
    assert log_density("x[n] > 0.25 && n == 1", statement, backend) == -math.inf


@BOTH
@pytest.mark.parametrize("statement, expected", [
    ("if (neg[n] < 0) reject(n);", 0.6), ("target += x[n] * (6 %/% neg[n]);", 0.6 + 3 * -0.4),
    ("neg[n] ~ poisson(x[n] + 2.4);", 0.6 + 2 * math.log(2.0) - 2.0 - math.log(2.0)),
])  # fmt: skip
def test_what_is_wrong_in_other_iterations_rejects_nothing(statement, expected, backend, x64, torch_double):
    """Of which the third is right, and the only one to get there."""
    assert log_density("x[n] < 0", statement, backend) == pytest.approx(expected)
