"""Differential-algebraic equations, against the differential equations that they are equivalent to."""
from __future__ import annotations

import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, double, gradient, lift, numeric_gradient, plain
from scipy.integrate import solve_ivp

from stanlib import registry
from stanlib.arrays import namespace
from stanlib.errors import StanIndexError

TIMES = np.array([0.4, 4.0, 40.0])
RATES = np.array([0.04, 1e4, 3e7])
START = np.array([1.0, 0.0, 0.0])
WEIGHTS = np.array([[1.0, 1e5, 2.0], [2.0, 2e5, 2.0], [3.0, 3e5, 2.0]])


def reactions(t, y, dy, p):
    """Robertson's reactions, the third concentration from the sum of all."""
    made = p[0] * y[0] - p[1] * y[1] * y[2]
    return namespace((y, dy, p)).stack([dy[0] + made, dy[1] - made + p[2] * y[1] ** 2, y[0] + y[1] + y[2] - 1])


def exact(p):
    def slope(t, y):
        made, gone = p[0] * y[0] - p[1] * y[1] * y[2], p[2] * y[1] ** 2
        return [-made, made - gone, gone]

    return solve_ivp(slope, (0, 40), START, "Radau", TIMES, rtol=1e-11, atol=1e-14).y.T


def solve(p, name="dae", controls=()):
    derivative = namespace((p,)).stack([-p[0], p[0], 0.0 * p[0]])
    return registry.by_symbol(name)(reactions, START, derivative, 0.0, TIMES, *controls, p)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
def test_states(library):
    with double(library):
        states = plain(solve(lift(library, RATES)))
        loose = plain(solve(lift(library, RATES), "dae_tol", (1e-6, 1e-8, 10000)))
    np.testing.assert_allclose(states, exact(RATES), rtol=1e-7)
    np.testing.assert_allclose(loose, exact(RATES), rtol=1e-3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradient(library):
    scaled = lambda x: np.exp(x) * RATES
    total = lambda x: (lift(library, WEIGHTS) * solve(namespace((x,)).exp(x) * lift(library, RATES))).sum()
    x = np.array([0.1, -0.2, 0.3])
    expected = numeric_gradient(lambda x: np.sum(WEIGHTS * exact(scaled(x))), x, 1e-3)
    np.testing.assert_allclose(gradient(library, total, x), expected, rtol=1e-5)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradient_in_the_initial_state(library):
    """y1' = -2 y1, y2 = y1^2: y1 = a exp(-2 t)."""

    def residual(t, y, dy):
        return namespace((y, dy)).stack([dy[0] + 2 * y[0], y[1] - y[0] ** 2])

    def last(a):
        xp = namespace((a,))
        state, derivative = xp.stack([a, a * a]), xp.stack([-2 * a, -4 * a * a])
        return registry.by_symbol("dae")(residual, state, derivative, 0.0, np.array([0.5]))[0].sum()

    a, decay = np.array(1.5), np.exp(-1.0)
    np.testing.assert_allclose(gradient(library, last, a), decay + 2 * 1.5 * decay**2, rtol=1e-7)


def test_sizes():
    with pytest.raises(StanIndexError, match="derivative"):
        registry.by_symbol("dae")(reactions, START, START[:2], 0.0, TIMES, RATES)
    with pytest.raises(StanIndexError, match="residual"):
        registry.by_symbol("dae")(lambda t, y, dy: y[:2], START, START, 0.0, TIMES)
