"""Parameters that a density does not depend on, at all or at a point: Pyro differentiates by them all the same."""
from __future__ import annotations

import pytest

import stanimport

PROGRAMS = {
    "never": ("real u; real<lower=0> s;", "s ~ exponential(1);", 0.0),
    "here not": ("real u; real<lower=0> s;", "s ~ exponential(1); if (s > 100) u ~ normal(0, 1);", 0.0),
    "none": ("real u;", "if (u > 100) target += -u;", 0.0),
    "here": ("real u; real<lower=0> s;", "if (s > 0) target += -square(u);", 0.6),
}


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_their_derivative_is_zero(name, scheme, torch_double):
    from pyro.infer.mcmc.util import initialize_model
    from pyro.ops.integrator import potential_grad

    declared, statements, slope = PROGRAMS[name]
    source = f"parameters {{ {declared} }} model {{ {statements} }}"
    start, potential, _, _ = initialize_model(stanimport.loads(source, backend="pyro", scheme=scheme).model)
    slopes, _ = potential_grad(potential, {k: torch_double.full_like(v, 0.3) for k, v in start.items()})
    assert float(slopes["u"]) == pytest.approx(slope, abs=1e-12)
