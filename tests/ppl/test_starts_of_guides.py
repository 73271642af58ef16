"""Where Pyro's automatic guides begin: at values of the domain, also of types whose transform has none for zeros."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport

AT = np.array([0.6, 0.0, -0.8])


def program(declared):
    return stanimport.loads(f"parameters {{ {declared} real a; }} model {{ a ~ normal(0, 1); }}", backend="pyro")


@pytest.mark.parametrize("declared", ["unit_vector[3] u;", "array[2] unit_vector[2] u;"])
@pytest.mark.parametrize("guide", ["AutoNormal", "AutoMultivariateNormal", "AutoDelta"])
def test_guides_begin_at_unit_vectors(declared, guide):
    pyro, infer = pytest.importorskip("pyro"), pytest.importorskip("pyro.infer")
    pyro.clear_param_store()
    pyro.set_rng_seed(1)
    model = program(declared).model
    made = getattr(infer.autoguide, guide)(model)
    svi = infer.SVI(model, made, pyro.optim.Adam({"lr": 0.02}), infer.Trace_ELBO())
    assert np.isfinite([svi.step() for _ in range(20)]).all()
    value = made()["u"].detach().numpy()
    np.testing.assert_allclose((value**2).sum(axis=-1), 1, rtol=1e-5)


def test_only_zeros_get_another_direction():
    """What pyro.param stores of a unit vector some of whose components are 0 is that vector."""
    torch, pyro = pytest.importorskip("torch"), pytest.importorskip("pyro")
    trace = pyro.poutine.trace(program("unit_vector[3] u;").model).get_trace()
    support = trace.nodes["u"]["fn"].support
    feasible, domain = (registry(support) for registry in (
        torch.distributions.transform_to, torch.distributions.biject_to))  # fmt: skip
    for transform in (feasible, domain):
        np.testing.assert_allclose(transform(transform.inv(torch.tensor(AT))), AT)
    np.testing.assert_allclose(feasible(torch.zeros(3)), np.full(3, 3**-0.5), rtol=1e-6)
    assert torch.isnan(domain(torch.zeros(3))).all()
