"""What Pyro draws of parameters that no law of the program is for: starting points, which are no predictions."""
from __future__ import annotations

import math

import pytest

import stanimport

SOURCE = """
    data { vector[2] y; }
    parameters { real m; %s s; }
    model { m ~ normal(0, 10); y ~ normal(m, 1 + s^2); }
"""
Y, FLAT = [1.0, 3.0], [("comprehensive", "real"), ("mixed", "real"), ("mixed", "vector<lower=0>[2]")]


def program(scheme, kind, backend="pyro"):
    source = SOURCE % kind if kind == "real" else (SOURCE % kind).replace("s^2", "sum(s)")
    module = stanimport.loads(source, backend=backend, scheme=scheme)
    return module.model, module.transformed_data(y=Y)


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("scheme, kind", FLAT)
def test_they_are_not_predicted(scheme, kind, parallel, torch_double):
    from pyro.infer import Predictive

    torch = torch_double
    (model, data), given = program(scheme, kind), {"m": torch.zeros(4)}
    for samples in ({}, given):
        with pytest.raises(stanimport.StanError, match=r"^[ms] can't be predicted: .* no law of it"):
            Predictive(model, samples, num_samples=4, parallel=parallel)(**data)
    whole = given | {"s": torch.ones(4) if kind == "real" else torch.ones(4, 2)}
    drawn = Predictive(model, whole, parallel=parallel)(**data | {"y": None})
    assert drawn["y"].shape == (4, 2) and drawn["y"].unique().numel() == 8


def test_predictions_of_a_guide(torch_double):
    from pyro.infer import Predictive
    from pyro.infer.autoguide import AutoNormal

    model, data = program("comprehensive", "real")
    guide = AutoNormal(model)
    guide(**data)
    drawn = Predictive(model, guide=guide, num_samples=5)(**data | {"y": None})
    assert drawn["y"].shape == (5, 2)


@pytest.mark.parametrize("scheme, kind", FLAT)
def test_weights_of_them_are_warned_of(scheme, kind, torch_double):
    from pyro.infer import Importance

    model, data = program(scheme, kind)
    with pytest.warns(UserWarning, match="weights of draws of [ms].*Importance.*no law of it"):
        Importance(model, num_samples=2).run(**data)


@pytest.mark.filterwarnings("error::UserWarning")
def test_samplers_and_laws_are_not(torch_double):
    """Samplers start from them, and where priors are laws draws have weights, by which the mean is the posterior's."""
    import pyro
    from pyro.infer import Importance
    from pyro.infer.autoguide import AutoDelta
    from pyro.infer.mcmc.util import initialize_model

    model, data = program("comprehensive", "real")
    initialize_model(model, model_kwargs=data)
    AutoDelta(model)(**data)
    pyro.set_rng_seed(1)
    source = "data { vector[2] y; } parameters { real m; } model { m ~ normal(0, 2); y ~ normal(m, 2); }"
    proper = stanimport.loads(source, backend="pyro")
    mean = pyro.infer.EmpiricalMarginal(Importance(proper.model, num_samples=600).run(y=Y), sites="m").mean
    assert float(mean) == pytest.approx((4 / 4) / (1 / 4 + 2 / 4), abs=0.25)


def normal_guide(*names):
    """One of all or some parameters, which takes what CSIS and the sleep phase observe beside the data."""
    import pyro

    def guide(y, observations=None):
        for name in names:
            pyro.sample(name, pyro.distributions.Normal(pyro.param(f"{name}_mean", y.new_tensor(0.5)), 1.0))

    return guide


def step(loss, model, data, *names):
    import pyro

    pyro.clear_param_store()
    guide, optimizer = normal_guide(*names), pyro.optim.Adam({"lr": 0.01})
    if loss == "CSIS":
        return pyro.infer.csis.CSIS(model, guide, optimizer).step(**data)
    return pyro.infer.SVI(model, guide, optimizer, loss).step(**data)


@pytest.mark.parametrize("insomnia", [0.0, 0.5, None])
def test_nothing_is_learnt_from_them(insomnia, torch_double):
    from pyro.infer import ReweightedWakeSleep

    model, data = program("mixed", "real")
    loss = "CSIS" if insomnia is None else ReweightedWakeSleep(insomnia=insomnia)
    data = {"y": torch_double.tensor(Y)}
    with pytest.raises(stanimport.StanError, match="^s can't be drawn with the data.*no law of it"):
        step(loss, model, data, "m", "s")


@pytest.mark.parametrize("elbo", ["Trace_ELBO", "RenyiELBO", "ReweightedWakeSleep"])
@pytest.mark.parametrize("is_vectorized", [False, True])
def test_weights_of_a_guide_that_leaves_them_out_are_warned_of(elbo, is_vectorized, torch_double):
    import pyro.infer

    model, _ = program("mixed", "real")
    loss = getattr(pyro.infer, elbo)(num_particles=2, vectorize_particles=is_vectorized, max_plate_nesting=1)
    with pytest.warns(UserWarning, match="weights of draws of s.*no law of it"):
        step(loss, model, {"y": torch_double.tensor(Y)}, "m")


def test_densities_alone_are_not_drawn(torch_double):
    """As on NumPyro: the observations of a mixture, say, would be left out without a word."""
    from pyro.infer import Predictive
    from pyro.poutine import uncondition

    source = """
        data { vector[2] y; } parameters { real m; }
        model { m ~ normal(0, 1); real h = 0; for (n in 1:2) { h = m * h + 1; y[n] ~ normal(h, 1); } }"""
    model = stanimport.loads(source, backend="pyro").model
    with pytest.raises(stanimport.StanError, match="^y can't be drawn: only its density is known"):
        Predictive(uncondition(model), {"m": torch_double.zeros(3)})(y=Y)
    with pytest.raises(stanimport.StanError, match="^y can't be drawn: only its density is known"):
        step("CSIS", model, {"y": torch_double.tensor(Y)}, "m")


@pytest.mark.slow
def test_sleep_phase_of_several_draws_at_once(torch_double):
    """As ReweightedWakeSleep draws without being told: what the guide thinks of draws of m from its law."""
    import pyro
    from pyro.infer import ReweightedWakeSleep

    pyro.set_rng_seed(1)
    source = "data { vector[2] y; } parameters { real m; } model { m ~ normal(0, 2); y ~ normal(m, 2); }"
    model = stanimport.loads(source, backend="pyro").model
    loss = ReweightedWakeSleep(num_particles=2, num_sleep_particles=1500, insomnia=0.0, max_plate_nesting=2)
    expected = math.log(2 * math.pi) / 2 + (4 + 0.25) / 2
    assert step(loss, model, {"y": torch_double.tensor(Y)}, "m")[1] == pytest.approx(expected, abs=0.3)


@pytest.mark.parametrize("guide, told", [("Regressive", "no law whose draws"), ("HierarchicalNormal", "no mean")])
def test_guides_that_take_the_laws_of_the_model(guide, told, torch_double):
    import pyro
    from pyro.infer import SVI, Trace_ELBO, autoguide

    model, data = program("mixed", "real")
    made = getattr(autoguide, f"Auto{guide}Messenger")(model)
    with pytest.raises(stanimport.StanError, match=f"^s has {told}.*no law of it"):
        SVI(model, made, pyro.optim.Adam({"lr": 0.01}), Trace_ELBO()).step(**data)
