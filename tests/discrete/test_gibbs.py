"""Draws of discrete and continuous parameters beside a Gibbs sampler, which draws each from its conditional law."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport

SWEEPS, BURN = 12_000, 500
MIXTURE = """data { int N; vector[N] y; }
parameters { real<lower=0, upper=1> p; vector[2] mu; array[N] int<lower=0, upper=1> z; }
model { p ~ beta(2, 2); mu[1] ~ normal(-1, 1); mu[2] ~ normal(1, 1);
  z ~ bernoulli(p); for (n in 1:N) y[n] ~ normal(mu[z[n] + 1], 1); }"""
OCCUPANCY = """data { int N; int T; array[N] int y; }
parameters { real<lower=0, upper=1> psi; real<lower=0, upper=1> p; array[N] int<lower=0, upper=1> z; }
model { z ~ bernoulli(psi); for (n in 1:N) y[n] ~ binomial(T, z[n] * p); }"""
CHAIN = """data { int N; vector[N] y; }
parameters { vector<lower=0, upper=1>[2] up; array[N] int<lower=0, upper=1> z; }
model { up ~ beta(2, 2); z[1] ~ bernoulli(0.5);
  for (t in 2:N) z[t] ~ bernoulli(up[z[t - 1] + 1]);
  for (t in 1:N) y[t] ~ normal(2 * z[t] - 1, 1); }"""


def of_mixture(y, rng):
    p, mu = 0.5, np.array([-1.0, 1.0])
    while True:
        odds = p / (1 - p) * np.exp(-0.5 * (y - mu[1]) ** 2 + 0.5 * (y - mu[0]) ** 2)
        z = rng.random(len(y)) < odds / (1 + odds)
        p = rng.beta(2 + z.sum(), 2 + (~z).sum())
        for k, mean in ((0, -1.0), (1, 1.0)):
            own = y[z == k]
            mu[k] = rng.normal((own.sum() + mean) / (len(own) + 1), (len(own) + 1) ** -0.5)
        yield [p, *mu], z


def of_occupancy(y, rng, times=4):
    psi, p = 0.5, 0.5
    while True:
        missed = psi * (1 - p) ** times
        z = (y > 0) | (rng.random(len(y)) < missed / (missed + 1 - psi))
        psi = rng.beta(1 + z.sum(), 1 + (~z).sum())
        p = rng.beta(1 + y.sum(), 1 + (times * z - y).sum())
        yield [psi, p], z


def of_chain(y, rng):
    up, z = np.array([0.5, 0.5]), np.zeros(len(y), int)
    gain = 2 * y  # the log of the ratio of the two densities
    while True:
        for t in range(len(y)):
            before = up[z[t - 1]] if t else 0.5
            ratio = np.exp(gain[t]) * before / (1 - before)
            if t + 1 < len(y):
                ratio *= up[1] / up[0] if z[t + 1] else (1 - up[1]) / (1 - up[0])
            z[t] = rng.random() < ratio / (1 + ratio)
        for k in (0, 1):
            then = z[1:][z[:-1] == k]
            up[k] = rng.beta(2 + then.sum(), 2 + len(then) - then.sum())
        yield up.tolist(), z


DATA = np.array([-1.8, -0.3, 0.4, 1.9, 0.8, -0.6, 1.2, -1.1])
MODELS = {
    "mixture": (MIXTURE, {"y": DATA}, of_mixture, ("p", "mu")),
    "occupancy": (OCCUPANCY, {"y": np.array([0, 0, 1, 0, 2, 0, 0, 1]), "T": 4}, of_occupancy, ("psi", "p")),
    "chain": (CHAIN, {"y": DATA}, of_chain, ("up",)),
}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MODELS)
def test_as_a_gibbs_sampler(name):
    text, data, sampler, parameters = MODELS[name]
    sweeps = sampler(data["y"], np.random.default_rng(4))
    drawn = [np.concatenate([v, z]) for v, z in (next(sweeps) for _ in range(SWEEPS))][BURN:]
    inputs = {"N": len(DATA)} | {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in data.items()}
    fit = stanimport.sample(stanimport.loads(text), inputs, seed=8, chains=2, iter_warmup=300, iter_sampling=2000)
    ours = np.concatenate([fit.stan_variable(n).reshape(4000, -1) for n in (*parameters, "z")], axis=1)
    scale = np.std(drawn, axis=0)
    np.testing.assert_array_less(np.abs(ours.mean(0) - np.mean(drawn, axis=0)), 0.12 * scale + 1e-9)
    np.testing.assert_allclose(ours.std(0), scale, rtol=0.15, atol=0.02)
    exact = fit.discrete_probabilities("z")[:, -1]  # for every draw the probability itself, which varies less
    np.testing.assert_array_less(np.abs(exact - np.mean(drawn, axis=0)[-len(DATA) :]), 0.1 * scale[-len(DATA) :] + 1e-9)
