"""Roots of systems of equations: residuals, implicit derivatives, failures."""
from __future__ import annotations

import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, double, gradient, lift, plain
from scipy.optimize import root

from stanlib import registry
from stanlib.arrays import namespace
from stanlib.errors import StanDomainError, StanIndexError

GUESS, POINT, DATA = np.array([0.5, 0.5]), np.array([0.2, -0.3]), 2.0
SOLVERS = ("solve_newton", "solve_powell")


def system(y, p, c):
    xp = namespace((y, p))
    return xp.stack([y[0] - p[0] * xp.exp(-y[1]), y[1] * y[0] + y[1] ** 2 - p[1] * c])


def old_system(y, p, x_r, x_i):
    return system(y, p, x_r[0])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", SOLVERS)
def test_roots(name, library):
    p = np.array([1.2, 0.8])
    expected = root(lambda y: system(y, p, DATA), GUESS, tol=1e-13).x
    with double(library):
        for suffix, controls in (("", ()), ("_tol", (1e-3, 1e-8, 50))):
            y = plain(registry.by_symbol(name + suffix)(system, GUESS, *controls, lift(library, p), DATA))
            np.testing.assert_allclose(y, expected, rtol=1e-12)
        old = registry.by_symbol("algebra_solver_newton" if name == "solve_newton" else "algebra_solver")
        for controls in ((), (1e-3, 1e-8, 50)):
            y = plain(old(old_system, GUESS, lift(library, p), np.array([DATA]), np.array([0]), *controls))
            np.testing.assert_allclose(y, expected, rtol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("name", SOLVERS)
def test_gradient_is_stans(name, library):
    """The figures are those of Stan 2.35's solve_powell."""

    def total(log_p):
        y = registry.by_symbol(name)(system, GUESS, namespace((log_p,)).exp(log_p), DATA)
        return y[0] + 2 * y[1]

    with double(library):
        np.testing.assert_allclose(plain(total(lift(library, POINT))), 2.4742802876240906, rtol=1e-13)
    stan = [0.09655128160242862, 1.1398138681177727]
    np.testing.assert_allclose(gradient(library, total, POINT), stan, rtol=1e-12)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", SOLVERS)
def test_vectorised_chains_and_jacobians(name, x64):
    import jax

    solve = lambda p: registry.by_symbol(name)(system, GUESS, p, DATA)
    points = np.array([[1.2, 0.8], [0.7, 1.5]])
    forward, backward = (jax.jit(jax.vmap(d(solve)))(points) for d in (jax.jacfwd, jax.jacrev))
    np.testing.assert_allclose(forward, backward, rtol=1e-12)
    for p, made in zip(points, forward):
        y = root(lambda y: system(y, p, DATA), GUESS, tol=1e-13).x
        in_y = np.array([[1, p[0] * np.exp(-y[1])], [y[1], y[0] + 2 * y[1]]])
        in_p = np.diag([-np.exp(-y[1]), -DATA])
        np.testing.assert_allclose(made, -np.linalg.solve(in_y, in_p), rtol=1e-10)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", SOLVERS)
def test_a_curved_valley(name, library):
    """Rosenbrock's function as a system: plain Newton steps overshoot wildly from here."""

    def valley(y, one):
        return namespace((y, one)).stack([10 * (y[1] - y[0] ** 2), one - y[0]])

    with double(library):
        y = registry.by_symbol(name)(valley, np.array([-1.2, 1.0]), lift(library, 1.0))
    np.testing.assert_allclose(plain(y), [1, 1], rtol=1e-12)


@pytest.mark.parametrize("name", SOLVERS)
def test_no_root(name):
    never = lambda y, p: y * y + p
    with pytest.raises(StanDomainError, match="no root was found in 200 steps"):
        registry.by_symbol(name)(never, np.ones(1), 1.0)
    for library in DIFFERENTIABLE:
        with double(library), pytest.raises(StanDomainError, match=f"{name}: no solution was found"):
            registry.by_symbol(name)(never, np.ones(1), lift(library, 1.0))


def test_what_stan_throws_for():
    solve = registry.by_symbol("solve_newton_tol")
    for controls, message in (((-1.0, 1e-6, 10), "scaling_step"), ((0.0, -1.0, 10), "function_tolerance"),
                              ((0.0, 1e-6, 0), "max_num_steps")):  # fmt: skip
        with pytest.raises(StanDomainError, match=message):
            solve(system, GUESS, *controls, np.ones(2), 1.0)
    with pytest.raises(StanDomainError, match="initial guess"):
        solve(system, np.array([np.nan, 1.0]), 0.0, 1e-6, 10, np.ones(2), 1.0)
    with pytest.raises(StanIndexError, match="unknowns"):
        solve(lambda y: y[:1], GUESS, 0.0, 1e-6, 10)
