"""Pathfinder's approximations along a path, against what quasi-Newton theory says of quadratic densities."""
import functools

import jax
import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference.density.path_limits import Limits
from stanimport.inference.density.quasi_newton_paths import Normal, Search, _drawn, _moved

MEAN, COVARIANCE = np.array([1.0, -2.0]), np.array([[2.0, 0.8], [0.8, 1.0]])
PRECISION = np.linalg.inv(COVARIANCE)
START = np.array([20.0, 5.0])


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def density(x):
    return -0.5 * (x - MEAN) @ PRECISION @ (x - MEAN)


def at(point):
    gradient = PRECISION @ (point - MEAN)
    return Normal(point, gradient, np.ones(2), np.zeros((5, 2)), np.zeros((5, 2)))


def test_far_from_the_mode_its_mean_is_a_newton_step_away():
    """With two independent steps behind it the inverse Hessian of two dimensions is known, and the step exact."""
    law = at(START)
    for direction in ([1.0, 0.0], [-PRECISION[0, 1], PRECISION[0, 0]]):  # conjugate
        point = np.asarray(law.point) + direction
        law = _moved(law, point, PRECISION @ (point - MEAN))
    assert np.linalg.norm(np.asarray(law.point) - MEAN) > 15
    draws, log_q = (np.asarray(v) for v in _drawn(law, jax.random.PRNGKey(0), 20_000))
    np.testing.assert_allclose(draws.mean(axis=0), MEAN, atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), COVARIANCE, atol=0.08)
    np.testing.assert_allclose(log_q, stats.multivariate_normal(MEAN, COVARIANCE).logpdf(draws), atol=1e-8)


def test_without_steps_it_is_the_standard_normal_law_a_gradient_away():
    law = at(np.array([3.0, 4.0]))
    draws, log_q = (np.asarray(v) for v in _drawn(law, jax.random.PRNGKey(1), 20_000))
    center = law.point - law.gradient
    np.testing.assert_allclose(draws.mean(axis=0), center, atol=0.03)
    np.testing.assert_allclose(log_q, stats.multivariate_normal(center, np.eye(2)).logpdf(draws), atol=1e-8)


SEEN: list[np.ndarray] = []


@functools.cache
def compiled(init_alpha):
    """The best law of a path, a function of where it starts and of its limits; where it asks for densities is SEEN."""

    def asked(x):
        jax.debug.callback(lambda p: SEEN.append(np.asarray(p)), x, ordered=False)
        return density(x)

    def best(start, limits):
        return Search(asked, jax.random.PRNGKey(0), 1, Limits(**limits, init_alpha=init_alpha)).best(start)

    return jax.jit(best)


def path(init_alpha=None, **limits):
    """The points at which the density was asked for, along a path, and its best approximation."""
    given = {n: v for n, v in Limits()._asdict().items() if n not in ("history", "init_alpha")} | limits
    SEEN.clear()
    law = compiled(init_alpha)(START, {n: np.float64(v) for n, v in given.items()})
    jax.effects_barrier()
    return list(SEEN), law


@pytest.mark.sampled(2)
@pytest.mark.parametrize("limit", [
    {"tol_obj": 1e6}, {"tol_rel_obj": 1e16}, {"tol_grad": 1e3}, {"tol_rel_grad": 1e19}, {"tol_param": 1e3},
    {"iterations": 1},
])  # fmt: skip
def test_every_limit_ends_a_path(limit):
    everything, found = path()
    np.testing.assert_allclose(np.asarray(found.point), MEAN, atol=0.5)
    assert len(path(**limit)[0]) < len(everything) / 2


def test_the_first_step_is_in_units_of_the_gradient():
    """A line search that begins with a tiny step asks for the density there; by itself it steps by 1."""
    gradient = PRECISION @ (START - MEAN)
    for alpha, length in ((1e-3, 1e-3 * np.linalg.norm(gradient)), (None, 1.0)):
        first = START - length * gradient / np.linalg.norm(gradient)
        distances = [np.linalg.norm(p - first) for p in path(alpha, iterations=1)[0]]
        assert min(distances) < 1e-5  # callbacks get single precision


@pytest.mark.slow
def test_the_options_reach_the_paths():
    module = stanimport.loads("""
parameters { vector[2] x; }
model { x ~ multi_normal([1, -2]', [[2, 0.8], [0.8, 1]]); }""", name="normal")  # fmt: skip
    full = stanimport.pathfinder(module, seed=1, inits=2.0, init_alpha=1e-3)
    assert full.info["pareto_k"] < 0.5 and full.settings["init_alpha"] == 1e-3
    short = stanimport.pathfinder(module, seed=1, inits=2.0, tol_param=1e6, psis_resample=False)
    apart, nearer = (abs(f.stan_variable("x").mean(axis=0) - MEAN).max() for f in (short, full))
    assert apart > nearer
    with pytest.raises(ValueError, match="tol_rel_grad must be at least 0"):
        stanimport.pathfinder(module, tol_rel_grad=-1.0)
    with pytest.raises(ValueError, match="init_alpha must be between 0"):
        stanimport.pathfinder(module, init_alpha=0.0)
