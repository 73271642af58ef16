"""Values of discrete parameters where the density is asked for: it is the sum over all of them, and says so."""
from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport import StanWarning

PROGRAM = """data { int N; vector[N] y; }
parameters { real m; array[N] int<lower=0, upper=1> z; }
transformed parameters { real twice = 2 * m; }
model { m ~ normal(0, 1); z ~ bernoulli(0.3); y ~ normal(m + 3 * to_vector(z), 1); }
"""
Y = np.array([0.2, 3.5, 1.4])
DATA = {"N": 3, "y": Y}
DRAW = {"m": 0.4, "z": [0, 1, 1], "twice": 0.8}
SUM = (stats.norm.logpdf(0.4)
       + np.log(0.7 * stats.norm.pdf(Y, 0.4) + 0.3 * stats.norm.pdf(Y, 3.4)).sum())  # fmt: skip


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_log_prob_of_a_draw_says_that_it_is_the_sum(backend):
    pytest.importorskip(backend, reason="the backend is not installed")
    module = stanimport.loads(PROGRAM, backend=backend)
    with pytest.warns(StanWarning, match="a value was given for z, which is a discrete parameter"):
        found = stanimport.log_prob(module, DATA, params=DRAW)
    np.testing.assert_allclose(found.lp, SUM)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_initial_values_of_a_draw_say_that_some_make_no_difference(backend):
    pytest.importorskip(backend, reason="the backend is not installed")
    module = stanimport.loads(PROGRAM, backend=backend)
    chosen = {"chains": 1, "iter_warmup": 5, "iter_sampling": 5, "seed": 1}
    with pytest.warns(StanWarning, match="z, which is a discrete parameter"):
        stanimport.sample(module, DATA, inits=DRAW, **chosen)


def test_without_them_nothing_is_said():
    module = stanimport.loads(PROGRAM)
    fit = stanimport.optimize(module, DATA, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", StanWarning)
        stanimport.log_prob(module, DATA, params={"m": 0.4, "twice": 0.8})
        stanimport.laplace_sample(module, DATA, mode=fit, draws=5, seed=1)
        stanimport.optimize(module, DATA, inits=fit, seed=1)
