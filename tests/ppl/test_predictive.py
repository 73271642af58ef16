"""What Predictive of the backends returns: quantities, and nothing of what only adds to the log density."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport

SOURCE = """
    data { int N; array[N] int y; }
    parameters { real<lower=0> a; real b; }
    transformed parameters { real c = a + b; }
    model {
      a ~ gamma(2, 1);
      a ~ cauchy(0, 1);
      b ~ normal(0, 1);
      target += -square(b);
      for (n in 1:N) if (y[n] > b) target += poisson_lpmf(y[n] | a);
      if (a > 100) reject("far away");
    }
"""
DATA = {"N": 3, "y": [1, 4, 2]}


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_factors_are_no_quantities_on_numpyro(scheme, x64):
    import jax
    from numpyro.infer import Predictive, log_likelihood

    module = stanimport.loads(SOURCE, scheme=scheme)
    draws, inputs = {"a": np.array([0.5, 2.0]), "b": np.array([0.1, 0.2])}, module.transformed_data(**DATA)
    assert set(Predictive(module.model, draws)(jax.random.PRNGKey(0), **inputs)) == {"c"}
    assert "y" in log_likelihood(module.model, draws, **inputs)  # there the densities are what is asked for


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_factors_are_no_quantities_on_pyro(scheme, torch_double):
    from pyro.infer import Predictive

    torch = torch_double
    module = stanimport.loads(SOURCE, backend="pyro", scheme=scheme)
    draws = {"a": torch.tensor([0.5, 2.0]), "b": torch.tensor([0.1, 0.2])}
    assert set(Predictive(module.model, draws)(**module.transformed_data(**DATA))) == {"c"}


def test_jitted_bounds_are_those_that_are_not(torch_double):
    """Pyro's compiler hashes keyword arguments: the data are bound."""
    from functools import partial

    import pyro
    from pyro.infer import JitTrace_ELBO, Trace_ELBO
    from pyro.infer.autoguide import AutoNormal

    source = """
        data { int N; vector[N] y; } parameters { real m; real<lower=0> s; }
        model { m ~ normal(0, 1); s ~ exponential(1); y ~ normal(m, s); }
    """
    module = stanimport.loads(source, backend="pyro")
    model = partial(module.model, **module.transformed_data(N=3, y=[1.0, 2.5, -1.0]))
    found = []
    for bound in (Trace_ELBO(), JitTrace_ELBO(ignore_jit_warnings=True)):
        pyro.clear_param_store()
        pyro.set_rng_seed(1)
        guide = AutoNormal(model)
        guide()
        bound.loss_and_grads(model, guide)  # the first one compiles
        pyro.set_rng_seed(2)
        found.append(bound.loss_and_grads(model, guide))
    assert found[0] == pytest.approx(found[1], rel=1e-9)
