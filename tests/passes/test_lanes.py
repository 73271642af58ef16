"""Loops that run all iterations at once: sites, errors, masked branches, random numbers."""
from __future__ import annotations

import jax
import numpy as np
import numpyro
import pytest
from loop_programs import translated
from numpyro.infer.util import log_density
from scipy.stats import norm, poisson

from stanlib.errors import StanError

Y = np.array([0.4, -1.2, 2.2, 0.3, 1.9])


def trace(module, inputs, params):
    model = numpyro.handlers.substitute(numpyro.handlers.seed(module.model, 0), params)
    return numpyro.handlers.trace(model).get_trace(**inputs)


def terms(site):
    return np.asarray(site["fn"].log_prob(site["value"]))


def test_an_observed_site_has_one_entry_per_iteration(x64):
    module = translated("""
        data { int N; vector[N] y; array[N] int k; } parameters { real m; vector[3] v; }
        model { for (n in 1:N) { y[n] ~ normal(m, 2); target += poisson_lpmf(k[n] | exp(v[k[n] + 1])); } }""")
    inputs = module.transformed_data(N=5, y=Y, k=[0, 1, 2, 1, 0])
    sites = trace(module, inputs, {"m": 0.5, "v": np.array([0.1, 0.2, 0.3])})
    np.testing.assert_allclose(terms(sites["y"]), norm.logpdf(Y, 0.5, 2))
    rates = np.exp(np.array([0.1, 0.2, 0.3])[[0, 1, 2, 1, 0]])
    np.testing.assert_allclose(terms(sites["k"]), poisson.logpmf([0, 1, 2, 1, 0], rates))


def test_nested_and_conditional_sites(x64):
    module = translated("""
        data { int N; int K; matrix[N, K] x; array[N] int g; } parameters { vector[N] a; vector[K] b; }
        model { for (n in 1:N) { if (g[n] == 1) { for (k in 1:K) x[n, k] ~ normal(a[n] + b[k], 1); } } }""")
    x, a, b = np.arange(6.0).reshape(3, 2), np.array([0.1, 0.2, 0.3]), np.array([-1.0, 1.0])
    inputs = module.transformed_data(N=3, K=2, x=x, g=[1, 0, 1])
    sites = trace(module, inputs, {"a": a, "b": b})
    expected = norm.logpdf(x, a[:, None] + b, 1)[[0, 2]]
    np.testing.assert_allclose(terms(sites["x"]), expected)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_an_index_out_of_range_names_its_line(backend):
    module = translated("""data { int N; vector[N] y; array[N] int g; }
        parameters { vector[2] v; }
        model {
          for (n in 1:N)
            y[n] ~ normal(v[g[n]], 1);
        }""", backend)
    inputs = module.transformed_data(N=3, y=Y[:3], g=[1, 3, 2])
    with pytest.raises(StanError, match="index 3 is out of range: the size is 2") as caught:
        if backend == "numpyro":
            log_density(module.model, (), inputs, {"v": np.zeros(2)})
        else:
            import pyro
            import torch

            pyro.poutine.condition(module.model, data={"v": torch.zeros(2)})(**inputs)
    assert "line 5" in str(caught.value)


def test_gradients_of_a_masked_branch_stay_finite(x64):
    module = translated("""
        parameters { vector[3] z; real a; }
        model { for (n in 1:3) { if (z[n] > 0) target += a * log(z[n]) + sqrt(z[n]); else target += z[n] * a; } }""")
    params = {"z": np.array([0.5, -2.0, 0.0]), "a": 1.5}
    value, gradient = jax.value_and_grad(lambda p: log_density(module.model, (), {}, p)[0])(params)
    np.testing.assert_allclose(value, 1.5 * np.log(0.5) + np.sqrt(0.5) - 3.0)
    np.testing.assert_allclose(gradient["z"], [1.5 / 0.5 + 0.5 / np.sqrt(0.5), 1.5, 1.5])
    np.testing.assert_allclose(gradient["a"], np.log(0.5) - 2.0)


def test_a_masked_index_may_be_out_of_range(x64):
    module = translated("""
        data { int N; vector[N] y; } parameters { real a; }
        model { for (n in 1:N) { if (a * n > 1 && n < N) target += a * y[n + 1]; } }""")
    inputs = module.transformed_data(N=5, y=Y)
    value, gradient = jax.value_and_grad(lambda p: log_density(module.model, (), inputs, p)[0])({"a": 0.4})
    np.testing.assert_allclose(value, 0.4 * Y[3:].sum())
    np.testing.assert_allclose(gradient["a"], Y[3:].sum())


def test_a_rejection_in_one_iteration_rejects_the_draw(x64):
    module = translated("""
        parameters { vector[3] z; } model { for (n in 1:3) { if (z[n] > 2) reject("too large: ", z[n]); }
        z ~ normal(0, 1); }""")
    inside, outside = np.array([0.0, 1.0, 1.5]), np.array([0.0, 2.5, 1.0])
    np.testing.assert_allclose(log_density(module.model, (), {}, {"z": inside})[0], norm.logpdf(inside).sum())
    assert log_density(module.model, (), {}, {"z": outside})[0] == -np.inf


def test_every_iteration_draws_its_own_random_numbers(x64):
    module = translated("""
        data { int N; } parameters { vector[2] m; }
        generated quantities { vector[N] a; array[N] vector[2] b; array[N] int c; vector[N] d;
          for (n in 1:N) {
            a[n] = normal_rng(0, 1);
            b[n] = multi_normal_rng(m, identity_matrix(2));
            c[n] = bernoulli_rng(0.5) == 1 ? poisson_rng(3) : -1;
            d[n] = m[1] + exponential_rng(n);
          } }""")
    inputs = module.transformed_data(N=400)
    with numpyro.handlers.seed(rng_seed=3):
        out = module.generated_quantities(**inputs, m=np.array([5.0, -5.0]))
    a, b, c, d = (np.asarray(out[k]) for k in "abcd")
    assert len(set(a)) == 400 and abs(a.mean()) < 0.2 and 0.85 < a.std() < 1.15
    assert len(set(b[:, 0])) == 400 and np.abs(b.mean(0) - [5, -5]).max() < 0.2
    assert abs((c >= 0).mean() - 0.5) < 0.1 and abs(c[c >= 0].mean() - 3) < 0.5
    assert abs(((d - 5) * np.arange(1, 401)).mean() - 1) < 0.2


def test_transformed_data_computes_in_numpy():
    module = translated("""
        data { int N; vector[N] y; array[N] int g; }
        transformed data {
          vector[N] z; array[2] int count = {0, 0}; vector[N] running; matrix[N, 2] m;
          running[1] = y[1];
          for (n in 1:N) { z[n] = y[n]^2; count[g[n]] += 1; for (k in 1:2) m[n, k] = k * y[n] + (n == k); }
          for (n in 2:N) running[n] = running[n - 1] + y[n];
        }""")
    out = module.transformed_data(N=5, y=Y, g=[1, 2, 2, 1, 2])
    np.testing.assert_allclose(out["z"], Y**2)
    np.testing.assert_allclose(out["running"], np.cumsum(Y))
    np.testing.assert_allclose(out["m"], np.outer(Y, [1, 2]) + np.eye(5, 2))
    assert list(out["count"]) == [2, 3] and isinstance(out["z"], np.ndarray)
