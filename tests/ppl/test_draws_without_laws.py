"""What Pyro draws of parameters that no law of the program is for: starting points, which are no predictions."""
from __future__ import annotations

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
