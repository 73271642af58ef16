"""What data make wrong in a loop, under a condition on parameters: it matters in the iterations that get there."""
from __future__ import annotations

import math

import numpy as np
import pytest
from densities import module_log_density

import stanimport
from stanlib.errors import StanError, StanRuntimeError

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


@pytest.mark.sampled(2)
@BOTH
@pytest.mark.parametrize("statement, expected", [
    ("target += beta_lpdf(u[k] | exp(x[n]), 1);", 2 * 0.3 + (math.exp(0.3) - 1) * math.log(0.5 * 0.25)),
    ("u[k] ~ beta(exp(a), 1);", 2 * 0.6 + (math.exp(0.6) - 1) * math.log(0.5 * 0.25)),
    ("rep_vector(u[k], m) ~ beta(exp(x[n]), 1);", 2 * (2 * 0.3 + (math.exp(0.3) - 1) * math.log(0.5 * 0.25))),
    ("target += beta_lcdf(u[k] | exp(a), 1);", math.exp(0.6) * math.log(0.5 * 0.25)),
    ("target += logistic_lccdf(u[k] | x[n], 1);", -math.log1p(math.exp(0.2)) - math.log1p(math.exp(-0.05))),
])  # fmt: skip
def test_laws_whose_domains_know_one_of_two_loops(statement, expected, backend, x64, torch_double):
    """The outer loop leaves iterations out; what the domains are about is the same in all of the inner one."""
    program = f"""data {{ int m; }} parameters {{ vector[3] x; real a; vector<lower=0, upper=1>[2] u; }}
    model {{ for (n in 1:3) if (x[n] > 0.25) {{ real s = 0; for (k in 1:2) {{ {statement} if (a > s) s = a; }} }} }}"""
    module = stanimport.loads(program, backend=backend)
    draw = DRAW | {"u": np.array([0.5, 0.25])}
    assert float(module_log_density(module, module.transformed_data(m=2), draw, backend)) == pytest.approx(expected)


OUTCOMES = {  # no density is zero for: what Stan throws for all the same
    "not a simplex": "dirichlet_lpdf(b | exp(x))", "not symmetric": "wishart_lpdf(M | 3, identity_matrix(2))",
    "an upper triangle": "lkj_corr_cholesky_lpdf(U | exp(a))", "no correlations": "lkj_corr_lpdf(M | exp(a))",
}  # fmt: skip
PLACES = {
    "a branch": "if (a > -5) target += {};", "a loop": "for (n in 1:2) target += {};",
    "a branch in a loop": "for (n in 1:2) if (x[n] > -5) target += {};",
    "a recurrence": "vector[3] w = [a, a, a]'; for (t in 2:3) {{ w[t] = tanh(w[t - 1]); if (w[t] > 0) target += {}; }}",
}  # fmt: skip


@pytest.mark.sampled(2)
@BOTH
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_known_outcomes_are_looked_at_everywhere(outcome, place, backend, x64, torch_double):
    data = "data { vector[2] b; matrix[2, 2] M; matrix[2, 2] U; } parameters { vector[2] x; real a; }"
    program = f"{data} model {{ {PLACES[place].format(OUTCOMES[outcome])} }}"
    module = stanimport.loads(program, backend=backend)
    given = {"b": [0.3, 0.4], "M": [[1.0, 0.3], [0.2, 1.0]], "U": [[1.0, 0.2], [0.0, 1.0]]}
    draw = {"x": np.array([0.3, 0.2]), "a": np.array(0.6)}
    assert rejected(module, given, draw, backend)
    right = {"b": [0.3, 0.7], "M": [[1.0, 0.3], [0.3, 1.0]], "U": [[1.0, 0.0], [0.6, 0.8]]}
    assert not rejected(module, right, draw, backend)


@BOTH
def test_known_outcomes_of_iterations_are_looked_at(backend, x64, torch_double):
    data = "data { array[2] vector[2] b; } parameters { vector[2] x; }"
    program = f"{data} model {{ for (n in 1:2) b[n] ~ dirichlet(exp(x)); }}"
    module = stanimport.loads(program, backend=backend)
    draw = {"x": np.array([0.3, 0.2])}
    assert rejected(module, {"b": [[0.3, 0.7], [0.3, 0.4]]}, draw, backend)
    assert not rejected(module, {"b": [[0.3, 0.7], [0.6, 0.4]]}, draw, backend)


def rejected(module, data, draw, backend):
    """Whether the density is minus infinity, or an error that names a line."""
    try:
        return float(module_log_density(module, module.transformed_data(**data), draw, backend)) == -math.inf
    except StanError as e:
        assert ", line " in str(e) and not isinstance(e, StanRuntimeError), e
        return True
