"""Items of arrays of tuples in loops, beside Stan's density of the same program of arrays apart."""
from __future__ import annotations

import numpy as np
import pytest
import stanli
from beside_stan import value_and_gradient

import stanimport

APART = """data {
  int N; vector[N] x; array[N] int g; array[N] real t1; array[N] int t2; array[3] vector[2] u1; array[3] real u2;
  array[3] vector[2] u3; array[2, 3] real w1; array[2, 3] vector[2] w2;
}
parameters { real a; real<lower=0> s; vector[3] b; }
model { a ~ normal(0, 1); s ~ exponential(1); b ~ normal(0, 1); %s }"""
TUPLES = APART.replace("array[N] real t1; array[N] int t2;", "array[N] tuple(real, int) t;").replace(
    "array[3] vector[2] u1; array[3] real u2;\n  array[3] vector[2] u3; array[2, 3] real w1; array[2, 3] vector[2] w2;",
    "array[3] tuple(tuple(vector[2], real), vector[2]) u; array[2, 3] tuple(real, vector[2]) w;",
)
LOOPS = {  # the statements of tuples, and of arrays
    "two items": ("for (n in 1:N) { t[n].1 ~ normal(a * x[n], s); t[n].2 ~ poisson_log(a); }",
                  "for (n in 1:N) { t1[n] ~ normal(a * x[n], s); t2[n] ~ poisson_log(a); }"),
    "at places that data name": ("for (n in 1:N) t[N + 1 - n].1 ~ normal(u[g[n]].1.2 * b[g[n]], s);",
                                 "for (n in 1:N) t1[N + 1 - n] ~ normal(u2[g[n]] * b[g[n]], s);"),
    "tuples in tuples": ("for (k in 1:3) { u[k].1.1 ~ normal(b[k], s); target += u[k].2[1] * a * u[k].1.2; }",
                         "for (k in 1:3) { u1[k] ~ normal(b[k], s); target += u3[k, 1] * a * u2[k]; }"),
    "two dimensions": (
        "for (i in 1:2) for (j in 1:3) { w[i, j].1 ~ normal(w[i][j].2[1] * a, s); w[i, j].2 ~ normal(b[j], s); }",
        "for (i in 1:2) for (j in 1:3) { w1[i, j] ~ normal(w2[i, j, 1] * a, s); w2[i, j] ~ normal(b[j], s); }"),
    "conditions": ("for (n in 1:N) if (t[n].2 > 1) t[n].1 ~ normal(a, s); else t[n].1 ~ cauchy(b[g[n]], s);",
                   "for (n in 1:N) if (t2[n] > 1) t1[n] ~ normal(a, s); else t1[n] ~ cauchy(b[g[n]], s);"),
    "the one before": ("for (n in 2:N) t[n].1 ~ normal(t[n - 1].1 * a, s);",
                       "for (n in 2:N) t1[n] ~ normal(t1[n - 1] * a, s);"),
    "a recurrence": ("real m = 0; for (n in 1:N) { m = 0.5 * m + t[n].1 * a; t[n].1 ~ normal(m, s); }",
                     "real m = 0; for (n in 1:N) { m = 0.5 * m + t1[n] * a; t1[n] ~ normal(m, s); }"),
    "how often an inner loop runs": ("for (n in 1:N) for (k in 1:t[n].2) target += a * x[n] * k * t[n].1;",
                                     "for (n in 1:N) for (k in 1:t2[n]) target += a * x[n] * k * t1[n];"),
    "one that is assigned": (
        "array[N] tuple(real, real) z; for (n in 1:N) { z[n].1 = t[n].1 * a; z[n].2 = n > 1 ? z[n - 1].1 : x[n]; }"
        "for (n in 1:N) z[n].1 ~ normal(z[n].2, s);",
        "array[N] real z1; array[N] real z2; for (n in 1:N) { z1[n] = t1[n] * a; z2[n] = n > 1 ? z1[n - 1] : x[n]; }"
        "for (n in 1:N) z1[n] ~ normal(z2[n], s);"),
    "each of them": ("for (e in t) e.1 ~ normal(a * e.2, s);", "for (n in 1:N) t1[n] ~ normal(a * t2[n], s);"),
}  # fmt: skip
DRAWN = np.random.default_rng(1).normal
X, T1, U1, U2, U3, W1, W2 = map(DRAWN, [0] * 7, [1] * 7, [5, 5, (3, 2), 3, (3, 2), (2, 3), (2, 3, 2)])
G, T2 = [1, 3, 2, 3, 1], [1, 2, 0, 3, 2]
DATA = {"N": 5, "x": X, "g": G, "t": list(zip(T1.tolist(), T2)), "u": [((p, q), r) for p, q, r in zip(U1, U2, U3)],
        "w": [list(zip(*rows)) for rows in zip(W1, W2)]}  # fmt: skip
PARTS = {"N": 5, "x": X, "g": G, "t1": T1, "t2": T2, "u1": U1, "u2": U2, "u3": U3, "w1": W1, "w2": W2}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("loop", LOOPS)
def test_stans_value_and_gradient(loop, backend, torch_double):
    of_tuples, of_arrays = LOOPS[loop]
    reference = stanli.Model(stan_code=APART % of_arrays, data=PARTS)
    module = stanimport.loads(TUPLES % of_tuples, backend=backend)
    points = [np.random.default_rng(seed).normal(size=reference.n_unconstrained) * 0.5 for seed in (0, 1)]
    expected = [reference.log_prob_grad(q) for q in points]
    found = [value_and_gradient(module, DATA, backend, q) for q in points]
    assert found[1][0] - found[0][0] == pytest.approx(expected[1][0] - expected[0][0], abs=1e-8)
    for (_, gradient), (_, wanted) in zip(found, expected):
        np.testing.assert_allclose(gradient, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loop", ["two items", "at places that data name", "tuples in tuples", "two dimensions",
                                  "the one before"])  # fmt: skip
def test_iterations_run_at_once_as_those_over_arrays(loop):
    code = stanimport.translate("tuples.stan", source=TUPLES % LOOPS[loop][0])
    assert "ppl.lanes(" in code and "for_loop" not in code
