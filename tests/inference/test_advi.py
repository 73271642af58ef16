"""CmdStan's variational inference: its steps, step sizes and stopping rule, against closed forms."""
import numpy as np
import pytest

import stanimport
from stanimport.inference.methods.advi import ETAS
from stanimport.inference.options import OptionError

MEAN, COVARIANCE = np.array([1.0, -2.0]), np.array([[2.0, 0.8], [0.8, 1.0]])
QUIET = dict(seed=1, require_converged=False, khat=False)


@pytest.fixture(scope="module")
def correlated():
    return stanimport.loads("""
transformed data { matrix[2, 2] S = [[2, 0.8], [0.8, 1]]; }
parameters { vector[2] x; }
model { target += multi_normal_lpdf(x | [1, -2]', S); }
generated quantities { real total = sum(x); }
""", name="correlated")


@pytest.fixture(scope="module")
def far():
    return stanimport.loads("parameters { real x; } model { target += normal_lpdf(x | 60, 3) - 40; }", name="far")


def test_a_normal_posterior_is_found_exactly_by_the_full_rank_family(correlated):
    """The bound of the law itself is the log of the density's integral, 0."""
    fit = stanimport.advi(correlated, algorithm="fullrank", grad_samples=10, tol_rel_obj=1e-4, draws=4000, **QUIET)
    draws = fit.stan_variable("x")
    np.testing.assert_allclose(draws.mean(axis=0), MEAN, atol=0.1)
    np.testing.assert_allclose(np.cov(draws.T), COVARIANCE, atol=0.15)
    assert abs(fit.info["elbo"][-1]) < 0.1 and fit.method == "variational"
    assert (fit.stats["log_p__"] - fit.stats["log_q__"]).std() < 0.4
    np.testing.assert_allclose(fit.info["center"]["total"], fit.info["center"]["x"].sum())


def test_the_mean_field_family_has_the_precision_of_each_coordinate(correlated):
    """Its variances are the inverses of the precision matrix's diagonal: Bishop (2006), section 10.1.2."""
    fit = stanimport.advi(correlated, grad_samples=10, tol_rel_obj=1e-4, draws=4000, **QUIET)
    draws, precision = fit.stan_variable("x"), np.linalg.inv(COVARIANCE)
    np.testing.assert_allclose(draws.mean(axis=0), MEAN, atol=0.1)
    np.testing.assert_allclose(draws.var(axis=0), 1 / np.diag(precision), rtol=0.15)
    gap = 0.5 * (np.log(np.linalg.det(precision)) - np.log(np.diag(precision)).sum())
    assert fit.info["elbo"][-50:].mean() == pytest.approx(gap, abs=0.06)


def ascended(start, eta, steps):
    """Mean and log standard deviation after steps of the paper's equation 10 along the exact gradients of `far`."""
    at, squares = np.array([start, 0.0]), np.zeros(2)
    for i in range(1, steps + 1):
        gradient = np.array([(60 - at[0]) / 9, 1 - np.exp(2 * at[1]) / 9])
        squares = gradient**2 if i == 1 else 0.9 * squares + 0.1 * gradient**2
        at += eta / np.sqrt(i) * gradient / (1 + np.sqrt(squares))
    return at


def bound(at):
    return -((at[0] - 60) ** 2 + np.exp(2 * at[1])) / 18 - np.log(3) + 0.5 + at[1] - 40


def test_steps_follow_the_exact_gradients(far):
    """With many draws for each gradient what is left of their noise is little."""
    fit = stanimport.advi(far, inits={"x": 50.0}, eta=0.7, adapt_engaged=False, iter=25, grad_samples=2000,
                          draws=20_000, **QUIET)  # fmt: skip
    mean, log_scale = ascended(50.0, 0.7, 25)
    assert fit.info["center"]["x"] == pytest.approx(mean, abs=0.02) and fit.info["steps"] == 25
    assert fit.stan_variable("x").std() == pytest.approx(np.exp(log_scale), rel=0.03)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("start", "adapt_iter"), [(50.0, 50), (59.0, 5), (-400.0, 10)])
def test_the_step_size_is_the_first_that_no_smaller_one_betters(far, start, adapt_iter):
    """Of exact gradients; where the bounds are far apart, noise does not change the choice."""
    reached = [bound(ascended(start, eta, adapt_iter)) for eta in ETAS]
    before = bound(np.array([start, 0.0]))
    at = next(i for i in range(len(ETAS)) if i + 1 == len(ETAS) or reached[i + 1] < reached[i] > before)
    fit = stanimport.advi(far, inits={"x": start}, adapt_iter=adapt_iter, grad_samples=20, iter=10, **QUIET)
    assert fit.info["eta"] == fit.settings["eta"] == ETAS[at]


def test_it_stops_when_the_bound_hardly_changes(far):
    """By the mean or the median of the latest tenth of all relative changes, the first of them from 0."""
    fit = stanimport.advi(far, seed=3, inits={"x": 50.0}, iter=2000, eval_elbo=25, tol_rel_obj=0.02, khat=False)
    bounds = np.concatenate([[0.0], fit.info["elbo"]])
    changes = np.abs(np.diff(bounds) / bounds[1:])
    small = [min(c.mean(), np.sort(c)[len(c) // 2]) < 0.02
             for c in (changes[max(0, i - 8):i] for i in range(1, len(changes) + 1))]  # fmt: skip
    assert fit.info["converged"] and small.index(True) == len(small) - 1 == fit.info["steps"] // 25 - 1
    with pytest.raises(RuntimeError, match="had not converged after 50 steps"):
        stanimport.advi(far, seed=3, iter=50, khat=False)


def test_draws_without_a_density_are_left_out_up_to_a_limit():
    half = stanimport.loads("""
parameters { real x; }
model { if (x < -1) reject("below"); x ~ normal(3, 1); }""", name="half")  # fmt: skip
    fit = stanimport.advi(half, inits={"x": 0.5}, **QUIET)
    assert fit.info["center"]["x"] == pytest.approx(3, abs=0.3)
    point = stanimport.loads('parameters { real x; } model { if (abs(x) > 1e-9) reject("off"); }', name="point")
    with pytest.raises(RuntimeError, match="can't be computed around the starting point"):
        stanimport.advi(point, inits={"x": 0.0}, **QUIET)
    with pytest.raises(RuntimeError, match="has no gradient at draws"):
        stanimport.advi(point, inits={"x": 0.0}, adapt_engaged=False, **QUIET)


@pytest.mark.parametrize(("options", "message"), [
    ({"algorithm": "lowrank"}, "algorithm must be one of meanfield, fullrank"),
    ({"eta": 0.5}, "give one of the two"), ({"elbo_samples": 0}, "elbo_samples must be at least 1"),
    ({"eta": -1.0, "adapt_engaged": False}, "eta must be between 0"), ({"tol_rel_obj": 0}, "tol_rel_obj must be"),
])  # fmt: skip
def test_wrong_options_are_named(far, options, message):
    with pytest.raises(OptionError, match=message):
        stanimport.advi(far, **options)


def test_variational_says_who_has_its_options(far):
    with pytest.raises(TypeError, match=r"no option 'elbo_samples': advi\(\) has it"):
        stanimport.variational(far, elbo_samples=10)
