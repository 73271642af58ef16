"""Hidden Markov models: against the sum over all paths."""
import itertools

import jax
import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, call, double, gradient, lift, numeric_gradient, plain

from stanlib import registry
from stanlib.errors import StanDomainError, StanIndexError
from stanlib.random.numpy import NumpyRandom

LOG_OMEGA = np.array([[-0.5, 0.2, -1.0, 0.4], [0.3, -2.0, 0.1, -0.6], [1.0, 0.0, -0.3, 0.2]])
GAMMA = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.05, 0.05, 0.9]])
RHO = np.array([0.2, 0.5, 0.3])
GAMMA_OF_TWO = np.array([[0.3, 0.7], [0.6, 0.4]])
LEFT_TO_RIGHT = np.array([[0.9, 0.1, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]])


def paths(log_omega, gamma, rho):
    """Every path of states with its joint density."""
    states, steps = log_omega.shape
    for path in itertools.product(range(states), repeat=steps):
        density = rho[path[0]] * np.exp(sum(log_omega[s, t] for t, s in enumerate(path)))
        yield path, density * np.prod([gamma[a, b] for a, b in zip(path, path[1:])])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("gamma", [GAMMA, LEFT_TO_RIGHT], ids=["dense", "sparse"])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_sum_over_all_paths(library, gamma, steps):
    arguments = (LOG_OMEGA[:, :steps], gamma, RHO)
    table = list(paths(*arguments))
    total = sum(d for _, d in table)
    assert call(library, "hmm_marginal", *arguments) == pytest.approx(np.log(total), rel=1e-13)
    wanted = np.zeros((3, steps))
    for path, density in table:
        wanted[path, range(steps)] += density / total
    np.testing.assert_allclose(call(library, "hmm_hidden_state_prob", *arguments), wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("gamma", [GAMMA, LEFT_TO_RIGHT], ids=["dense", "sparse"])
def test_gradients(library, gamma):
    def total(log_omega, gamma, rho):
        return np.log(sum(d for _, d in paths(log_omega, gamma, rho)))

    f = registry.by_symbol("hmm_marginal")
    arguments = [LOG_OMEGA, gamma, RHO]
    for i, a in enumerate(arguments):
        rest = [lift(library, x) for x in arguments]

        def at(g, x, i=i, rest=rest):
            return g(*rest[:i], x, *rest[i + 1 :])

        # rows and vectors that don't sum to 1 are refused where they are known, but the derivatives are partial
        got = gradient(library, lambda x: at(f, x), a)
        wanted = numeric_gradient(lambda x, i=i: total(*arguments[:i], x, *arguments[i + 1 :]), a)
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("library", LIBRARIES)
def test_densities_far_apart(library):
    """Paths that must pass through states whose density underflows beside that of others."""
    log_omega = np.array([[0.0, -1000.0, -900.0], [-800.0, 0.0, -5.0], [-2000.0, -3000.0, -3000.0]])
    rho = np.array([0.5, 0.25, 0.25])
    assert call(library, "hmm_marginal", log_omega, np.eye(3), rho) == pytest.approx(-805 + np.log(0.25), rel=1e-14)
    # first state, then second and second
    wanted = np.log(0.5 * 0.1 * 0.8) - 5
    assert call(library, "hmm_marginal", log_omega, LEFT_TO_RIGHT, rho) == pytest.approx(wanted, rel=1e-13)
    wanted = np.log(0.5 * 0.2 * 0.3) - 5
    assert call(library, "hmm_marginal", log_omega, GAMMA, rho) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_stay_finite(library):
    log_omega = np.array([[0.0, -1000.0, -900.0], [-800.0, 0.0, -5.0], [-2000.0, -3000.0, -np.inf]])
    f = registry.by_symbol("hmm_marginal")
    for gamma in (np.eye(3), LEFT_TO_RIGHT, GAMMA):
        known = lift(library, gamma), lift(library, RHO)
        smoothed = gradient(library, lambda x, known=known: f(x, *known), log_omega)
        np.testing.assert_allclose(smoothed.sum(0), 1, rtol=1e-12)
        observed = lift(library, log_omega)
        assert np.isfinite(gradient(library, lambda g, o=observed: f(o, g, lift(library, RHO)), gamma)).all()


def test_impossible_observations():
    with np.errstate(divide="ignore"):
        assert call("numpy", "hmm_marginal", np.full((3, 2), -np.inf), GAMMA, RHO) == -np.inf
    f = registry.by_symbol("hmm_marginal")
    slopes = gradient("jax", lambda x: f(x, GAMMA, RHO), np.full((3, 2), -np.inf))
    np.testing.assert_array_equal(slopes, 0)


@pytest.mark.slow
def test_compiled_long_and_batched():
    rng = np.random.default_rng(0)
    log_omega = rng.normal(size=(2, 3, 2000))
    f = registry.by_symbol("hmm_marginal")
    with jax.enable_x64(True):
        batched = jax.jit(jax.vmap(lambda x: f(x, GAMMA, RHO)))(log_omega)
        one = jax.jit(f)
        np.testing.assert_allclose(batched, [one(x, GAMMA, RHO) for x in log_omega], rtol=1e-13)
        np.testing.assert_allclose(batched, [f(x, GAMMA, RHO) for x in log_omega], rtol=1e-12)
        # curvature: the derivative of the smoothed probabilities
        curvature = jax.hessian(lambda x: f(x, GAMMA, RHO))(LOG_OMEGA[:, :2]).reshape(6, 6)
        slope = jax.grad(lambda x: f(x, GAMMA, RHO))
        bump = np.zeros((3, 2))
        bump[1, 0] = 1e-5
        numeric = (slope(LOG_OMEGA[:, :2] + bump) - slope(LOG_OMEGA[:, :2] - bump)) / 2e-5
        np.testing.assert_allclose(curvature[2], numeric.ravel(), rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_paths_drawn():
    f = registry.by_symbol("hmm_latent_rng")
    source = NumpyRandom(np.random.default_rng(0))
    arguments = (LOG_OMEGA[:, :2], GAMMA, RHO)
    draws = np.array([f(source, *arguments) for _ in range(4000)])
    table = list(paths(*arguments))
    total = sum(d for _, d in table)
    for path, density in table:
        share, p = (draws == np.add(path, 1)).all(1).mean(), density / total
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / 4000)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_paths_drawn_by_other_libraries(library):
    """Where the observations tell the states."""
    f = registry.by_symbol("hmm_latent_rng")
    log_omega = 50 * np.eye(3)[:, [0, 1, 1, 2]]
    with double(library):
        if library == "jax":
            from stanlib.random.jax import JaxRandom

            got = jax.jit(lambda k, x: f(JaxRandom(k), x, LEFT_TO_RIGHT, RHO))(jax.random.PRNGKey(0), log_omega)
        else:
            from stanlib.random.torch import TorchRandom

            got = f(TorchRandom(), *(lift(library, a) for a in (log_omega, LEFT_TO_RIGHT, RHO)))
        assert plain(got).tolist() == [1, 2, 2, 3]


def test_sizes_and_simplexes():
    f = registry.by_symbol("hmm_marginal")
    with pytest.raises(StanIndexError, match="Gamma"):
        f(LOG_OMEGA[:2], GAMMA, RHO)
    with pytest.raises(StanIndexError, match="rho"):
        f(LOG_OMEGA, GAMMA, RHO[:2] / RHO[:2].sum())
    with pytest.raises(StanDomainError, match="simplex"):
        f(LOG_OMEGA, 1.1 * GAMMA, RHO)
    assert all(p.data_only for p in registry.candidates("hmm_hidden_state_prob")[0][1].parameters)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("gap", [3.0, 14000.0])
def test_first_state_that_explains_little(library, gap):
    """The other state, which rho excludes, is more likely by exp(gap) at the first observation."""
    log_omega, rho = np.array([[-gap, 0.1], [0.0, 0.4]]), np.array([1.0, 0.0])
    reached = GAMMA_OF_TWO[0] * np.exp(log_omega[:, 1])
    f = registry.by_symbol("hmm_marginal")
    assert call(library, "hmm_marginal", log_omega, GAMMA_OF_TWO, rho) == pytest.approx(-gap + np.log(reached.sum()))
    got = gradient(library, lambda x: f(x, lift(library, GAMMA_OF_TWO), lift(library, rho)), log_omega)
    np.testing.assert_allclose(got, [[1.0, reached[0] / reached.sum()], [0.0, reached[1] / reached.sum()]], atol=1e-15)
    got = gradient(library, lambda x: f(lift(library, log_omega), x, lift(library, rho)), GAMMA_OF_TWO)
    np.testing.assert_allclose(got, [np.exp(log_omega[:, 1]) / reached.sum(), [0.0, 0.0]], rtol=1e-12)
    slope = gradient(library, lambda x: f(lift(library, log_omega), lift(library, GAMMA_OF_TWO), x), rho)
    other = (GAMMA_OF_TWO[1] * np.exp(log_omega[:, 1])).sum() / reached.sum()
    assert slope[0] == pytest.approx(1.0)
    assert np.isfinite(slope[1]) and (gap > 700 or slope[1] == pytest.approx(np.exp(gap) * other))


@pytest.mark.parametrize("library", LIBRARIES)
def test_first_state_that_is_hardly_possible(library):
    log_omega, rho = np.array([[600.0, 0.1], [0.0, 0.4]]), np.array([1e-300, 1.0])
    first = np.array([np.exp(600.0 + np.log(1e-300)), 1.0])
    wanted = np.log((first @ GAMMA_OF_TWO) @ np.exp(log_omega[:, 1]))
    assert call(library, "hmm_marginal", log_omega, GAMMA_OF_TWO, rho) == pytest.approx(wanted, rel=1e-14)


def test_single_precision_where_the_first_state_explains_little():
    log_omega, rho = np.array([[-500.0, 0.1], [0.0, 0.4]], "f4"), np.array([1.0, 0.0], "f4")
    wanted = -500 + np.log((GAMMA_OF_TWO[0] * np.exp(log_omega[:, 1])).sum())
    with jax.enable_x64(False):
        arguments = [jax.numpy.asarray(a, "f4") for a in (log_omega, GAMMA_OF_TWO, rho)]
        value, slopes = jax.value_and_grad(registry.by_symbol("hmm_marginal"), (0, 1))(*arguments)
    assert value == pytest.approx(wanted, rel=1e-6)
    assert all(np.isfinite(s).all() for s in slopes)
