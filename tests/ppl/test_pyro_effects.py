"""Pyro's reparametrisations and guides that are effects take the laws of programs as they take Pyro's own."""
from __future__ import annotations

import pyro
import pytest
import torch
from pyro.infer import SVI, Trace_ELBO, reparam
from pyro.infer.autoguide import AutoHierarchicalNormalMessenger, AutoNormalMessenger, AutoRegressiveMessenger
from pyro.optim import Adam
from scipy import stats

import stanimport

HIERARCHY = """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> tau; vector[3] theta; simplex[3] p; }
model {
  mu ~ normal(1, 2);
  tau ~ gamma(3, 2);
  theta ~ normal(mu, tau);
  p ~ dirichlet(rep_vector(2, 3));
  y ~ normal(theta[1], 1.5);
}
"""


@pytest.fixture
def model(torch_double):
    pyro.clear_param_store()
    pyro.set_rng_seed(1)
    module = stanimport.loads(HIERARCHY, backend="pyro")
    inputs = module.transformed_data(N=2, y=[1.0, 2.5])
    return lambda: module.model(**inputs)


@pytest.mark.parametrize("site, loc, scale", [
    ("mu", lambda v: 1, lambda v: 2), ("theta", lambda v: v["mu"], lambda v: v["tau"]),
])  # fmt: skip
@pytest.mark.parametrize("centred", [0.0, 0.5])
def test_locations_and_scales(model, site, loc, scale, centred):
    changed = pyro.poutine.reparam(model, config={site: reparam.LocScaleReparam(centred)})
    trace = pyro.poutine.trace(changed).get_trace()
    v = {n: s["value"] for n, s in trace.nodes.items() if s["type"] == "sample"}
    a, b, free = torch.as_tensor(loc(v)), torch.as_tensor(scale(v)), v[f"{site}_decentered"]
    torch.testing.assert_close(v[site], a + b ** (1 - centred) * (free - centred * a))
    trace.compute_log_prob()
    expected = stats.norm.logpdf(free, centred * a, b**centred).sum()
    assert float(trace.nodes[f"{site}_decentered"]["log_prob_sum"]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [AutoNormalMessenger, AutoHierarchicalNormalMessenger, AutoRegressiveMessenger])
def test_guides_that_are_effects(model, kind):
    guide = kind(model)
    svi = SVI(model, guide, Adam({"lr": 0.03}), Trace_ELBO())
    losses = [svi.step() for _ in range(60)]
    assert sum(losses[-15:]) < sum(losses[:15])
    with torch.no_grad():
        drawn = guide()
    assert drawn["p"].sum() == pytest.approx(1) and drawn["tau"] > 0 and drawn["theta"].shape == (3,)
