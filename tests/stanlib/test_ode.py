"""Differential equations: states and their derivatives against SciPy's at tolerances of 1e-13."""
from __future__ import annotations

import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, double, gradient, lift, numeric_gradient, plain
from scipy.integrate import solve_ivp

from stanlib import registry
from stanlib.arrays import namespace
from stanlib.errors import StanDomainError, StanIndexError
from stanlib.solvers.control import controlled_derivatives

TIMES = np.array([0.7, 1.9, 4.5])
STATE, RATES = np.array([1.5, 2.0]), np.array([1.2, 0.7, 1.1, 0.8])
WEIGHTS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
TIGHT = (1e-10, 1e-10, 10**6)
ADJOINT = (1e-10, np.full(2, 1e-10), 1e-10, np.full(2, 1e-10), 1e-10, 1e-10, 10**6, 20, 1)
METHODS = {
    "ode_rk45_tol": TIGHT, "ode_ckrk_tol": TIGHT, "ode_adams": (), "ode_bdf": (),
    "ode_adjoint_tol_ctl": (*ADJOINT, 1, 1),
}  # fmt: skip


def predators(t, y, p):
    return namespace((y, p)).stack([(p[0] - p[1] * y[1]) * y[0], (p[2] * y[0] - p[3]) * y[1]])


def exact(f, y0, t0, ts, *arguments):
    solution = solve_ivp(f, (t0, ts[-1]), y0, "DOP853", ts, args=arguments, rtol=1e-13, atol=1e-13)
    return solution.y.T


def solve(name, y0, t0, ts, p, controls=None):
    return registry.by_symbol(name)(predators, y0, t0, ts, *(METHODS[name] if controls is None else controls), p)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", METHODS)
def test_states(name, library):
    with double(library):
        states = plain(solve(name, lift(library, STATE), 0.1, TIMES, lift(library, RATES)))
    np.testing.assert_allclose(states, exact(predators, STATE, 0.1, TIMES, RATES), rtol=1e-8)


SLOW = {("ode_adjoint_tol_ctl", "jax"), ("ode_bdf", "jax")}  # to compile


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name, library",
    [
        pytest.param(n, lib, marks=pytest.mark.slow if (n, lib) in SLOW else ())
        for n in METHODS
        for lib in DIFFERENTIABLE
    ],
)
def test_gradients_in_the_initial_state_and_the_parameters(name, library):
    def total(x):
        return (lift(library, WEIGHTS) * solve(name, x[:2], 0.1, TIMES, x[2:])).sum()

    x = np.concatenate([STATE, RATES])
    expected = numeric_gradient(lambda x: np.sum(WEIGHTS * exact(predators, x[:2], 0.1, TIMES, x[2:])), x, 1e-4)
    np.testing.assert_allclose(gradient(library, total, x), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_in_the_times(library):
    x = np.concatenate([[0.1], TIMES])
    total = lambda x: (lift(library, WEIGHTS) * solve("ode_rk45_tol", lift(library, STATE), x[0], x[1:], RATES)).sum()
    expected = numeric_gradient(lambda x: np.sum(WEIGHTS * exact(predators, STATE, x[0], x[1:], RATES)), x, 1e-4)
    np.testing.assert_allclose(gradient(library, total, x), expected, rtol=1e-6)


def test_steps_are_stans_to_the_last_digit(x64):
    """Stan 2.35's own value and gradient, whose error of 1e-6 comes out too."""
    import jax

    def total(log_p):
        y0 = jax.numpy.stack([1.5 + 0.1 * log_p[0], 2.0])
        return (WEIGHTS * solve("ode_rk45", y0, 0.1, TIMES, jax.numpy.exp(log_p), ())).sum()

    value, slope = jax.jit(jax.value_and_grad(total))(np.array([0.2, -0.3, 0.1, -0.2]))
    np.testing.assert_allclose(value, 25.20802559089716, rtol=1e-13)
    stan = [20.58536616127545, -23.814009831532065, -4.625366149444987, 3.428320010780661]
    np.testing.assert_allclose(slope, stan, rtol=1e-12)


def test_all_libraries_take_the_same_steps():
    loose = (1e-4, 1e-3, 1000)
    for name in ("ode_rk45_tol", "ode_ckrk_tol"):
        made = []
        for library in LIBRARIES:
            with double(library):
                made.append(plain(solve(name, lift(library, STATE), 0.1, TIMES, lift(library, RATES), loose)))
        np.testing.assert_allclose(made[1], made[0], rtol=1e-11)
        np.testing.assert_allclose(made[2], made[0], rtol=1e-11)
        assert np.max(np.abs(made[0] - exact(predators, STATE, 0.1, TIMES, RATES))) > 1e-6


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_loose_tolerances_have_the_gradient_of_the_same_steps(library):
    """The states are those without derivatives, and the gradient is that of their sum, to the tolerance's precision."""
    loose = (1e-5, 1e-5, 1000)
    with double(library):
        plain_states = solve("ode_rk45_tol", STATE, 0.1, TIMES, RATES, loose)
    made = []

    def total(x):
        states = solve("ode_rk45_tol", x[:2], 0.1, TIMES, x[2:], loose)
        made.append(states)
        return (lift(library, WEIGHTS) * states).sum()

    x = np.concatenate([STATE, RATES])
    found = gradient(library, total, x)
    expected = numeric_gradient(lambda x: np.sum(WEIGHTS * exact(predators, x[:2], 0.1, TIMES, x[2:])), x, 1e-4)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-2)
    if library == "torch":
        np.testing.assert_allclose(plain(made[-1]), plain_states, rtol=1e-11)
        return
    import jax

    with double(library):
        value, _ = jax.value_and_grad(total)(x)
    np.testing.assert_allclose(value, np.sum(WEIGHTS * plain_states), rtol=1e-11)


@pytest.mark.slow
def test_controlled_derivatives_are_more_precise(x64):
    """Without control the gradient is that of the density's own steps; with it, both come from finer steps."""
    import jax

    def total(x):
        return (WEIGHTS * solve("ode_rk45_tol", x[:2], 0.1, TIMES, x[2:], (1e-4, 1e-3, 1000))).sum()

    x = np.concatenate([STATE, RATES])
    wanted = numeric_gradient(lambda x: np.sum(WEIGHTS * exact(predators, x[:2], 0.1, TIMES, x[2:])), x, 1e-4)
    own = np.asarray(jax.grad(total)(x))
    with controlled_derivatives():
        controlled = np.asarray(jax.grad(total)(x))
    assert np.max(np.abs(controlled - wanted)) < 0.5 * np.max(np.abs(own - wanted))


def test_default_tolerances_are_stans(x64):
    loose, given = (solve(n, STATE, 0.1, TIMES, RATES, c) for n, c in (("ode_rk45", ()), ("ode_ckrk", ())))
    for states in (loose, given):
        error = np.max(np.abs(states - exact(predators, STATE, 0.1, TIMES, RATES)))
        assert 1e-9 < error < 1e-4


STIFF = np.array([0.04, 1e4, 3e7])
STIFF_TIMES = np.array([0.4, 4.0, 40.0])


def robertson(t, y, p):
    first, second = p[0] * y[0] - p[1] * y[1] * y[2], p[2] * y[1] ** 2
    return namespace((y, p)).stack([-first, first - second, second])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", LIBRARIES)
def test_stiff_equations(library):
    reference = solve_ivp(robertson, (0, 40), [1, 0, 0], "Radau", STIFF_TIMES, args=(STIFF,), rtol=1e-11, atol=1e-14)
    with double(library):
        y0 = lift(library, np.array([1.0, 0.0, 0.0]))
        states = plain(registry.by_symbol("ode_bdf")(robertson, y0, 0.0, STIFF_TIMES, STIFF))
    np.testing.assert_allclose(states, reference.y.T, rtol=1e-7)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradient_of_stiff_equations_is_stans(library):
    weights = np.array([[i, 1e5 * i, 2.0] for i in (1, 2, 3)])

    def total(log_p):
        p = namespace((log_p,)).exp(log_p) * lift(library, STIFF)
        y0 = np.array([1.0, 0.0, 0.0])
        return (lift(library, weights) * registry.by_symbol("ode_bdf")(robertson, y0, 0.0, STIFF_TIMES, p)).sum()

    stan = [3.491087256849309, -1.8218195804623631, -4.844042712397812]  # of Stan 2.35
    np.testing.assert_allclose(gradient(library, total, np.array([0.2, -0.3, 0.1])), stan, rtol=1e-7)


def test_many_parameters_go_backwards(x64):
    """A chain of 60 compartments, each with a rate of its own, against the matrix exponential."""
    import jax
    from scipy.linalg import expm

    n = 60
    rates, y0 = np.linspace(0.5, 1.5, n), np.eye(n)[0]

    def chain(t, y, k):
        xp = namespace((y, k))
        flow = k * y
        return xp.concatenate([-flow[:1], flow[:-1] - flow[1:]])

    def total(k):
        return (registry.by_symbol("ode_rk45_tol")(chain, y0, 0.0, [2.0], *TIGHT, k)[0] * np.arange(n)).sum()

    def by_exponential(k):
        return np.arange(n) @ expm(2 * (np.diag(k[:-1], -1) - np.diag(k)))[:, 0]

    made = jax.jit(jax.grad(total))(rates)
    for i in (0, 3, 7, 59):
        d = 1e-5 * np.eye(n)[i]
        slope = (by_exponential(rates + d) - by_exponential(rates - d)) / 2e-5
        np.testing.assert_allclose(made[i], slope, rtol=1e-6, atol=1e-8)


def test_vectorised_chains(x64):
    import jax

    total = lambda p: (solve("ode_rk45_tol", STATE, 0.1, TIMES, p) * WEIGHTS).sum()
    points = np.stack([RATES, 1.2 * RATES, 0.7 * RATES])
    together = jax.jit(jax.vmap(jax.grad(total)))(points)
    apart = jax.jit(jax.grad(total))
    np.testing.assert_allclose(together, [apart(p) for p in points], rtol=1e-12)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_too_many_steps_are_an_error_outside_of_models(library):
    with double(library), pytest.raises(StanDomainError, match="no solution was found"):
        solve("ode_ckrk_tol", lift(library, STATE), 0.1, TIMES, RATES, (1e-10, 1e-10, 30))


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_states_that_explode_are_an_error_outside_of_models(library):
    ode = registry.by_symbol("ode_rk45")
    with double(library):
        y0 = lift(library, np.array([1.0]))
        np.testing.assert_allclose(plain(ode(lambda t, y: y * y, y0, 0.0, np.array([0.5])))[0], 2.0, rtol=1e-5)
        with pytest.raises(StanDomainError, match="no solution was found"):
            ode(lambda t, y: y * y, y0, 0.0, np.array([0.5, 2.0]))


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(ts=np.array([1.9, 0.7])), "sorted"),
        (dict(t0=2.0), "initial time"),
        (dict(y0=np.array([np.inf, 1.0])), "initial state"),
        (dict(controls=(0.0, 1e-6, 10)), "relative_tolerance"),
        (dict(controls=(1e-6, 1e-6, 0)), "max_num_steps"),
        (dict(controls=(1e-12, 1e-12, 2)), "as many steps as are allowed"),
    ],
)
def test_what_stan_throws_for(change, message):
    given = dict(y0=STATE, t0=0.1, ts=TIMES, p=RATES) | change
    with pytest.raises(StanDomainError, match=message):
        solve("ode_rk45_tol", **given)


def test_sizes():
    with pytest.raises(StanIndexError, match="derivative"):
        registry.by_symbol("ode_rk45")(lambda t, y: y[:1], STATE, 0.0, TIMES)
    with pytest.raises(StanIndexError, match="times of output"):
        registry.by_symbol("ode_rk45")(lambda t, y: y, STATE, 0.0, TIMES[:0])


def test_before_2_24():
    """`integrate_ode_*` take arrays and three kinds of arguments."""
    old = lambda t, y, theta, x_r, x_i: list(predators(t, y, theta))
    expected = exact(predators, STATE, 0.1, TIMES, RATES)
    for name in ("integrate_ode_rk45", "integrate_ode_bdf", "integrate_ode_adams"):
        f = registry.by_symbol(name)
        np.testing.assert_allclose(f(old, STATE, 0.1, TIMES, RATES, [], []), expected, rtol=1e-4)
        np.testing.assert_allclose(f(old, STATE, 0.1, TIMES, RATES, [], [], 1e-9, 1e-9, 1e5), expected, rtol=1e-7)
