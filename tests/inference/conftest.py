"""Fits that several tests look at, made once."""
from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import stanimport

MODELS = Path(__file__).parents[2] / "models"
QUICK = dict(chains=2, iter_warmup=300, iter_sampling=500, seed=7)


def load(name, **options):
    return stanimport.load(MODELS / f"{name}.stan", **options)


def data_of(name):
    return json.loads((MODELS / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def schools_fit():
    """The non-centered eight schools: transformed parameters, log_lik, random quantities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return stanimport.sample(load("eight_schools_noncentered"), data_of("eight_schools_noncentered"), **QUICK)


@pytest.fixture(scope="session")
def beta_module():
    """A posterior that is known: beta(1 + sum(y), 1 + N - sum(y)), with a matrix and a tuple among the quantities."""
    return stanimport.loads("""
data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }
parameters { real<lower=0, upper=1> theta; }
transformed parameters { matrix[2, 3] m = [[theta, 2, 3], [4, 5, 6 * theta]]; }
model { y ~ bernoulli(theta); }
generated quantities {
  tuple(real, array[2] int) pair = (2 * theta, {bernoulli_rng(theta), 1});
  complex z = to_complex(theta, 1 - theta);
  real noise = normal_rng(0, 1);
}
""", name="beta")


FLIPS = {"N": 10, "y": [1, 1, 0, 1, 1, 1, 0, 1, 0, 1]}  # the posterior is beta(8, 4)


@pytest.fixture(scope="session")
def beta_fit(beta_module):
    return stanimport.sample(beta_module, FLIPS, **QUICK)
