"""Densities that programs define, as of families that brms writes out: they observe data as those of the library do."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import stanimport

PROGRAM = """
    functions {
      real shifted_lpdf(real y, real m, real s) {
        if (y > 0) return normal_lpdf(y | m, s);
        else return cauchy_lpdf(y | m, s);
      }
      real merged_lpmf(int k, real m, vector c, array[] int j) { return ordered_logistic_lpmf(k | m, c[j[1]:j[2]]); }
      real prior_lpdf(real s, real rate) { return exponential_lpdf(s | rate); }
    }
    data { int N; vector[N] y; array[N] int k; array[N, 2] int j; }
    parameters { real m; real<lower=0> s; ordered[2] c; }
    model {
      target += prior_lpdf(s | 1);
      for (n in 1:N) {
        target += shifted_lpdf(y[n] | m, s);
        target += merged_lpmf(k[n] | m, c, j[n]);
      }
    }
"""
Y, K = np.array([1.0, -1.0, 2.0, 0.5]), np.array([1, 2, 3, 1])
DATA = {"N": 4, "y": Y, "k": K, "j": [[1, 2]] * 4}


def densities_at(m, s, c):
    """Of each y and each k."""
    of_y = np.where(Y > 0, stats.norm(m, s).logpdf(Y), stats.cauchy(m, s).logpdf(Y))
    above = np.concatenate([[1.0], special.expit(m - c), [0.0]])
    return of_y, np.log(above[K - 1] - above[K])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_every_observation_has_its_log_density(backend, scheme):
    module = stanimport.loads(PROGRAM, backend=backend, scheme=scheme, name="own")
    fit = stanimport.laplace_sample(module, DATA, draws=5, seed=1)
    found = fit.to_arviz(log_likelihood=True).log_likelihood
    assert set(found.data_vars) == {"y", "k"}
    for i in range(5):
        at = fit.m[i], fit.s[i], fit.c[i]
        of_y, of_k = densities_at(*at)
        np.testing.assert_allclose(found["y"].values[0, i], of_y, rtol=1e-9)
        np.testing.assert_allclose(found["k"].values[0, i], of_k, rtol=1e-9)
        lp = stanimport.log_prob(module, DATA, params={"m": at[0], "s": at[1], "c": at[2]}, jacobian=False)[0]
        assert lp == pytest.approx(of_y.sum() + of_k.sum() - at[1], rel=1e-9)
