"""Laws with integers for parameters, from data and as they are written: prior draws, steps of NUTS, guides."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanlib import distribution, registry
from stanlib.distribution import DISTRIBUTIONS

registry.load()
DOMAINS = {"real": "", "positive": "<lower=0>", "nonnegative": "<lower=0>", "unit": "<lower=0, upper=1>"}
BOUNDED = {"uniform": "<lower=three, upper=4>", "pareto": "<lower=three>", "pareto_type_2": "<lower=three>"}
REALS = {"beta_proportion": ("0.5", "four"), "skew_double_exponential": ("three", "4", "0.5")}


def is_prior(record):
    drawn = "rng" in record.methods and not record.circular
    return drawn and record.density == "lpdf" and not record.event_dims and all(record.vectorized)


NAMES = [r.name for r in DISTRIBUTIONS.values() if is_prior(r)]
FEW = ["normal", "gamma", "uniform"]  # JAX compiles every law
CASES = [("pyro", NAMES), ("numpyro", FEW), pytest.param("numpyro", NAMES, marks=pytest.mark.slow)]


def domain(name):
    support = distribution.get(name).support
    return BOUNDED.get(name) or DOMAINS[support]


def laws(names):
    """Every continuous law of numbers as that of a parameter, its own parameters data or written numbers."""
    for name in names:
        count = len(distribution.get(name).argument_names)
        yield name, ", ".join(REALS.get(name, ("three", "4", "five")[:count]))


def program(names):
    declared = "\n".join(f"real{domain(n)} x_{n};" for n in names)
    sampled = "\n".join(f"x_{n} ~ {n}({arguments});" for n, arguments in laws(names))
    return f"""
        data {{ int three; int four; int five; array[2] int several; }}
        parameters {{ {declared} vector[2] x_several; }}
        model {{ {sampled} x_several ~ normal(several, 1); }}
        guide {{ {sampled} x_several ~ normal(several, 4); }}
    """


DATA = {"three": 3, "four": 4, "five": 5, "several": [1, 2]}


def drawn_by(backend, module, inputs):
    """Draws of the model, of the guide, and the state after one step of NUTS."""
    if backend == "pyro":
        return drawn_by_pyro(module, inputs)
    import jax
    from numpyro.handlers import seed, trace
    from numpyro.infer import NUTS

    functions = (module.model, module.guide)
    traces = [trace(seed(f, i)).get_trace(**inputs) for i, f in enumerate(functions)]
    kernel = NUTS(module.model)
    state = kernel.init(jax.random.PRNGKey(0), 1, None, (), inputs)
    yield from ({n: s["value"] for n, s in t.items()} for t in traces)
    yield kernel.postprocess_fn((), inputs)(kernel.sample(state, (), inputs).z)


def drawn_by_pyro(module, inputs):
    import pyro
    from pyro import poutine
    from pyro.infer import MCMC, NUTS

    pyro.set_rng_seed(1)
    for function in (module.model, module.guide):
        nodes = poutine.trace(function).get_trace(**inputs).nodes
        yield {n: s["value"] for n, s in nodes.items() if s["type"] == "sample"}
    mcmc = MCMC(NUTS(module.model, max_tree_depth=2), num_samples=1, warmup_steps=1, disable_progbar=True)
    mcmc.run(**inputs)
    yield mcmc.get_samples()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend, names", CASES)
def test_every_law_draws_with_integers_for_parameters(backend, names, x64, torch_double):
    module = stanimport.loads(program(names), backend=backend, scheme="mixed", name="integers")
    assert "parameter" not in module.model.function.__code__.co_names  # every law became a prior
    inputs = module.transformed_data(**DATA)
    for values in drawn_by(backend, module, inputs):
        for name in (*names, "several"):
            value = np.asarray(values[f"x_{name}"])
            assert value.dtype == np.float64 and np.isfinite(value).all(), name
