"""Observations in loops whose iterations need the ones before: sites with one log density per observation."""
import numpy as np
import pytest
from scipy import stats

import stanimport

SERIES = """
    data { int N; vector[N] x; vector[N] y; array[N] int k; }
    parameters { real a; real<lower=0> s; }
    model {
      real h = 0;
      for (n in 1:N) {
        h = tanh(a * h) + x[n];
        y[n] ~ normal(h, s);
        target += poisson_log_lpmf(k[n] | h);
      }
    }"""
RESIDUALS = """
    data { int N; vector[N] x; vector[N] y; array[N] int k; }
    parameters { real a; real<lower=0> s; }
    model {
      real h = 0;
      for (n in 1:N) {
        real scaled = log1p(x[n] * x[n]);
        h = h > 0.3 ? a * h + x[n] : sin(h) + x[n];
        scaled ~ normal(h, s);
        if (x[n] > 0) y[n] ~ normal(h, s);
      }
    }"""
GROUPS = """
    data { int G; int N; matrix[G, N] x; matrix[G, N] y; }
    parameters { vector[G] a; real<lower=0> s; }
    model {
      for (g in 1:G) {
        real h = 0;
        for (n in 1:N) {
          h = tanh(a[g] * h) + x[g, n];
          y[g, n] ~ normal(h, s);
        }
      }
    }"""
UNEQUAL = """
    data { int G; array[G] int size; int N; vector[N] x; vector[N] y; }
    parameters { vector[G] a; real<lower=0> s; }
    model {
      int at = 0;
      for (g in 1:G) {
        real h = 0;
        for (n in 1:size[g]) {
          h = tanh(a[g] * h) + x[at + n];
          y[at + n] ~ normal(h, s);
        }
        at += size[g];
      }
    }"""
LEFT = GROUPS.replace("h = tanh", "if (h > 1e3) break; h = tanh")
RNG = np.random.default_rng(3)
N, A, S = 11, 0.7, 0.4
X, Y, K = RNG.normal(size=N), RNG.normal(size=N), RNG.poisson(1.5, N)
DATA = {"N": N, "x": X, "y": Y, "k": K}
X_OF, Y_OF, A_OF = RNG.normal(size=(3, N)), RNG.normal(size=(3, N)), np.array([0.1, 0.7, -0.4])
SIZES = [12, 5, 16]


def carried(step, x):
    """The state after every iteration, from 0 on."""
    h, states = 0.0, []
    for value in x:
        h = step(h, value)
        states.append(h)
    return np.array(states)


def series():
    h = carried(lambda h, x: np.tanh(A * h) + x, X)
    return {"y": stats.norm(h, S).logpdf(Y), "k": stats.poisson(np.exp(h)).logpmf(K)}


def residuals():
    h = carried(lambda h, x: (A * h if h > 0.3 else np.sin(h)) + x, X)
    scaled = stats.norm(h, S).logpdf(np.log1p(X * X))
    return {"scaled__density": scaled, "y": np.where(X > 0, stats.norm(h, S).logpdf(Y), 0.0)}


def groups():
    h = [carried(lambda h, x, a=a: np.tanh(a * h) + x, xs) for a, xs in zip(A_OF, X_OF)]
    return {"y": stats.norm(np.array(h), S).logpdf(Y_OF)}


def unequal():
    parts = np.split(X_OF.ravel(), np.cumsum(SIZES)[:-1])
    h = [carried(lambda h, x, a=a: np.tanh(a * h) + x, xs) for a, xs in zip(A_OF, parts)]
    return {"y": stats.norm(np.concatenate(h), S).logpdf(Y_OF.ravel())}


OF_GROUPS = {"G": 3, "N": N, "x": X_OF, "y": Y_OF}
CASES = {
    "series": (SERIES, DATA, {"a": A, "s": S}, series), "residuals": (RESIDUALS, DATA, {"a": A, "s": S}, residuals),
    "groups": (GROUPS, OF_GROUPS, {"a": A_OF, "s": S}, groups),
    "loops that may be left": (LEFT, OF_GROUPS, {"a": A_OF, "s": S}, groups),
    "groups of unequal sizes": (
        UNEQUAL, {"G": 3, "size": SIZES, "N": 3 * N, "x": X_OF.ravel(), "y": Y_OF.ravel()}, {"a": A_OF, "s": S}, unequal
    ),
}  # fmt: skip


def on_numpyro(module, inputs, values):
    import jax
    from numpyro import handlers
    from numpyro.infer import log_likelihood

    draws = {name: np.array([value, value]) for name, value in values.items()}
    made = log_likelihood(module.model, draws, **inputs)
    trace = handlers.trace(handlers.substitute(handlers.seed(module.model, jax.random.PRNGKey(0)), values))
    sites = trace.get_trace(**inputs)
    factors = [name for name in made if type(sites[name]["fn"]).__name__ == "Unit"]
    assert not factors, "what is told of data is no factor"
    return {name: np.asarray(value[1]) for name, value in made.items()}


def on_pyro(module, inputs, values):
    import torch
    from pyro import poutine

    given = {name: torch.as_tensor(value) for name, value in values.items()}
    trace = poutine.trace(poutine.condition(module.model, given)).get_trace(**inputs)
    trace.compute_log_prob()
    observed = {n: s for n, s in trace.nodes.items() if s["type"] == "sample" and n not in values}
    return {name: site["log_prob"].numpy() for name, site in observed.items()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", CASES)
def test_every_observation_has_a_log_density(name, backend, scheme, x64, torch_double):
    source, data, values, expected = CASES[name]
    module = stanimport.loads(source, backend=backend, scheme=scheme)
    run = on_numpyro if backend == "numpyro" else on_pyro
    made = run(module, module.transformed_data(**data), values)
    for site, wanted in expected().items():
        given = made[site].ravel()
        wanted = wanted[wanted != 0] if given.size < wanted.size else wanted.ravel()  # iterations without a statement
        np.testing.assert_allclose(given, wanted, rtol=1e-12)


def test_a_fit_has_the_log_likelihood_of_every_observation():
    fit = stanimport.sample(
        stanimport.loads(SERIES), DATA, chains=1, iter_warmup=50, iter_sampling=20, seed=1, show_progress=False
    )  # fmt: skip
    likelihood = fit.to_arviz().log_likelihood
    assert likelihood["y"].shape == likelihood["k"].shape == (1, 20, N)
    wanted = stats.poisson(np.exp(carried(lambda h, x: np.tanh(fit.stan_variable("a")[7] * h) + x, X))).logpmf(K)
    np.testing.assert_allclose(likelihood["k"][0, 7], wanted, rtol=1e-9)


@pytest.mark.parametrize("scheme", ["mixed", "generative"])
def test_observations_that_can_not_be_drawn_are_not_left_out(scheme):
    """Without `uncondition` there is nothing to draw, and Predictive gives what else there is."""
    jax, infer = pytest.importorskip("jax"), pytest.importorskip("numpyro.infer")
    handlers = pytest.importorskip("numpyro.handlers")
    text = SERIES.replace("target += poisson_log_lpmf(k[n] | h);", "").replace(
        "real h = 0;", "a ~ normal(0, 1); s ~ exponential(1); real h = 0;")
    module = stanimport.loads(text, scheme=scheme)
    inputs = module.transformed_data(N=N, x=X, y=Y, k=K)
    draws = {"a": np.full(2, A), "s": np.full(2, S)}
    assert "y" not in infer.Predictive(module.model, draws)(jax.random.PRNGKey(0), **inputs)
    with pytest.raises(stanimport.StanError, match="there is no law to draw from"):
        infer.Predictive(handlers.uncondition(module.model), draws)(jax.random.PRNGKey(0), **inputs)
