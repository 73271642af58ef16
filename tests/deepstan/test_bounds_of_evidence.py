"""The bounds of evidence of both backends on a program and its guide: all are the same where nothing is enumerated."""
from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import stanimport

PROGRAM = """
    data { int N; vector[N] y; }
    parameters { real a; real<lower=0> s; }
    model { a ~ normal(0, 1); s ~ exponential(1); y ~ normal(a, s); }
    guide parameters { real m = 0.3; real<lower=0> w = 1; }
    guide { a ~ normal(m, w); s ~ lognormal(0, 1); }
"""
DATA = {"N": 2, "y": [1.0, 0.5]}


def test_pyros_bounds_agree(torch_double):
    import pyro
    from pyro import infer

    module = stanimport.loads(PROGRAM, backend="pyro")
    inputs, losses = module.transformed_data(**DATA), []
    for bound in (infer.Trace_ELBO(), infer.TraceGraph_ELBO(), infer.TraceEnum_ELBO(max_plate_nesting=1)):
        pyro.clear_param_store()
        pyro.set_rng_seed(1)
        losses.append(bound.loss(module.model, module.guide, **inputs))
    np.testing.assert_allclose(losses[1:], losses[0], rtol=1e-12)


def numpyro_loss(bound):
    import jax
    from numpyro import infer, optim

    module = stanimport.loads(PROGRAM)
    svi = infer.SVI(module.model, module.guide, optim.Adam(0.01), getattr(infer, bound)())
    inputs = module.transformed_data(**DATA)
    return float(svi.evaluate(svi.init(jax.random.PRNGKey(0), **inputs), **inputs))


def test_numpyros_bounds_agree(x64):
    np.testing.assert_allclose(numpyro_loss("TraceGraph_ELBO"), numpyro_loss("Trace_ELBO"), rtol=1e-12)


def test_enumeration_on_numpyro_needs_funsor(x64):
    if importlib.util.find_spec("funsor") is None:
        with pytest.raises(ModuleNotFoundError, match="funsor"):
            numpyro_loss("TraceEnum_ELBO")
    else:
        np.testing.assert_allclose(numpyro_loss("TraceEnum_ELBO"), numpyro_loss("Trace_ELBO"), rtol=1e-12)
