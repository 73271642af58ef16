"""Loops that a condition on parameters ends, in functions that solvers call: beside closed forms, or no loops."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from tests.random_programs.referee import ours

PROGRAM = """
functions {
  real halved(real a) { real u = a; int k = 0; while (k < 2 && u > 0.01) { u *= 0.5; k += 1; } return u; }
  vector fading(real t, vector y, real a) { return [-halved(a * y[1])]'; }
  vector system(vector y, real a) { return [y[1] + halved(y[1]) - a]'; }
  real bell(real x, real xc, array[] real a, data array[] real r, data array[] int n) { return halved(a[1]) * x; }
  vector pushed(real t, vector y, real a) { return [integrate_1d(bell, 0, y[1], {a}, {0.0}, {0}) / y[1]]'; }
  matrix K(real b, real c) { return [[square(b), c], [c, 2]]; }
  real seen(vector theta, vector y, real a) { return normal_lpdf(y | theta, halved(a)) + halved(theta[1] + 9); }
}
parameters { vector[2] p; }
model { target += CALL; }
"""
ADJOINT = "1e-10, [1e-10]', 1e-10, [1e-10]', 1e-10, 1e-10, 100000, 20, 1, 2, 2"
A, B = 2.2, 1.3


def latent(a, b):
    """Of two values y = (0.3, 1) seen with a deviation of a / 4, and of a term (theta[1] + 9) / 4 beside."""
    prior, noise, y = np.array([[b * b, 0.5], [0.5, 2.0]]), a / 4, np.array([0.3, 1.0])
    both = prior + noise**2 * np.eye(2)
    mean = (prior @ np.linalg.solve(both, y))[0]
    spread = (prior - prior @ np.linalg.solve(both, prior))[0, 0]
    return multivariate_normal.logpdf(y, np.zeros(2), both) + (mean + 9) / 4 + spread / 32


CALLS = {
    "ode_bdf": ("ode_bdf_tol(fading, [1]', 0, {1}, 1e-10, 1e-10, 100000, p[1])[1, 1]", lambda a, b: np.exp(-a / 4)),
    "ode_adjoint": (f"ode_adjoint_tol_ctl(fading, [1]', 0, {{1}}, {ADJOINT}, p[1])[1, 1]", lambda a, b: np.exp(-a / 4)),
    "solve_newton": ("solve_newton(system, [1]', p[1])[1]", lambda a, b: a / 1.25),
    "solve_powell": ("solve_powell(system, [1]', p[1])[1]", lambda a, b: a / 1.25),
    "integrate_1d": ("integrate_1d(bell, 0, p[2], {p[1]}, {0.0}, {0})", lambda a, b: a * b * b / 8),
    "integrate_1d in ode_rk45": ("ode_rk45_tol(pushed, [p[2]]', 0, {1}, 1e-10, 1e-10, 100000, p[1])[1, 1]",
                                 lambda a, b: b * np.exp(a / 8)),
    "laplace": ("laplace_marginal(seen, ([0.3, 1]', p[1]), 2, K, (p[2], 0.5))", latent),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", CALLS)
def test_loops_that_parameters_end_have_values_and_gradients(name, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    call, exact = CALLS[name]
    text = PROGRAM.replace("CALL", call)
    [got] = ours.outcomes(text, {}, [np.array([A, B])], backend, jit=False, parts=("gradient",))
    assert not got.rejected
    np.testing.assert_allclose(got.log_density, exact(A, B), rtol=1e-8)
    h = 1e-4
    slopes = [(exact(A + h, B) - exact(A - h, B)) / (2 * h), (exact(A, B + h) - exact(A, B - h)) / (2 * h)]
    np.testing.assert_allclose(got.gradient, slopes, rtol=1e-6, atol=1e-9)


CURVED = """
functions {
  matrix K(real b, real c) { return [[square(b), c], [c, 2]]; }
  real bent(real u, real a) { return u * a + 0.02 * square(u); }
  real seen(vector theta, array[] int y, real a) {
    real out = 0;
    for (i in 1:2) { real w = theta[i]; STATEMENT out += poisson_log_lpmf(y[i] | w); }
    return out;
  }
}
parameters { vector[2] p; }
model { target += laplace_marginal(seen, ({1, 4}, p[1]), 1, K, (p[2], 0.5)); }
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_likelihoods_with_loops_are_approximated_as_those_without(backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    loop = "int k = 0; while (k < 2 && w > -20) { w = bent(w, a); k += 1; }"
    texts = [CURVED.replace("STATEMENT", s) for s in (loop, "w = bent(bent(w, a), a);")]
    at = [np.array([0.9, 1.2])]
    (loops,), (none,) = (ours.outcomes(t, {}, at, backend, jit=False, parts=("gradient",)) for t in texts)
    assert not loops.rejected and not none.rejected, loops.rejected
    np.testing.assert_allclose(loops.log_density, none.log_density, rtol=1e-12)
    np.testing.assert_allclose(loops.gradient, none.gradient, rtol=1e-9)
