"""The models of discrete.py as NumPyro enumerates them: discrete sites in plates, summed out by funsor."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.contrib.control_flow import scan
from numpyro.contrib.funsor import enum
from numpyro.contrib.funsor.infer_util import log_density as enumerated_density

ENUMERATED = {"enumerate": "parallel"}
PLATES = 2  # within each other, at most
FLAT = dist.ImproperUniform(dist.constraints.real, (), ())


def log_density(name: str, data: Mapping[str, Any], parameters: Mapping[str, Any]) -> Any:
    """The log density of constrained parameters, without Jacobians, up to a constant."""
    model = enum(MODELS[name], first_available_dim=-1 - PLATES)
    return enumerated_density(model, (), dict(data), dict(parameters))[0]


def _simplexes(name: str, *shape: int) -> Any:
    return numpyro.sample(name, dist.Dirichlet(jnp.ones(shape[-1])).expand(shape[:-1]).to_event(len(shape) - 1))


def _flat(name: str, *shape: int) -> Any:
    return numpyro.sample(name, FLAT.expand(shape).to_event(len(shape)))


def mixture(N: int, K: int, y: Any) -> None:
    theta = _simplexes("theta", K)
    mu = numpyro.sample("mu", dist.Normal(0, 2).expand([K]).to_event(1))
    sigma = numpyro.sample("sigma", dist.LogNormal(0, 1).expand([K]).to_event(1))
    with numpyro.plate("n", N):
        z = numpyro.sample("z", dist.Categorical(theta), infer=ENUMERATED)
        numpyro.sample("y", dist.Normal(mu[z], sigma[z]), obs=y)


def zero_inflation(N: int, y: Any) -> None:
    p, rate = _flat("p"), _flat("la")
    with numpyro.plate("n", N):
        z = numpyro.sample("z", dist.Bernoulli(p), infer=ENUMERATED)
        here = jnp.where(y > 0, -jnp.inf, 0.0), dist.Poisson(rate).log_prob(y)
        numpyro.factor("y", jnp.where(z == 1, *here))


def occupancy(R: int, T: int, y: Any, x: Any) -> None:
    a, b, p = _flat("a"), _flat("b"), _flat("p")
    with numpyro.plate("i", R):
        z = numpyro.sample("z", dist.Bernoulli(logits=a + b * x), infer=ENUMERATED)
        seen = dist.Bernoulli(p).log_prob(y).sum(-1)
        numpyro.factor("y", jnp.where(z == 1, seen, jnp.where(y.any(-1), -jnp.inf, 0.0)))


def latent_classes(N: int, J: int, C: int, y: Any) -> None:
    nu, pi = _simplexes("nu", C), _flat("pi", C, J)
    with numpyro.plate("n", N, dim=-2):
        c = numpyro.sample("c", dist.Categorical(nu), infer=ENUMERATED)
        with numpyro.plate("j", J, dim=-1):
            numpyro.sample("y", dist.Bernoulli(pi[c, jnp.arange(J)]), obs=y)


def annotators(I: int, J: int, K: int, y: Any) -> None:  # noqa: E741
    pi, b = _simplexes("pi", K), _simplexes("b", J, K, K)
    with numpyro.plate("i", I, dim=-2):
        z = numpyro.sample("z", dist.Categorical(pi), infer=ENUMERATED)
        with numpyro.plate("j", J, dim=-1):
            numpyro.sample("y", dist.Categorical(b[jnp.arange(J), z]), obs=y - 1)


def topics(N: int, D: int, V: int, K: int, w: Any, doc: Any) -> None:
    th, phi = _simplexes("th", D, K), _simplexes("phi", K, V)
    with numpyro.plate("n", N):
        z = numpyro.sample("z", dist.Categorical(th[doc - 1]), infer=ENUMERATED)
        numpyro.sample("w", dist.Categorical(phi[z]), obs=w - 1)


def hidden_markov(T: int, K: int, y: Any) -> None:
    rho, g, mu, width = _simplexes("rho", K), _simplexes("g", K, K), _flat("mu", K), _flat("s")

    def step(before: Any, now: Any) -> tuple[Any, None]:  # the first step's site is another, with a dict of its own
        z = numpyro.sample("z", dist.Categorical(rho if before is None else g[before]), infer={**ENUMERATED})
        numpyro.sample("y", dist.Normal(mu[z], width), obs=now)
        return z, None

    scan(step, None, jnp.asarray(y))


MODELS = {
    "mixture": mixture, "zero inflation": zero_inflation, "occupancy": occupancy, "latent classes": latent_classes,
    "annotators": annotators, "topics": topics, "hidden Markov": hidden_markov,
}  # fmt: skip
