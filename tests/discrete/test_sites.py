"""Discrete parameters as sites of the scheme simulation, and among the draws that generated quantities are given."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport

PROGRAM = """data { int N; vector[N] y; }
parameters { real m; real<lower=0, upper=1> p; int<lower=0, upper=1> k; array[N] int<lower=0, upper=1> z; }
transformed parameters { real shift = k ? 100 : -100; }
model { m ~ normal(0, 1); p ~ beta(2, 2); k ~ bernoulli(0.5); z ~ bernoulli(k ? p : 1 - p);
  for (n in 1:N) y[n] ~ normal(m + shift * z[n], 1); }
generated quantities { int total = sum(z) + 10 * k; vector[N] centre = m + shift * to_vector(z); }
"""
N = 4
DATA = {"N": N, "y": np.zeros(N)}
Z = np.array([1, 0, 0, 1])
CONTINUOUS = {"m": 0.0, "p": 0.9}


def numpyro_trace(given, seed=0, text=PROGRAM):
    from numpyro import handlers

    model = handlers.condition(stanimport.loads(text, scheme="simulation").model, data={**CONTINUOUS, **given})
    return handlers.trace(handlers.seed(model, seed)).get_trace(**DATA)


def pyro_trace(given, seed=0):
    pyro = pytest.importorskip("pyro", reason="the pyro extra is not installed")
    import torch

    pyro.set_rng_seed(seed)
    model = stanimport.loads(PROGRAM, scheme="simulation", backend="pyro").model
    values = {n: torch.as_tensor(v) for n, v in {**CONTINUOUS, **given}.items()}
    return pyro.poutine.trace(pyro.poutine.condition(model, data=values)).get_trace(**DATA).nodes


@pytest.mark.sampled(4)
@pytest.mark.parametrize("trace", [numpyro_trace, pyro_trace])
@pytest.mark.parametrize("k", [0, 1])
def test_data_have_their_law_given_the_values_at_the_sites(trace, k, x64):
    found = trace({"k": k, "z": Z})
    np.testing.assert_array_equal(found["z"]["value"], Z)
    mean = (100 if k else -100) * Z
    expected = stats.norm(mean, 1).logpdf(0.0)
    np.testing.assert_allclose(found["y"]["fn"].log_prob(found["y"]["value"]), expected, rtol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("trace", [numpyro_trace, pyro_trace])
def test_what_is_not_given_goes_with_what_is(trace):
    for seed in range(10):
        found = trace({"z": Z}, seed)
        assert found["shift"]["value"] == (100 if found["k"]["value"] else -100)
    drawn = [np.asarray(trace({"k": 1}, seed)["z"]["value"]) for seed in range(50)]
    assert 0.8 < np.mean(drawn) < 0.98  # 200 draws of a probability of 0.9


def test_predictive_replicates_given_draws(x64):
    import jax
    from numpyro import handlers
    from numpyro.infer import Predictive

    rng = np.random.default_rng(3)
    draws = {"m": np.zeros(50), "p": np.full(50, 0.5), "k": rng.integers(0, 2, 50), "z": rng.integers(0, 2, (50, N))}
    model = handlers.uncondition(stanimport.loads(PROGRAM, scheme="simulation").model)
    y = Predictive(model, draws)(jax.random.PRNGKey(0), **DATA)["y"]
    assert np.abs(y - np.where(draws["k"], 100, -100)[:, None] * draws["z"]).max() < 6


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_no_density_is_mistaken_for_the_programs(backend):
    pytest.importorskip(backend, reason="the backend is not installed")
    model = stanimport.loads(PROGRAM, scheme="simulation", backend=backend).model
    if backend == "numpyro":
        import jax
        from numpyro.infer import MCMC, NUTS

        with pytest.raises(RuntimeError, match="discrete sites"):
            MCMC(NUTS(model), num_warmup=1, num_samples=1, progress_bar=False).run(jax.random.PRNGKey(0), **DATA)
    else:
        from pyro.infer import MCMC as PyroMCMC
        from pyro.infer import NUTS as PyroNUTS

        with pytest.raises(Exception, match="discrete sample site"):
            PyroMCMC(PyroNUTS(model), num_samples=1, warmup_steps=1, disable_progbar=True).run(**DATA)


@pytest.mark.parametrize(
    "given, message",
    [({"z": Z[:3]}, r"sizes \(4,\)"), ({"z": Z + 1}, r"z\[1\] is 2, but must be an int from 0 to 1"),
     ({"k": 0.5}, "k is 0.5, but must be an int from 0 to 1")],
)  # fmt: skip
def test_values_that_they_cannot_have(given, message):
    with pytest.raises(stanimport.StanDataError, match=message):
        numpyro_trace(given)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("scheme", ["mixed", "simulation"])
def test_generated_quantities_of_a_draw_that_has_them(backend, scheme):
    pytest.importorskip(backend, reason="the backend is not installed")
    module = stanimport.loads(PROGRAM, scheme=scheme, backend=backend)
    found = module.generated_quantities(**DATA, **CONTINUOUS, k=1, z=Z)
    assert int(found["total"]) == 12
    np.testing.assert_array_equal(found["z"], Z)
    np.testing.assert_allclose(found["centre"], 100 * Z)


@pytest.mark.slow
def test_generated_quantities_draw_the_others_given_them():
    from numpyro import handlers

    module = stanimport.loads(PROGRAM.replace("? 100 : -100", "? 0.5 : -0.5"))
    count, ones, z = 400, 0, np.array([1, 1, 0, 1])
    for seed in range(count):
        found = handlers.seed(module.generated_quantities, seed)(**DATA, m=0.0, p=0.7, z=z)
        ones += int(found["k"])
    by_k = [stats.bernoulli(p).pmf(z).prod() * stats.norm(s * z, 1).pdf(0).prod() for p, s in ((0.3, -0.5), (0.7, 0.5))]
    expected = by_k[1] / sum(by_k)
    assert abs(ones / count - expected) < 5 * np.sqrt(expected * (1 - expected) / count)
