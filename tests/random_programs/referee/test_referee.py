"""The referee: Stan's outcome is the closed form, and ours is Stan's at the same unconstrained points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from .ours import outcomes
from .outcome import Outcome, differences
from .stan import Refused, Stan, Unsupported

ORDERED = """parameters { real<lower=0> s; matrix[2, 3] m; array[2] matrix[2, 2] a; simplex[3] p; vector[2] v; }
transformed parameters { real q = m[2, 1] * s; }
model {
  target += normal_lpdf(m[1, 2] | m[2, 3], s) + 3 * a[1, 2, 1] - a[2, 1, 2] * p[2];
  v ~ normal(0, s);
}"""


def test_stans_density_is_the_closed_form():
    stan = Stan("data { real y; } parameters { real m; real<lower=0> s; } model { target += normal_lpdf(y | m, s); }",
                {"y": 0.4})  # fmt: skip
    found = stan.at(np.array([0.3, -0.2]))
    assert found.log_density == pytest.approx(stats.norm.logpdf(0.4, 0.3, np.exp(-0.2)) - 0.2)
    assert found.values == pytest.approx({"m": 0.3, "s": np.exp(-0.2)})


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
def test_parameters_are_in_stans_order(backend, scheme):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    stan = Stan(ORDERED, {})
    points = [np.linspace(-1, 1, stan.size) ** 3, np.cos(np.arange(stan.size))]
    assert differences(outcomes(ORDERED, {}, points, backend, scheme), [stan.at(p) for p in points]) == []


def test_differences_are_told():
    same = [Outcome(1.0, np.array([2.0]), {"x": 3.0}), Outcome(2.0, np.array([1.0]), {"x": 3.0})]
    shifted = [Outcome(o.log_density + 5, o.gradient, o.values) for o in same]
    assert differences(shifted, same) == []
    assert "log density" in differences([shifted[0], same[1]], same)[0]
    assert "gradient" in differences([Outcome(1.0, np.array([2.1]), {"x": 3.0}), same[1]], same)[0]
    assert "value of x" in differences([Outcome(1.0, np.array([2.0]), {"x": 3.1}), same[1]], same)[0]
    assert "raised" in differences([Outcome(rejected="no")] * 2, same)[0]


def test_what_stanc_refuses_and_what_stanli_cannot_run():
    with pytest.raises(Refused):
        Stan("parameters { real x; } model { y ~ normal(0, 1); }", {})
    with pytest.raises(Unsupported):
        Stan("parameters { tuple(real, real) t; } model { }", {})
