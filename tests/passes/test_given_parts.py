"""Functions in loops that are given parts of varying length: their loops over the items run for all calls at once."""
from __future__ import annotations

import numpy as np
import pytest
import stanli
from beside_stan import compare, value_and_gradient

import stanimport
from stanlib.errors import StanError

FUNCTIONS = """
real kinks(vector y, real m) {
  vector[num_elements(y)] p; real out;
  for (i in 1:num_elements(y)) { real t = y[i] - m; if (t > 0) p[i] = log1p(t); else p[i] = square(t); }
  out = sum(p);
  return out;
}
real lags(vector s, real e) {
  int N = size(s); real g = 0;
  for (y in 2:N) g += s[y] * s[y - 1] * e + 0.1 * s[N] * s[N - y + 1];
  return g;
}
real two(matrix x, real a) {
  real s = 0;
  for (i in 1:cols(x)) if (x[1, i] > a) s += x[2, i] * a; else s -= x[rows(x), i] * square(a);
  return s + 0.1 * cols(x);
}
real counts_lpmf(array[] int n, real l) {
  real s = 0;
  for (i in 1:size(n)) s += n[i] == 0 ? log_sum_exp(-1, -exp(l)) : poisson_log_lpmf(n[i] | l);
  return s;
}
real both(vector y, real a) {
  real s = sum(y) * a;
  for (i in 1:rows(y)) s += sin(y[i] * a);
  return s + num_elements(y);
}
real chosen(vector y, int k, real a) { real s = a; for (i in 1:k) s *= y[i] * a; return s; }
real front(row_vector y, int k, real a) { real s = sum(y[1:k]) * a; for (i in 1:cols(y)) s += cos(y[i] + a); return s; }
real ends(vector y, real a) { if (size(y) == 0) return -a; return a * y[1] + y[size(y)]; }
real passed(vector s, real a) { return kinks(s, a) + lags(s, a) - ends(s, a); }
real pairs(array[] vector v, real a) {
  real s = 0;
  for (i in 1:size(v)) s += v[i][2] * a - square(v[i, 1]) + a * sum(v[i]);
  return s;
}
real paths(vector y, real a) { real h = a; for (i in 1:size(y)) h = 0.5 * h + tanh(y[i] * h); return h; }
"""
PROGRAM = """functions {%s}
data {
  int N; int G; vector[N] y; array[N] int c; matrix[2, N] x; array[G] matrix[2, N] z; array[N] vector[2] v;
  array[G] int s; array[G] int e; array[G] int k;
}
parameters { vector[G] a; vector[N] u; real b; }
model {
  a ~ normal(0, 1); u ~ normal(0, 1); b ~ normal(0, 1);
  %s
}"""
LOOPS = {
    "items": "for (g in 1:G) target += kinks(y[s[g]:e[g]], a[g]);",
    "of parameters": "for (g in 1:G) target += kinks(u[s[g]:e[g]], a[g] * b);",
    "lags": "for (g in 1:G) target += lags(u[s[g]:e[g]], a[g]);",
    "a matrix": "for (g in 1:G) target += two(x[, s[g]:e[g]], a[g]);",
    "matrices": "for (g in 1:G) { int n = k[g]; target += two(z[g, , 1:n], a[g]); }",
    "a law": "for (g in 1:G) c[s[g]:e[g]] ~ counts(a[g] + b);",
    "as a whole too": "for (g in 1:G) target += both(segment(u, k[g] + 1, k[g]), a[g]);",
    "other indices": "for (g in 1:G) target += chosen(u[s[g]:(s[g] + k[g])], k[g], a[g]);",
    "ranges": "for (g in 1:G) target += front(x[2, s[g]:(s[g] + k[g])], k[g], a[g]);",
    "ends": "for (g in 1:G) target += ends(u[s[g]:e[g]], a[g]);",
    "passed on": "for (g in 1:G) target += passed(u[s[g]:e[g]], a[g]);",
    "vectors": "for (g in 1:G) target += pairs(v[s[g]:e[g]], a[g]);",
    "recurrences": "for (g in 1:G) target += paths(y[s[g]:e[g]], a[g]);",
    "in two loops": "for (g in 1:G) for (h in 1:k[g]) target += 0.1 * paths(u[h:k[g]], a[g]) * kinks(y[h:e[g]], a[g]);",
    "under a condition": "for (g in 1:G) if (a[g] > 0) target += kinks(u[s[g]:e[g]], a[g]);",
    "a local variable": """for (g in 1:G) {
    vector[k[g]] w; for (i in 1:k[g]) w[i] = u[i] * a[g]; target += kinks(w[1:k[g]], b) + paths(w, a[g]); }""",
}
WHOLE = PROGRAM % (FUNCTIONS, "\n  ".join(LOOPS.values()))
DATA = {
    "N": 9, "G": 5, "y": np.random.default_rng(0).normal(size=9).round(2).tolist(),
    "c": [0, 2, 1, 0, 0, 3, 1, 0, 5], "x": np.random.default_rng(1).normal(size=(2, 9)).round(2).tolist(),
    "z": np.random.default_rng(2).normal(size=(5, 2, 9)).round(2).tolist(),
    "v": np.random.default_rng(3).normal(size=(9, 2)).round(2).tolist(),
    "s": [1, 4, 5, 7, 2], "e": [3, 3, 9, 5, 2], "k": [3, 1, 0, 2, 4],
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_stans_value_and_gradient(backend, torch_double):
    compare(WHOLE, DATA, backend)


@pytest.mark.parametrize("name", [n for n in LOOPS if n not in ("other indices", "ranges", "a local variable")])
def test_all_calls_run_at_once(name):
    text = stanimport.translate("parts.stan", source=PROGRAM % (FUNCTIONS, LOOPS[name]))
    model = text[text.index("\ndef model"):]
    assert "lanes(1, G)" in model
    assert "alike" not in model


WRONG = {
    "the end": ("items", {"e": [3, 3, 10, 5, 2]}),
    "the begin": ("of parameters", {"s": [0, 4, 5, 7, 2]}),
    "of a matrix": ("a matrix", {"e": [3, 3, 9, 10, 2]}),
    "of a segment": ("as a whole too", {"k": [3, 1, 0, 2, 6]}),
    "in the function": ("other indices", {"k": [3, 1, 0, 2, 8]}),
}


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_index_is_rejected(name, backend, torch_double):
    loop, changed = WRONG[name]
    text, data = PROGRAM % (FUNCTIONS, LOOPS[loop]), DATA | changed
    point = np.full(data["G"] + data["N"] + 1, 0.3)
    with pytest.raises(Exception, match="out of range|out of bounds|segment"):
        stanli.Model(stan_code=text, data=data).log_prob_grad(point)
    with pytest.raises(StanError, match="index|segment"):
        value, _ = value_and_gradient(stanimport.loads(text, backend=backend), data, backend, point)
        assert value > -np.inf, "index"


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_parts_of_arrays_of_tuples_and_of_lengths_that_parameters_decide(backend, torch_double):
    """Neither of which stanli runs."""
    module = stanimport.loads("""
        functions {
          real sums(array[] tuple(real, int) t, int n, real a) {
            real s = 0;
            for (i in 1:n) s += t[i].1 * a + t[i].2;
            return s;
          }
          real squares(vector v, real a) { real s = 0; for (i in 1:size(v)) s += v[i] * square(a); return s; }
        }
        data { int N; int G; vector[N] y; array[N] int w; array[G] int s; array[G] int e; }
        transformed data { array[N] tuple(real, int) t; for (n in 1:N) t[n] = (y[n], w[n]); }
        parameters { vector[G] a; }
        model {
          for (g in 1:G) {
            int m = a[g] > 0 ? 2 : 3;
            target += sums(t[s[g]:e[g]], e[g] - s[g] + 1, a[g]) + squares(y[m:e[g]], a[g]);
          }
        }""", backend=backend)
    y, w, a = np.array([0.3, -1.0, 0.7, 1.2, -0.4, 0.9]), np.array([1, 2, 3, 1, 2, 1]), np.array([0.4, -0.7, 1.1])
    data = {"N": 6, "G": 3, "y": y, "w": w, "s": [1, 3, 5], "e": [2, 4, 6]}
    wanted, slopes = 0.0, []
    for value, start, end, m in zip(a, data["s"], data["e"], np.where(a > 0, 2, 3)):
        part, square = y[start - 1 : end].sum(), y[m - 1 : end].sum()
        wanted += part * value + w[start - 1 : end].sum() + square * value**2
        slopes.append(part + 2 * square * value)
    found, gradient = value_and_gradient(module, data, backend, a)
    assert found == pytest.approx(wanted, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-12)
