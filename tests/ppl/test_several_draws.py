"""Pyro's vectorised particles and parallel predictions: draws of a program at once are those that are made in turn."""
from __future__ import annotations

import math
import threading

import numpy as np
import pyro
import pytest
import torch
from pyro import poutine
from pyro.infer import SVI, EnergyDistance, JitTrace_ELBO, Predictive, Trace_ELBO, autoguide
from pyro.optim import Adam

import stanimport

PLAIN = """
    data { int N; vector[N] y; }
    parameters { vector[2] b; real<lower=0> s; real<lower=s> t; }
    model {
      b ~ normal(0, 2);
      s ~ exponential(1);
      t ~ normal(1, 3);
      y ~ normal(sum(b) + t, s);
      target += -square(b[1]);
    }
"""
BRANCHES = """
    parameters { real c; real m; }
    model {
      c ~ normal(0, 1);
      if (c > 0) m ~ normal(5, 1); else m ~ normal(-5, 2);
    }
    guide parameters { real u; real v; }
    guide { c ~ normal(0, 1); if (c > 0) m ~ normal(u, 1); else m ~ normal(v, 2); }
"""
REJECTS = """
    data { int N; vector[N] y; }
    parameters { real a; }
    model { a ~ normal(0, 1); if (a > 0) reject("not ", a); y ~ normal(a, 1); }
"""
LOOPS = """
    data { int N; int K; matrix[N, K] y; array[N] int<lower=0> n; }
    parameters { vector[K] m; real<lower=0, upper=1> p; simplex[3] w; }
    model {
      m ~ std_normal();
      w ~ dirichlet([1.0, 2.0, 3.0]');
      for (i in 1:N) { for (k in 1:K) y[i, k] ~ normal(m[k], 1 + w[1]); n[i] ~ poisson(p * 3); }
    }
"""
DATA = {"N": 3, "y": [1.0, 2.5, -1.0]}
TABLE = {"N": 3, "K": 2, "y": [[0.1, 0.2], [1.0, -0.5], [2.0, 0.0]], "n": [0, 2, 1]}


@pytest.fixture(autouse=True)
def fresh(torch_double):
    pyro.clear_param_store()
    pyro.set_rng_seed(1)
    others = set(threading.enumerate())
    yield
    assert not set(threading.enumerate()) - others  # none of a run is left


def densities(model, values, **inputs):
    """The log density of each of several values of the parameters, at once and in turn."""
    count = len(next(iter(values.values())))
    nesting = 3
    wide = {n: v.reshape(count, *(1,) * nesting, *v.shape[1:]) for n, v in values.items()}
    with pyro.plate("num_particles_vectorized", count, dim=-nesting - 1):
        trace = poutine.trace(poutine.condition(model, data=wide)).get_trace(**inputs)
    trace.compute_log_prob()
    terms = [s["log_prob"].reshape(count, -1).sum(1) for s in trace.nodes.values() if s["type"] == "sample"]
    each = [poutine.condition(model, data={n: v[i] for n, v in values.items()}) for i in range(count)]
    in_turn = [torch.as_tensor(poutine.trace(one).get_trace(**inputs).log_prob_sum()) for one in each]
    return sum(terms), torch.stack(in_turn)


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
@pytest.mark.parametrize("source, data, values", [
    (PLAIN, DATA, {"b": (4, 2), "s": (4,), "t": (4,)}), (BRANCHES, {}, {"c": (4,), "m": (4,)}),
    (REJECTS, DATA, {"a": (4,)}), (LOOPS, TABLE, {"m": (4, 2), "p": (4,), "w": (4, 3)}),
])  # fmt: skip
def test_densities(source, data, values, scheme):
    module = stanimport.loads(source, backend="pyro", scheme=scheme)
    drawn = {n: torch.linspace(-1.2, 1.5, math.prod(shape)).reshape(shape) for n, shape in values.items()}
    if "s" in drawn:
        drawn["s"] = drawn["s"].exp()
        drawn["t"] = drawn["s"] + drawn["t"].exp()
    if "p" in drawn:
        drawn["p"], drawn["w"] = drawn["p"].sigmoid(), drawn["w"].softmax(-1)
    at_once, in_turn = densities(module.model, drawn, **module.transformed_data(**data))
    torch.testing.assert_close(at_once, in_turn, rtol=1e-12, atol=0)
    assert in_turn.isfinite().any() and (source is not REJECTS or not in_turn.isfinite().all())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("guide", [autoguide.AutoNormal, autoguide.AutoMultivariateNormal])
def test_steps_of_automatic_guides(guide):
    module = stanimport.loads(PLAIN, backend="pyro")
    inputs = module.transformed_data(**DATA)
    made = guide(module.model)
    made(**inputs)
    losses = [Trace_ELBO(num_particles=80, vectorize_particles=v).loss(module.model, made, **inputs) for v in (0, 1)]
    assert losses[0] == pytest.approx(losses[1], rel=0.4)
    svi = SVI(module.model, made, Adam({"lr": 0.05}), Trace_ELBO(num_particles=4, vectorize_particles=True))
    steps = [svi.step(**inputs) for _ in range(30)]
    assert np.mean(steps[-10:]) < np.mean(steps[:10])


def test_gradients_of_a_guide_of_the_program():
    module = stanimport.loads(BRANCHES, backend="pyro")
    found = []
    for vectorized in (False, True):
        pyro.clear_param_store()
        pyro.get_param_store().setdefault("u", torch.tensor(0.5))
        pyro.get_param_store().setdefault("v", torch.tensor(-0.5))
        pyro.set_rng_seed(7)
        elbo = Trace_ELBO(num_particles=150, vectorize_particles=vectorized)
        elbo.loss_and_grads(module.model, module.guide)
        found.append([pyro.param(n).grad.item() for n in ("u", "v")])
    for gradient in found:  # of (u - 5)^2 / 2 and (v + 5)^2 / 8 in half of the cases
        np.testing.assert_allclose(gradient, [0.5 * (0.5 - 5), 0.5 * (-0.5 + 5) / 4], atol=0.7)


@pytest.mark.parametrize("shape", [(5, 2), (5, 1, 2)])
def test_predictions(shape):
    source = """
        data { int N; vector[N] x; }
        parameters { vector[2] b; real<lower=0> s; }
        transformed parameters { vector[N] m = b[1] + b[2] * x; }
        model { b ~ normal(0, 2); s ~ exponential(1); }
    """
    module = stanimport.loads(source, backend="pyro")
    inputs, b = module.transformed_data(N=3, x=[1.0, 2.0, 4.0]), torch.randn(5, 2)
    draws = {"b": b.reshape(shape)} if shape != (5, 2) else {"b": b}
    drawn = Predictive(module.model, draws, parallel=True)(**inputs)
    assert drawn["s"].unique().numel() == 5 and (drawn["s"] > 0).all()
    expected = b[:, :1] + b[:, 1:] * torch.tensor([1.0, 2.0, 4.0])
    torch.testing.assert_close(drawn["m"].reshape(5, 3), expected)


@pytest.mark.parametrize("law", ["y ~ normal(m, 1e-9)", "for (n in 1:N) y[n] ~ normal(m, 1e-9)"])
def test_the_energy_distance_of_replications_without_noise_is_that_of_their_mean(law):
    source = f"""
        data {{ int N; vector[N] y; }}
        parameters {{ real m; }}
        model {{ m ~ normal(0, 1); {law}; }}
        guide parameters {{ real u = 0.5; }}
        guide {{ m ~ normal(u, 1e-9); }}
    """
    module = stanimport.loads(source, backend="pyro")
    inputs = module.transformed_data(**DATA)
    svi = SVI(module.model, module.guide, Adam({"lr": 0.01}), EnergyDistance(num_particles=3))
    assert svi.evaluate_loss(**inputs) == pytest.approx(math.dist(DATA["y"], [0.5] * 3), rel=1e-6)


def test_networks_are_registered_once():
    source = """
        networks { vector net(vector x); }
        data { int N; vector[N] x; vector[N] y; }
        parameters { real<lower=0> s; }
        model { s ~ exponential(1); y ~ normal(net(x), s); }
      """
    module = stanimport.loads(source, backend="pyro")
    net = torch.nn.Linear(3, 3).double()
    inputs = module.transformed_data(N=3, x=[1.0, 2.0, 4.0], y=[0.0, 1.0, 0.5]) | {"net": net}
    elbo = Trace_ELBO(num_particles=4, vectorize_particles=True)
    guide = autoguide.AutoNormal(module.model)
    guide(**inputs)
    svi = SVI(module.model, guide, Adam({"lr": 0.02}), elbo)
    losses = [svi.step(**inputs) for _ in range(40)]
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    assert {"net$$$weight", "net$$$bias"} <= pyro.get_param_store().keys()


def test_minibatches_are_scaled():
    source = "data { int N; vector[N] y; } parameters { real m; } model { m ~ normal(0, 1); y ~ normal(m, 1); }"
    model = stanimport.loads(source, backend="pyro").model.minibatch(N=30)
    at_once, in_turn = densities(model, {"m": torch.randn(4)}, **DATA)
    torch.testing.assert_close(at_once, in_turn, rtol=1e-12, atol=0)
    assert math.isfinite(float(in_turn.sum()))


def test_what_cannot_run_at_once_says_why():
    apart = """parameters { real a; real b; real c; } model { a ~ normal(0, 1); b ~ normal(0, 1); c ~ normal(0, 1); }
        guide {
          a ~ normal(0, 1);
          if (a > 0) { b ~ normal(0, 1); c ~ normal(b, 1); } else { c ~ normal(1, 1); b ~ normal(c, 1); }
        }"""
    module = stanimport.loads(apart, backend="pyro")
    elbo = Trace_ELBO(num_particles=30, vectorize_particles=True)
    with pytest.raises(stanimport.StanError, match="decide when a draw comes to b and c.*vectorize_particles=True"):
        elbo.loss(module.model, module.guide)
    module = stanimport.loads(PLAIN, backend="pyro")
    inputs = module.transformed_data(**DATA)
    with pyro.plate("studies", 3), pytest.raises(stanimport.StanError, match="one draw at a time.*studies"):
        module.model(**inputs)
    module = stanimport.loads(
        "data { int N; vector[N] y; } parameters { real m; } model { y ~ normal(m, 1); }", backend="pyro"
    )
    with pytest.raises(stanimport.StanError, match="axes of observations.*max_plate_nesting=1"):
        elbo = Trace_ELBO(num_particles=2, vectorize_particles=True, max_plate_nesting=0)
        guide = autoguide.AutoDelta(module.model)
        guide(**inputs)
        elbo.loss(module.model, guide, **inputs)
    with pytest.raises(stanimport.StanError, match="JitTrace_ELBO"):
        model = lambda: module.model(**inputs)
        JitTrace_ELBO(num_particles=2, vectorize_particles=True, max_plate_nesting=1).loss_and_grads(
            model, autoguide.AutoNormal(model)
        )
    with pytest.raises(stanimport.StanError, match="at most 4096 draws"):
        Predictive(module.model, num_samples=5000, parallel=True)(**inputs)


def test_an_error_of_one_draw_is_that_of_the_run():
    source = 'data { int N; } parameters { real a; } model { a ~ normal(0, 1); if (N > 1) reject("high"); }'
    module = stanimport.loads(source, backend="pyro")
    with pytest.raises(stanimport.StanError, match="high"), pyro.plate("num_particles_vectorized", 9, dim=-1):
        module.model(N=2)
