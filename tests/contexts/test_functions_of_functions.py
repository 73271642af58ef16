"""Functions that take functions, in loops, conditions and functions of the program, against closed forms."""
from __future__ import annotations

import warnings

import numpy as np
import pytest
from programs import double

import stanimport
from stanlib import registry

FUNCTIONS = """
  vector decay(real t, vector y, real k) { return -k * y; }
  vector residual(real t, vector y, vector yp, real k) { return yp + k * y; }
  array[] real old_decay(real t, array[] real y, array[] real k, data array[] real x, data array[] int i) {
    return {-k[1] * y[1]};
  }
  vector root(vector x, real k) { return x .* x - k; }
  vector old_root(vector x, vector k, data array[] real r, data array[] int i) { return x .* x - k; }
  real power(real x, real xc, real k) { return x ^ k; }
  real old_power(real x, real xc, array[] real k, data array[] real r, data array[] int i) { return x ^ k[1]; }
  real part(array[] real y, int first, int last, real k) { return k * sum(y); }
  real noisy(vector theta, data vector y, real s) { return normal_lpdf(y | theta, s); }
  matrix spread(real k, data real one) { return [[k * one]]; }
  vector twice(vector phi, vector theta, data array[] real r, data array[] int i) { return 2 * theta + phi; }
"""
TOLERANCES = "1e-9, 1e-9, 100000"
_ODE = {f"ode_{m}": f"ode_{m}(decay, y0, 0, {{1.0}}, k)[1, 1]" for m in ("rk45", "ckrk", "adams", "bdf")}
_ODE |= {f"{f}_tol": f"{f}_tol(decay, y0, 0, {{1.0}}, {TOLERANCES}, k)[1, 1]" for f in _ODE}
_ADJOINT = "1e-9, [1e-9]', 1e-9, [1e-9]', 1e-9, 1e-9, 100000, 100, 1, 2, 2"
_ODE["ode_adjoint_tol_ctl"] = f"ode_adjoint_tol_ctl(decay, y0, 0, {{1.0}}, {_ADJOINT}, k)[1, 1]"
_OLD_ODE = {f: f"{f}(old_decay, {{2.0}}, 0, {{1.0}}, {{k}}, nr, ni)[1, 1]" for f in (
    "integrate_ode", "integrate_ode_rk45", "integrate_ode_adams", "integrate_ode_bdf")}  # fmt: skip
_ROOTS = {f: f"{f}(root, y0, k)[1]" for f in ("solve_newton", "solve_powell")}
_ROOTS |= {f"{f}_tol": f"{f}_tol(root, y0, 1e-9, 1e-9, 1000, k)[1]" for f in _ROOTS}
_ROOTS |= {f: f"{f}(old_root, y0, [k]', nr, ni)[1]" for f in ("algebra_solver", "algebra_solver_newton")}
_QUADRATURE = {f"integrate_1d_{m}": f"integrate_1d_{m}(power, 0, 1, k)" for m in (
    "gauss_kronrod", "double_exponential")}  # fmt: skip
_QUADRATURE |= {f"{f}_tol": f"{f}_tol(power, 0, 1, 1e-9, 1e-9, 15, k)" for f in _QUADRATURE}
_QUADRATURE["integrate_1d"] = "integrate_1d(old_power, 0, 1, {k}, nr, ni)"
_SUMS = {f: f"{f}(part, xs, 1, k)" for f in ("reduce_sum", "reduce_sum_static")}
_LAPLACE = "(noisy, (y0, 1.0), 1, spread, (k, 1.0)"
_OPTIONS = "([0.1]', 1e-10, 500, 1, 1000, 1)"
_MARGINALS = {"laplace_marginal": f"laplace_marginal{_LAPLACE})"}
_MARGINALS["laplace_marginal_tol"] = f"laplace_marginal_tol{_LAPLACE}, {_OPTIONS})"
CALLS = {
    **{f: (call, lambda k: 2 * np.exp(-k)) for f, call in (_ODE | _OLD_ODE).items()},
    "dae": ("dae(residual, y0, -k * y0, 0, {1.0}, k)[1, 1]", lambda k: 2 * np.exp(-k)),
    "dae_tol": (f"dae_tol(residual, y0, -k * y0, 0, {{1.0}}, {TOLERANCES}, k)[1, 1]", lambda k: 2 * np.exp(-k)),
    **{f: (call, np.sqrt) for f, call in _ROOTS.items()},
    **{f: (call, lambda k: 1 / (k + 1)) for f, call in _QUADRATURE.items()},
    **{f: (call, lambda k: 6 * k) for f, call in _SUMS.items()},
    # of a normal likelihood Laplace's approximation is exact: y ~ normal(0, sqrt(k + 1))
    **{f: (call, lambda k: -np.log(2 * np.pi * (k + 1)) / 2 - 2 / (k + 1)) for f, call in _MARGINALS.items()},
    "map_rect": ("sum(map_rect(twice, [k]', {[k]', [1]'}, xr, xi))", lambda k: 4 * k + 2),
}
PROGRAM = """functions {{ {functions}
  real f(real k, data vector y0, data array[] real xs, data array[,] real xr, data array[,] int xi,
         data array[] real nr, data array[] int ni) {{ return {call}; }}
}}
transformed data {{
  vector[1] y0 = [2]'; array[3] real xs = {{1, 2, 3}}; array[2, 0] real xr; array[2, 0] int xi;
  array[0] real nr; array[0] int ni;
}}
parameters {{ vector[3] ks; vector[3] w; }}
generated quantities {{
  vector[3] loop; vector[3] own; vector[3] some = rep_vector(0, 3); real branch;
  for (n in 1:3) {{ real k = ks[n]; loop[n] = {call}; }}
  for (n in 1:3) own[n] = f(ks[n], y0, xs, xr, xi, nr, ni);
  for (n in 1:3) {{ if (w[n] > 0) {{ real k = ks[n]; some[n] = {call}; }} }}
  {{ real k = ks[2]; if (w[2] > 0) branch = 0; else branch = {call}; }}
}}"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", CALLS)
def test_higher_order(name, backend):
    call, expected = CALLS[name]
    ks, w = np.array([0.5, 0.9, 1.3]), np.array([1.0, -1.0, 1.0])
    with warnings.catch_warnings(), double(backend):
        warnings.simplefilter("ignore")
        module = stanimport.loads(PROGRAM.format(functions=FUNCTIONS, call=call), backend=backend)
        got = module.generated_quantities(**module.transformed_data(), ks=ks, w=w)
    got = {k: np.asarray(v) for k, v in got.items()}
    for context, wanted in (
        ("loop", expected(ks)), ("own", expected(ks)), ("some", expected(ks) * (w > 0)), ("branch", expected(ks[1]))
    ):  # fmt: skip
        np.testing.assert_allclose(got[context], wanted, rtol=1e-5, err_msg=context)


# Tried by themselves so far: Laplace's approximation with the library's likelihoods, and its random numbers; what
# programs with discrete parameters call (tests/discrete), and draws of parts of parameters (test_priors_of_parts.py).
ELSEWHERE = ("discrete_", "bernoulli_pmf__", "part_", "parts_joined__", "laplace_latent_", "laplace_marginal_",
             "laplace_options_from", "generate_laplace_options")  # fmt: skip


def test_every_record_is_tried_in_contexts():
    import calls
    import test_random_functions

    tried = {*CALLS, *(f.symbol for f in calls.functions()), *(f.symbol for f in test_random_functions.RNGS)}
    assert not [s for s in set(registry.SYMBOLS) - tried if not s.startswith(ELSEWHERE)]
