"""Recurrences with little to do in an iteration are compiled as several at a time; others, which would only make the
program large, one by one: what is inside of branches counts.
"""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stanimport
from stanimport.inference.density.posterior import Posterior

RECURRENCE = """
data { int N; vector[N] y; }
parameters { real a; real<lower=0> s; }
model {
  real m = 0;
  for (n in 1:N) { BODY target += m; }
  target += -s;
}
"""
SMALL = "m = a * m + y[n];"
# the branches are a few operations to whoever doesn't look into them
TERMS = " + ".join(f"inv_logit(a * m + {k}) * exp(-square(m - {k}) / s)" for k in range(12))
LARGE = f"if (y[n] * a > m) m = {TERMS}; else m = a * m;"


def loops(jaxpr):
    """The recurrences in it, however deep inside."""
    for e in jaxpr.eqns:
        if e.primitive.name == "scan":
            yield e
        for p in e.params.values():
            if hasattr(p, "jaxpr"):
                yield from loops(p.jaxpr)


@pytest.mark.parametrize("body, copies", [(SMALL, 4), (LARGE, 1)])
def test_what_an_iteration_does_decides_how_many_are_done_at_a_time(body, copies, x64):
    module = stanimport.loads(RECURRENCE.replace("BODY", body))
    y = np.linspace(-1, 1, 12)
    posterior = Posterior(module, module.transformed_data(N=12, y=y))
    found = list(loops(jax.make_jaxpr(posterior.log_density)(jnp.zeros(2)).jaxpr))
    assert [e.params["unroll"] for e in found] == [copies]
