"""Local arrays whose size differs between the iterations of a loop: Stan's values, and what Stan throws for."""
from __future__ import annotations

import numpy as np
import pytest
import stanli
from beside_stan import compare, value_and_gradient

import stanimport
from stanlib.errors import StanError

DATA = {
    "N": 5, "T": 6, "len": [6, 0, 3, 1, 4], "first": [2, 6, 2, 3, 5],
    "y": np.random.default_rng(0).integers(1, 4, (5, 6)).tolist(),
    "x": np.random.default_rng(1).normal(size=(5, 6)).round(2).tolist(),
}  # fmt: skip
PROGRAM = """data {
  int N; int T; array[N] int len; array[N] int first; array[N, T] int<lower=1> y; matrix[N, T] x;
}
parameters { real a; real<lower=0, upper=1> b; vector[N] u; }
model {
  a ~ normal(0, 1); u ~ normal(0, 1);
  %s
}"""
ALIKE = {
    "entry": """for (i in 1:N) { vector[first[i]] lp; lp[1] = a * u[i];
        for (t in 2:(first[i] - 1)) lp[t] = b * x[i, t]; lp[first[i]] = a + prod(lp[1:(first[i] - 1)]);
        target += log_sum_exp(lp); }""",
    "law": """for (i in 1:N) { vector[len[i]] mu = a + b * x[i, 1:len[i]]'; for (t in 1:len[i]) mu[t] += u[i];
        x[i, 1:len[i]] ~ normal(mu, 1); target += sum(mu) + dot_self(mu) + size(mu); }""",
    "counts": """for (i in 1:N) { array[len[i] + 1] real s;
        for (k in 0:len[i]) s[k + 1] = poisson_log_lpmf(y[i, 1] | a + k * u[i]);
        target += log_sum_exp(s) + max(s) - min(s); }""",
    "branch": """for (i in 1:N) { vector[len[i]] z; z = rep_vector(a, len[i]); if (first[i] > 2) {
        vector[first[i]] w = rep_vector(b, first[i]); w[2] = a; target += sum(w) * prod(w); }
        target += sum(exp(z)) + sum(fmax(z, u[i])); }""",
    "integers": """for (i in 1:N) { array[len[i]] int c; for (t in 1:len[i]) c[t] = y[i, t] + i;
        for (t in 1:len[i]) target += poisson_lpmf(c[t] | exp(b * t)); }""",
}
OTHERS = {  # one shape after the other
    "condition": """for (i in 1:N) { vector[len[i]] z = rep_vector(a, len[i]);
        target += len[i] > 2 ? z[3] * b : sum(z); }""",
    "range": """for (i in 1:N) { vector[len[i] + 2] z = rep_vector(a, len[i] + 2); z[1] = b;
        target += sum(z[2:first[i] - 1]); }""",
    "sorted": """for (i in 1:N) { vector[len[i]] z; for (t in 1:len[i]) z[t] = u[i] * x[i, t];
        target += dot_product(sort_asc(z), z); }""",
    "size changes": """{ int n = 1; for (i in 1:N) { vector[n] z = rep_vector(u[i], n); n = first[i];
        target += sum(z); } }""",
}


def program(*statements):
    return PROGRAM % "\n  ".join(statements)


WHOLE = program(*ALIKE.values(), *OTHERS.values())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_stans_value_and_gradient(backend, torch_double):
    data = DATA | {"first": [2, 2, 2, 3, 5]}  # within the range of the second group
    compare(WHOLE, data, backend)


@pytest.mark.parametrize("name", ALIKE)
def test_iterations_are_alike(name, tmp_path):
    path = tmp_path / "arrays.stan"
    path.write_text(program(ALIKE[name]))
    assert "ppl.alike" not in stanimport.translate(path)


THROWS = {
    "beyond its own size": ("vector[len[i]] z; z[1] = a; target += sum(z);", "index 1 is out of range"),
    "beyond in a loop": ("vector[len[i]] z; for (t in 1:first[i]) z[t] = a; target += sum(z);", "out of range"),
    "below one": ("vector[len[i]] z = rep_vector(a, len[i]); target += sum(z) + z[len[i]];", "out of range"),
    "negative size": ("vector[len[i] - 1] z; for (t in 1:(len[i] - 1)) z[t] = a; target += sum(z);", "negative"),
    "size of the value": ("vector[len[i]] z = rep_vector(a, first[i]); target += sum(z);", "shape"),
}


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", THROWS)
def test_what_stan_throws_for(name, backend, torch_double):
    statements, message = THROWS[name]
    text = program(f"for (i in 1:N) {{ {statements} }}")
    point = np.zeros(7)
    with pytest.raises(RuntimeError):
        stanli.Model(stan_code=text, data=DATA).log_prob_grad(point)
    with pytest.raises(StanError, match=message):
        value_and_gradient(stanimport.loads(text, backend=backend), DATA, backend, point)
