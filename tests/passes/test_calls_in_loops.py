"""Calls in loops whose iterations run at once: each iteration gets the value that the call has by itself."""
from __future__ import annotations

import numpy as np
import pytest
from densities import module_log_density
from loop_programs import translated
from scipy.stats import bernoulli, beta, norm

from stanimport.passes import loops

BOTH = pytest.mark.parametrize("backend", ["numpyro", "pyro"])
X, MU, SIGMA = np.array([0.4, -1.2, 2.2]), np.array([0.0, 0.5, 1.0]), np.array([1.0, 2.0, 0.5])


def densities(program, data, params, backend):
    """The log density with loops as lanes, and statement by statement."""
    modules = [translated(program, backend, without) for without in ((), loops.PASSES)]
    return [module_log_density(m, m.transformed_data(**data), params, backend) for m in modules]


def quantities(program, data, draw, backend):
    module = translated(program, backend)
    made = module.generated_quantities(**module.transformed_data(**data), **draw)
    return {k: np.asarray(v) for k, v in made.items()}


@BOTH
def test_distribution_functions_are_products_within_an_iteration_alone(backend, x64, torch_double):
    program = """
        data { int N; vector[N] x; vector[N] mu; vector[N] sigma; array[N] vector<lower=0, upper=1>[2] u; }
        transformed data { vector[N] d; for (n in 1:N) d[n] = normal_cdf(x[n] | mu[n], sigma[n]); }
        parameters { vector[N] z; }
        transformed parameters {
          vector[N] c; vector[N] b;
          for (n in 1:N) { c[n] = normal_cdf(z[n] | mu[n], sigma[n]); b[n] = beta_cdf(u[n] | exp(z[n]), 2); }
        }
        generated quantities { vector[N] e = d; }"""
    u = np.array([[0.2, 0.4], [0.6, 0.5], [0.9, 0.8]])
    z = np.array([0.3, -0.1, 0.2])
    got = quantities(program, {"N": 3, "x": X, "mu": MU, "sigma": SIGMA, "u": u}, {"z": z}, backend)
    np.testing.assert_allclose(got["e"], norm.cdf(X, MU, SIGMA), 1e-12)
    np.testing.assert_allclose(got["c"], norm.cdf(z, MU, SIGMA), 1e-12)
    np.testing.assert_allclose(got["b"], beta.cdf(u, np.exp(z)[:, None], 2).prod(axis=1), 1e-12)


@BOTH
def test_a_distribution_function_as_a_probability(backend):
    program = """
        data { int N; array[N] int y; vector[N] x; } parameters { real mu; }
        model { for (n in 1:N) y[n] ~ bernoulli(normal_cdf(x[n] | mu, 1)); }"""
    got, plain = densities(program, {"N": 3, "y": [1, 0, 1], "x": X}, {"mu": 0.3}, backend)
    assert got == pytest.approx(bernoulli.logpmf([1, 0, 1], norm.cdf(X, 0.3)).sum(), rel=1e-12)
    assert plain == pytest.approx(got, rel=1e-12)


@BOTH
def test_a_function_that_adds_to_the_target_adds_once_in_every_iteration(backend):
    program = """
        functions {
          void h_lp(real x) { target += normal_lpdf(x | 1, 2); }
          real g_jacobian(real x) { jacobian += 3 * x; return 2 * x; }
          real own_lpdf(real y, real m) { return normal_lpdf(y | m, 1); }
        }
        data { int N; vector[N] w; } parameters { real x; vector[N] z; }
        transformed parameters { vector[N] t; for (n in 1:N) t[n] = g_jacobian(x); }
        model {
          for (n in 1:N) h_lp(x);
          for (n in 1:N) x ~ own(2);
          for (n in 1:N) { if (w[n] > 0) { h_lp(x); target += own_lpdf(x | 3); } }
          for (n in 1:N) { if (z[n] > 0) { h_lp(x); target += own_lpdf(x | 4); } }
          target += sum(t);
        }"""
    data, params = {"N": 3, "w": [1.0, -1.0, 2.0]}, {"x": 0.7, "z": np.array([-0.3, 0.2, 0.1])}
    got, plain = densities(program, data, params, backend)
    one = [norm.logpdf(0.7, m, s) for m, s in ((1, 2), (2, 1), (3, 1), (4, 1))]
    assert got == pytest.approx(7 * one[0] + 3 * one[1] + 2 * one[2] + 2 * one[3] + 9 * 0.7 + 6 * 0.7, rel=1e-12)
    assert plain == pytest.approx(got, rel=1e-12)


@BOTH
def test_mixtures_of_numbers_and_densities(backend):
    program = """
        data { int N; array[N] int y; } parameters { real<lower=0, upper=1> p; real l; }
        model {
          for (n in 1:N) {
            if (y[n] == 0) target += log_mix(p, 0, poisson_log_lpmf(y[n] | l));
            else target += log1m(p) + poisson_log_lpmf(y[n] | l);
          }
          for (n in 1:N) target += log_mix(0.3, poisson_log_lpmf(y[n] | l), -1);
          target += log_mix(0.3, l, l) + log_mix(p, l, 2);
        }"""
    y, p, log_rate = np.array([0, 2, 0, 1]), 0.4, 0.3
    got, plain = densities(program, {"N": 4, "y": y}, {"p": p, "l": log_rate}, backend)
    rate = np.exp(log_rate)
    each = rate**y * np.exp(-rate) / np.array([1, 2, 1, 1])
    wanted = np.log(p * (y == 0) + (1 - p) * each).sum() + np.log(0.3 * each + 0.7 * np.exp(-1)).sum()
    wanted += log_rate + np.log(p * rate + (1 - p) * np.exp(2))
    assert got == pytest.approx(wanted, rel=1e-12)
    assert plain == pytest.approx(got, rel=1e-12)


@BOTH
def test_terms_of_a_loop_inside_are_counted_once(backend):
    program = """
        data { int S; int T; array[S, T] int y; array[S, T] real r; } parameters { real a; }
        model {
          for (s in 1:S) {
            vector[2] v = rep_vector(0, 2);
            for (t in 1:T) { y[s, t] ~ categorical_logit(2 * v); v[y[s, t]] += a * (r[s, t] - v[y[s, t]]); }
          }
        }"""
    y, r, a = np.array([[1, 2, 2], [2, 1, 2]]), np.array([[0.4, 1.0, -0.3], [0.2, 0.9, 1.5]]), 0.3
    got, plain = densities(program, {"S": 2, "T": 3, "y": y, "r": r}, {"a": a}, backend)
    wanted = 0.0
    for choices, rewards in zip(y - 1, r):
        v = np.zeros(2)
        for k, reward in zip(choices, rewards):
            wanted += 2 * v[k] - np.log(np.exp(2 * v).sum())
            v[k] += a * (reward - v[k])
    assert got == pytest.approx(wanted, rel=1e-12)
    assert plain == pytest.approx(wanted, rel=1e-12)


@BOTH
def test_a_condition_inside_of_a_recurrence(backend):
    program = """
        data { int N; int K; matrix[N, K] x; }
        transformed data { real d = negative_infinity(); for (n in 1:N) if (x[n, 1] > d) d = x[n, 1]; }
        parameters { real a; }
        transformed parameters {
          real m = negative_infinity(); vector[N] rows; vector[N] w = a * x[, 1];
          for (n in 1:N) if (w[n] > m) m = w[n];
          for (n in 1:N) { real top = 0; for (k in 1:K) if (a * x[n, k] > top) top = a * x[n, k]; rows[n] = top; }
        }
        model { target += d + 10 * m + 100 * sum(rows); }"""
    x = np.array([[0.3, 0.9], [-1.0, -0.2], [1.0, 0.0]])
    got, plain = densities(program, {"N": 3, "K": 2, "x": x}, {"a": 0.5}, backend)
    assert got == pytest.approx(1.0 + 10 * 0.5 + 100 * 0.5 * np.maximum(x.max(axis=1), 0).sum(), rel=1e-12)
    assert plain == pytest.approx(got, rel=1e-12)


@BOTH
def test_data_read_backwards(backend):
    program = """
        data { int N; vector[N] x; } parameters { vector[N] b; }
        model {
          target += dot_product(reverse(x), b);
          for (n in 1:N) x[N + 1 - n] ~ normal(b[n], 1);
          for (n in 1:N) target += x[N + 1 - n] * b[N + 1 - n];
        }"""
    b = np.array([0.1, -0.2, 0.3])
    got, plain = densities(program, {"N": 3, "x": X}, {"b": b}, backend)
    assert got == pytest.approx(X[::-1] @ b + norm.logpdf(X[::-1], b).sum() + X @ b, rel=1e-12)
    assert plain == pytest.approx(got, rel=1e-12)


RANDOM = """
    functions {
      real shifted_rng(real x) { return x + uniform_rng(1, 1.001); }
      vector both_rng(vector x) { return x + uniform_rng(1, 1.001); }
      int counted_rng(int x) { return x + bernoulli_rng(1); }
    }
    data { int N; }
    transformed data { vector[N] d = rep_vector(0, N); for (n in 1:N) { if (bernoulli_rng(1)) d[n] = n; } }
    parameters { real a; }
    generated quantities {
      vector[N] r; array[N] vector[2] v; array[2, N] int k; array[N] int y = rep_array(0, N);
      vector[N] e; vector[N] c; array[N] int s; vector[N] dd = d;
      r[1] = a;
      for (n in 2:N) r[n] = shifted_rng(r[n - 1]);
      v[1] = [a, 2 * a]';
      for (n in 2:N) v[n] = both_rng(v[n - 1]);
      for (i in 1:2) { k[i, 1] = i; for (n in 2:N) k[i, n] = counted_rng(k[i, n - 1]); }
      for (n in 1:N) if (bernoulli_rng(a / 2)) y[n] = n;
      for (n in 1:N) { if (uniform_rng(0, 1) < 2) e[n] = 1; else e[n] = 2; }
      for (n in 1:N) c[n] = bernoulli_rng(0) ? n : -n;
      for (n in 1:N) { s[n] = 0; for (j in 1:binomial_rng(3, 1)) s[n] += j * n; }
    }"""


@pytest.mark.parametrize("without", [(), loops.PASSES], ids=["all passes", "no passes"])
@BOTH
def test_random_numbers_decide_in_every_iteration_anew(backend, without, x64, torch_double):
    module = translated(RANDOM, backend, without)
    inputs = module.transformed_data(N=5)
    got = {k: np.asarray(v) for k, v in module.generated_quantities(**inputs, a=2.0).items()}
    steps, n = np.arange(5), np.arange(1, 6)
    np.testing.assert_allclose(got["r"] - 2, steps, atol=0.005)
    np.testing.assert_allclose(got["v"] - [2, 4], steps[:, None] + np.zeros(2), atol=0.005)
    assert len(set(np.diff(got["r"]))) == 4
    np.testing.assert_array_equal(got["k"], [n, n + 1])
    for name, wanted in {"y": n, "e": np.ones(5), "c": -n, "s": 6 * n, "dd": n}.items():
        np.testing.assert_array_equal(got[name], wanted, err_msg=name)


@BOTH
def test_what_reads_the_target_beside_calls_that_add_to_it_does_so_in_the_order_of_the_text(backend):
    """As in the C++ of stanc, where elements in braces, and those of a row vector, are computed from the left."""
    program = """
        functions {
          real f_lp(real x) { target += x; return 100; }
          real now_lp() { return target(); }
          real pair(real a, real b) { return a; }
        }
        data { int N; } parameters { real x; }
        model {
          target += x;
          vector[7] t;
          { array[2] real a = {target(), f_lp(x)}; t[1] = a[1]; }
          { row_vector[2] a = [target(), f_lp(x)]; t[2] = a[1]; }
          { matrix[2, 2] a = [[now_lp(), 1], [f_lp(x), 1]]; t[3] = a[1, 1]; }
          { array[2] real a = {f_lp(x), target()}; t[4] = a[2]; }
          { array[2] real a = {x > 0 ? target() : 9, f_lp(x)}; t[5] = a[1]; }
          t[6] = pair(target(), f_lp(x));
          if (target() + f_lp(x) > 0) t[7] = target();
          for (n in 1:N) { array[2] real a = {target(), f_lp(x)}; target += 10 * a[1]; }
          target += -target();
          for (i in 1:7) target += t[i] * 10.0 ^ -i;
        }"""
    got, plain = densities(program, {"N": 2}, {"x": 0.5}, backend)
    reads = np.array([1, 2, 3, 5, 5, 6, 8])  # how often x has been added
    assert got == pytest.approx(0.5 * (reads * 10.0 ** -np.arange(1, 8)).sum(), rel=1e-12)
    assert plain == pytest.approx(got, rel=1e-12)


@BOTH
def test_the_outcome_of_a_law_is_computed_before_its_arguments(backend, x64, torch_double):
    program = """
        functions { real f_lp(real x) { target += x; return 0.1 * target(); } }
        data { int N; } parameters { real x; }
        model { for (n in 1:N) f_lp(x) ~ normal(f_lp(2 * x), f_lp(4)); }"""
    got, plain = densities(program, {"N": 2}, {"x": 0.5}, backend)
    target = 0.0
    for _ in range(2):
        values = []
        for added in (0.5, 1.0, 4.0):
            target += added
            values.append(0.1 * target)
        target += norm.logpdf(values[0], values[1], values[2])
    assert got == pytest.approx(target, rel=1e-12)
    assert plain == pytest.approx(target, rel=1e-12)
