"""Second derivatives of log densities with solvers in them: those of both backends are the differences of gradients."""
import numpy as np
import pytest

import stanimport
from stanimport.inference.density.conditioned import posterior_of

PARAMETERS = "parameters { real a; vector[2] b; real t; real s; }\n"
POINT = np.array([0.2, 0.3, -0.4, 0.25, 0.15])
_ODE = (
    "functions { vector f(real t, vector y, real a, vector b) { return [-a*y[1]*y[2], a*y[1]*y[2] - b[1]*y[2]]'; } }\n"
    + PARAMETERS
    + "model { array[2] vector[2] y = SOLVE; target += -square(y[1,1] - 1) + sin(y[2,2]) * y[2,1]; }"
)
_TIMES = "f, [exp(s), 0.5]', 0.1 * s, {1 + 0.1 * t * t, 2 + 0.3 * t}"
_CONTROL = "1e-9, [1e-9, 1e-9]', 1e-9, [1e-9, 1e-9]', 1e-9, 1e-9, 10000, 100, 1, 2, 2"
PROGRAMS = {
    "ode_rk45": _ODE.replace("SOLVE", f"ode_rk45({_TIMES}, exp(a), exp(b))"),
    "ode_bdf": _ODE.replace("SOLVE", f"ode_bdf({_TIMES}, exp(a), exp(b))"),
    "ode_adjoint": _ODE.replace("SOLVE", f"ode_adjoint_tol_ctl({_TIMES}, {_CONTROL}, exp(a), exp(b))"),
    "solve_newton": "functions { vector g(vector x, real a, vector b) "
    "{ return [x[1]^3 + x[1]*a - b[1], x[2] - x[1]*b[2]]'; } }\n"
    + PARAMETERS
    + "model { vector[2] x = solve_newton(g, [1, 1]', exp(a), b); target += sin(x[1])*x[2] + t*s - t^2 - s^2; }",
    "integrate_1d": "functions { real h(real x, real xc, array[] real th, data array[] real xr, data array[] int xi) "
    "{ return exp(-th[1]*x*x) * cos(th[2]*x); } }\n"
    "transformed data { array[0] real xr; array[0] int xi; }\n"
    + PARAMETERS
    + "model { target += integrate_1d(h, a - 0.3*s, 1 + exp(t), {exp(b[1]), b[2]}, xr, xi, 1e-10) "
    "+ integrate_1d(h, a, positive_infinity(), {exp(b[1]), b[2]}, xr, xi, 1e-10) - s^2; }",
    "laplace_marginal": "functions { real ll(vector th, array[] int y) { return poisson_log_lpmf(y | th); }\n"
    "matrix K(array[] vector x, real al, real rho) { return add_diag(gp_exp_quad_cov(x, al, rho), 0.1); } }\n"
    "transformed data { array[3] vector[1] x = {[0.1]', [0.5]', [1.2]'}; array[3] int y = {1, 2, 0}; }\n"
    + PARAMETERS
    + "model { target += laplace_marginal(ll, (y,), 1, K, (x, exp(a), exp(s))) - t^2 - b' * b; }",
    "hmm_marginal": PARAMETERS + "model { matrix[2,3] lo = [[a, b[1], t], [b[2], s, a*t]]; real p = inv_logit(a);"
    "real q = inv_logit(s); target += hmm_marginal(lo, [[p, 1 - p], [q, 1 - q]], [inv_logit(t), 1 - inv_logit(t)]'); }",
    "log_sum_exp": PARAMETERS + "model { target += log_sum_exp([a * b[1], negative_infinity(), t * s]) "
    "+ log_sum_exp(negative_infinity(), b[2] * t); }",
}


def jax_derivatives(program):
    """The gradient, and the second derivatives, as functions of the point."""
    import jax

    posterior, _ = posterior_of(stanimport.loads(program), None, 1)
    with jax.enable_x64(True):
        gradient, hessian = jax.jit(jax.grad(posterior.log_density)), jax.jit(jax.hessian(posterior.log_density))
        yield lambda x: np.asarray(gradient(x))
        yield lambda x: np.asarray(hessian(x))


def torch_derivatives(program):
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    density = Density(stanimport.loads(program, backend="pyro"), {})

    def gradient(x, recorded=False):
        x = torch.tensor(x, requires_grad=True)
        (found,) = torch.autograd.grad(density(x), x, create_graph=recorded)
        return (x, found) if recorded else found.numpy()

    def hessian(point):
        x, found = gradient(point, True)
        rows = [torch.autograd.grad(g, x, retain_graph=True)[0] if g.requires_grad else torch.zeros_like(x)
                for g in found]  # fmt: skip
        return torch.stack(rows).numpy()

    yield gradient
    yield hessian


def by_differences(gradient):
    def central(h):
        return np.stack([(gradient(POINT + h * e) - gradient(POINT - h * e)) / (2 * h) for e in np.eye(len(POINT))])

    return (4 * central(1e-3) - central(2e-3)) / 3


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_on_jax(name, x64):
    gradient, hessian = jax_derivatives(PROGRAMS[name])
    np.testing.assert_allclose(hessian(POINT), by_differences(gradient), 1e-5, 1e-5)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_on_torch(name, torch_double):
    gradient, hessian = torch_derivatives(PROGRAMS[name])
    np.testing.assert_allclose(hessian(POINT), by_differences(gradient), 1e-5, 1e-5)


def test_laplace_sample_takes_differences_of_loops_in_loops_that_parameters_end():
    program = """
        parameters { real x; }
        model {
          int i = 0;
          while (i < 3 && x < 5) { int j = 0; while (j < 2 && x > -5) { target += -square(x - i); j += 1; } i += 1; }
        }
    """
    fit = stanimport.laplace_sample(stanimport.loads(program), draws=20000, seed=1)
    drawn = fit.stan_variable("x")  # of -2 ((x - 0)^2 + (x - 1)^2 + (x - 2)^2)
    assert float(fit.info["mode"][0]) == pytest.approx(1, abs=1e-6) and np.var(drawn) == pytest.approx(1 / 12, rel=0.05)
    expected = -6 * (drawn - 1) ** 2 + 0.5 * np.log(12 / (2 * np.pi))
    np.testing.assert_allclose(fit.stats["log_q__"].ravel(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_laplace_sample_takes_differences_where_a_function_has_first_derivatives_alone():
    """1F1(1; 1; x) is exp(x), so that the mode and the curvature there are known."""
    program = "parameters { real x; } model { target += -square(x) - hypergeometric_pFq([1]', [1]', x); }"
    fit = stanimport.laplace_sample(stanimport.loads(program), draws=20000, seed=1)
    mode = -0.3517337112491958  # of -x^2 - e^x: 2 x = -e^x
    assert float(fit.info["mode"][0]) == pytest.approx(mode, abs=1e-6)
    variance = 1 / (2 + np.exp(mode))
    drawn = fit.stan_variable("x")
    assert np.var(drawn) == pytest.approx(variance, rel=0.05)
    expected = -0.5 * (drawn - mode) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance)
    np.testing.assert_allclose(fit.stats["log_q__"].ravel(), expected, rtol=1e-4, atol=1e-4)
