"""What vae.stan, mlp.stan and two more programs say, written by hand in NumPyro and Pyro, on batches of rows.

The random variables stand in the order of the compiled programs and parameters have their names, so that both sides
make the same draws of one key.
"""
from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
import pyro
import pyro.distributions as pdist
import torch
from flax import nnx
from numpyro.contrib.module import nnx_module

LOGISTIC = """
    data {
      int<lower=0> N; int<lower=1> K; int<lower=1> J;
      matrix[N, K] x; array[N] int<lower=1, upper=J> g; array[N] int<lower=0, upper=1> y;
    }
    parameters { vector[K] slopes; real centre; real<lower=0> spread; vector[J] intercepts; }
    model {
      slopes ~ normal(0, 1);
      centre ~ normal(0, 2);
      spread ~ exponential(1);
      intercepts ~ normal(centre, spread);
      y ~ bernoulli_logit(intercepts[g] + x * slopes);
    }
"""
FACTORS = """
    data {
      int<lower=0> N; int<lower=1> U; int<lower=1> F; int<lower=1> D;
      array[N] int<lower=1, upper=U> u; array[N] int<lower=1, upper=F> f; vector[N] y;
    }
    parameters { matrix[U, D] users; matrix[F, D] films; real<lower=0> noise; }
    model {
      to_vector(users) ~ normal(0, 1);
      to_vector(films) ~ normal(0, 1);
      noise ~ exponential(1);
      y ~ normal(rows_dot_product(users[u], films[f]), noise);
    }
"""


# --- NumPyro ---------------------------------------------------------------------------------------------------------


class Encoder(nnx.Module):
    def __init__(self, pixels: int, hidden: int, latent: int, rngs: nnx.Rngs):
        self.hidden = nnx.Linear(pixels, hidden, rngs=rngs)
        self.mean, self.log_sd = nnx.Linear(hidden, latent, rngs=rngs), nnx.Linear(hidden, latent, rngs=rngs)

    def __call__(self, images):
        hidden = nnx.softplus(self.hidden(images.astype(self.mean.kernel.dtype)))
        return jnp.stack([self.mean(hidden), jnp.exp(self.log_sd(hidden))])


class Decoder(nnx.Module):
    def __init__(self, pixels: int, hidden: int, latent: int, rngs: nnx.Rngs):
        self.first, self.last = nnx.Linear(latent, hidden, rngs=rngs), nnx.Linear(hidden, pixels, rngs=rngs)

    def __call__(self, z):
        return self.last(nnx.softplus(self.first(z)))


class Layer(eqx.Module):
    weight: jax.Array
    bias: jax.Array


class MLP(eqx.Module):
    l1: Layer
    l2: Layer

    def __init__(self, pixels: int, hidden: int, classes: int):
        self.l1 = Layer(jnp.zeros((hidden, pixels)), jnp.zeros(hidden))
        self.l2 = Layer(jnp.zeros((classes, hidden)), jnp.zeros(classes))

    def __call__(self, images):
        return self.l2.bias + self._hidden(images) @ self.l2.weight.T

    def _hidden(self, images):
        return jax.nn.relu(images.reshape(len(images), -1) @ self.l1.weight.T + self.l1.bias)


class NumPyroVAE:
    def __init__(self, total, latent, encoder, decoder):
        self.total, self.latent, self.encoder, self.decoder = total, latent, encoder, decoder

    def model(self, images):
        decoder = nnx_module("decoder", self.decoder)
        with numpyro.handlers.scale(scale=self.total / len(images)):
            z = numpyro.sample("z", dist.Normal(0, 1).expand([len(images), self.latent]))
            numpyro.sample("images", dist.BernoulliLogits(decoder(z)), obs=images)

    def guide(self, images):
        encoder = nnx_module("encoder", self.encoder)
        centre, width = encoder(images)
        with numpyro.handlers.scale(scale=self.total / len(images)):
            numpyro.sample("z", dist.Normal(centre, width))


class NumPyroMLP:
    def __init__(self, total, pixels, hidden, classes):
        self.total = total
        self.shapes = {"l1.weight": (hidden, pixels), "l1.bias": (hidden,), "l2.weight": (classes, hidden),
                       "l2.bias": (classes,)}  # fmt: skip

    def model(self, images, labels):
        w = {n: numpyro.sample(f"mlp.{n}", dist.Normal(0, 1).expand(s).to_event()) for n, s in self.shapes.items()}
        hidden = jax.nn.relu(images.reshape(len(images), -1) @ w["l1.weight"].T + w["l1.bias"])
        log_odds = hidden @ w["l2.weight"].T + w["l2.bias"]
        with numpyro.handlers.scale(scale=self.total / len(images)):
            numpyro.sample("labels", dist.CategoricalLogits(log_odds), obs=labels - 1)

    def guide(self, images, labels):
        for (site, shape), name in zip(self.shapes.items(), ("w1", "b1", "w2", "b2")):
            mean = numpyro.param(f"{name}_mu", jnp.zeros(shape))
            log_sd = numpyro.param(f"{name}_sigma", jnp.full(shape, -3.0))
            numpyro.sample(f"mlp.{site}", dist.Normal(mean, jnp.exp(log_sd)).to_event())


def numpyro_logistic(total, J):
    def model(x, g, y):
        slopes = numpyro.sample("slopes", dist.Normal(0, 1).expand([x.shape[1]]))
        centre = numpyro.sample("centre", dist.Normal(0, 2))
        spread = numpyro.sample("spread", dist.Exponential(1))
        intercepts = numpyro.sample("intercepts", dist.Normal(centre, spread).expand([J]))
        with numpyro.handlers.scale(scale=total / len(y)):
            numpyro.sample("y", dist.BernoulliLogits(intercepts[g - 1] + x @ slopes), obs=y)

    return model


def numpyro_factors(total, U, F, D):
    def model(u, f, y):
        users = numpyro.sample("users", dist.Normal(0, 1).expand([U, D]))
        films = numpyro.sample("films", dist.Normal(0, 1).expand([F, D]))
        noise = numpyro.sample("noise", dist.Exponential(1))
        with numpyro.handlers.scale(scale=total / len(y)):
            numpyro.sample("y", dist.Normal((users[u - 1] * films[f - 1]).sum(-1), noise), obs=y)

    return model


# --- Pyro; the networks' are those of tests/deepstan/twins.py --------------------------------------------------------


def pyro_logistic(total, J):
    def model(x, g, y):
        slopes = pyro.sample("slopes", pdist.Normal(0.0, 1.0).expand([x.shape[1]]).to_event(1))
        centre = pyro.sample("centre", pdist.Normal(0.0, 2.0))
        spread = pyro.sample("spread", pdist.Exponential(1.0))
        intercepts = pyro.sample("intercepts", pdist.Normal(centre, spread).expand([J]).to_event(1))
        with pyro.plate("rows", total, subsample=y):
            pyro.sample("y", pdist.Bernoulli(logits=intercepts[g - 1] + x @ slopes), obs=y.to(x.dtype))

    return model


def pyro_factors(total, U, F, D):
    def model(u, f, y):
        users = pyro.sample("users", pdist.Normal(0.0, 1.0).expand([U, D]).to_event(2))
        films = pyro.sample("films", pdist.Normal(0.0, 1.0).expand([F, D]).to_event(2))
        noise = pyro.sample("noise", pdist.Exponential(torch.ones(())))
        with pyro.plate("rows", total, subsample=y):
            pyro.sample("y", pdist.Normal((users[u - 1] * films[f - 1]).sum(-1), noise), obs=y)

    return model
