"""The referee: Stan's outcome is the closed form, and ours is Stan's at the same unconstrained points."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy import stats

from .interpreted import evaluate
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


def test_interpreted_as_xla_compiles():
    """Loops, branches and indices that parameters decide, factorizations, sorting."""
    text = """data { int N; array[N] int at; vector[N] y; }
      parameters { vector[N] v; matrix[2, N] m; simplex[3] p; }
      transformed parameters {
        vector[N] w = sort_asc(v)[at] + y;
        for (n in 2:N) { if (w[n] > m[1, n]) w[n] += 0.5 * w[n - 1]; else w[n - 1] = fmod(m[2, n], 1.5); }
        real q = p[1 + (v[1] > 0)] + log_determinant_spd(add_diag(tcrossprod(m), 1));
        { int k = 1; while (k < N && w[k] < 1) k += 1; q += m[1, k] * v[k]; }
      }
      model {
        v ~ multi_normal(rep_vector(q, N), add_diag(rep_matrix(0.2, N, N), exp(p[1])));
        w[at] ~ student_t(4, m[2]', 1);
        target += lgamma(p) + Phi(q) + beta_lccdf(p[1] | 2, 1 + square(q));
      }"""
    data = {"N": 4, "at": [2, 2, 4, 1], "y": [0.1, -0.3, 0.2, 1.1]}
    points = [np.linspace(-1, 1, 14) ** 3, np.cos(np.arange(14))]
    compiled = outcomes(text, data, points)
    assert all(o.is_finite for o in compiled), compiled
    assert differences(outcomes(text, data, points, jit=False), compiled) == []


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


def test_interpreted_loops_that_jax_maps_end_lane_by_lane():
    halved = jax.vmap(lambda x: jax.lax.while_loop(lambda y: y > 1, lambda y: y / 2, x + 4))
    given = np.array([1.0, 2.0, 9.0], np.float32)
    (found,) = evaluate(jax.jit(halved).trace(given).jaxpr, given)
    np.testing.assert_allclose(found, [5 / 8, 6 / 8, 13 / 16])
