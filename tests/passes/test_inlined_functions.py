"""Functions in which data that differ between iterations decide shapes, written into the loops that call them."""
from __future__ import annotations

import numpy as np
import pytest
from beside_stan import compare

import stanimport

DATA = {
    "N": 5, "T": 6, "len": [6, 2, 3, 1, 4], "first": [2, 6, 2, 3, 5],
    "y": np.random.default_rng(0).integers(0, 4, (5, 6)).tolist(),
    "x": np.random.default_rng(1).normal(size=(5, 6)).round(2).tolist(),
}  # fmt: skip
FUNCTIONS = """
real counts_lpmf(array[] int n, real l, real p) {
  array[min(n) + 1] real s;
  if (size(n) != 2) reject("two counts");
  for (u in 0:min(n)) s[u + 1] = poisson_log_lpmf(n[1] - u | l) + poisson_lpmf(n[2] - u | p) + u * p;
  return log_sum_exp(s);
}
real path(vector v, int first, int last, real a) {
  vector[last] w;
  if (last < first) return -a;
  w[first] = a;
  for (t in (first + 1):last) w[t] = 0.5 * w[t - 1] + v[t];
  return w[last] * prod(w[first:last]);
}
vector short(vector v, int n, real a) { vector[n] w = v[1:n] * a; for (t in 2:n) w[t] += square(v[t - 1]); return w; }
real outer(vector v, int n, real a) { return sum(short(v, n, a)) + path(v, 1, n, a); }
real branches(vector v, int n, real a) {
  if (n > 3) { vector[n] w = rep_vector(a, n); return sum(w) + v[n]; }
  else if (a > 0) return sum(v[1:n]) * a;
  return a;
}
"""
PROGRAM = """functions {%s}
data { int N; int T; array[N] int<lower=0, upper=T> len; array[N] int first; array[N, T] int y; matrix[N, T] x; }
parameters { real a; real<lower=0, upper=1> b; vector[N] u; vector[T] v; }
model {
  a ~ normal(0, 1); u ~ normal(0, 1); v ~ normal(0, 1);
  %s
}"""
LOOPS = {
    "law": "for (i in 1:N) y[i, 1:2] ~ counts(a + u[i], b);",
    "density": "for (i in 1:N) target += counts_lpmf(y[i, 1:2] | a * u[i], b) + 0.1 * u[i];",
    "early return": "for (i in 1:N) target += path(v, first[i], len[i], u[i]);",
    "vector": "for (i in 1:N) { vector[len[i]] z = short(x[i]', len[i], u[i]); target += sum(z) - dot_self(z); }",
    "calls others": "for (i in 1:N) target += outer(v, len[i], u[i]);",
    "branches on parameters": "for (i in 1:N) target += branches(v, len[i], u[i] + a);",
    "in a branch": "for (i in 1:N) if (len[i] > 2) { real z = path(v, 1, len[i], a); u[i] ~ normal(z, 1); }",
    "in two loops": "for (i in 1:N) for (t in 1:len[i]) target += 0.1 * path(v, t, len[i], x[i, t] * a);",
}
WHOLE = PROGRAM % (FUNCTIONS, "\n  ".join(LOOPS.values()))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_stans_value_and_gradient(backend, torch_double):
    compare(WHOLE, DATA, backend)


def translated(statements, folder):
    path = folder / "calls.stan"
    path.write_text(PROGRAM % (FUNCTIONS, statements))
    return stanimport.translate(path)


@pytest.mark.parametrize("name", sorted(LOOPS.keys() - {"vector", "calls others"}))  # results of different sizes
def test_iterations_are_alike(name, tmp_path):
    assert "ppl.alike" not in translated(LOOPS[name], tmp_path)


def test_an_observation_stays_one(tmp_path):
    """Under a law of the program, and where a density of data is an increment of the target."""
    for name in ("law", "density"):
        text = translated(LOOPS[name], tmp_path)
        assert "ppl.observe" in text and "ppl.factor" not in text
