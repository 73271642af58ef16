"""Optimization, Laplace, Pathfinder, variational inference and log_prob, against closed forms."""
import warnings

import numpy as np
import pytest
from conftest import FLIPS
from scipy import stats

import stanimport
from stanimport.inference import LogProb, options
from stanimport.inference.methods.optimization import ConvergenceWarning, _Slope

NORMAL = """
data { int N; vector[N] y; }
parameters { vector[2] mu; real<lower=0> sigma; }
model { mu ~ normal(0, 2); sigma ~ exponential(1); y ~ normal(mu[1] + 2 * mu[2], sigma); }
"""
Y = np.array([1.0, 2.5, 0.3, 1.9])
POINT = {"mu": [0.2, 0.4], "sigma": 1.5}


@pytest.fixture(scope="module")
def normal():
    return stanimport.loads(NORMAL, name="normal")


@pytest.fixture(scope="module")
def gaussian():
    """A posterior that is normal: mean (1, -2), covariance [[2, 0.8], [0.8, 1]]."""
    return stanimport.loads("""
transformed data { matrix[2, 2] S = [[2, 0.8], [0.8, 1]]; }
parameters { vector[2] x; }
model { x ~ multi_normal([1, -2]', S); }
generated quantities { real total = sum(x); }
""", name="gaussian")


def closed_form(mu, sigma):
    return (stats.norm(0, 2).logpdf(mu).sum() + stats.expon().logpdf(sigma)
            + stats.norm(mu[0] + 2 * mu[1], sigma).logpdf(Y).sum())  # fmt: skip


def test_log_prob_with_gradient_and_jacobian(normal):
    data = {"N": 4, "y": Y}
    at = LogProb(normal, data)
    with_jacobian, without = at(POINT), at(POINT, jacobian=False)
    mu, sigma = np.array(POINT["mu"]), POINT["sigma"]
    assert without.lp == pytest.approx(closed_form(mu, sigma), rel=1e-12)
    assert with_jacobian.lp - without.lp == pytest.approx(np.log(sigma))
    point, step = at.unconstrain(POINT), 1e-6
    np.testing.assert_allclose(point, [0.2, 0.4, np.log(1.5)])
    for i in range(3):
        up, down = (at.at(point + s * step * np.eye(3)[i], jacobian=False).lp for s in (1, -1))
        assert without.gradient[i] == pytest.approx((up - down) / (2 * step), rel=1e-6)
    np.testing.assert_allclose(at.constrain(point)["sigma"], 1.5)
    assert at.names == ["mu[1]", "mu[2]", "sigma"] and at.size == 3


def test_log_prob_of_a_uniform_declaration_adds_nothing():
    """`real<lower=0, upper=4>` is no `uniform(0, 4)`: only the statement adds its constant."""
    bare, stated = (stanimport.loads(f"parameters {{ real<lower=0, upper=4> x; }} model {{ {s} }}")
                    for s in ("", "x ~ uniform(0, 4);"))  # fmt: skip
    values = [stanimport.log_prob(m, params={"x": 1.0}, jacobian=False).lp for m in (bare, stated)]
    np.testing.assert_allclose(values, [0.0, -np.log(4)], atol=1e-14)


def test_wrong_points(normal):
    at = LogProb(normal, {"N": 4, "y": Y})
    for params, told in (({"mu": [1, 2]}, "lack parameter sigma"), (POINT | {"sigma": -1}, "outside its domain"),
                         (POINT | {"mu": 1}, "must have shape")):  # fmt: skip
        with pytest.raises(stanimport.StanDataError, match=told):
            at(params)
    with pytest.raises(ValueError, match="shape"):
        at.at([1.0])


@pytest.mark.parametrize("algorithm", ["lbfgs", "bfgs", "newton"])
def test_optimize(beta_module, algorithm):
    mode = stanimport.optimize(beta_module, FLIPS, seed=1, algorithm=algorithm)
    assert mode.converged and mode.stan_variable("theta") == pytest.approx(0.7, abs=1e-5)
    assert mode.optimized_params_dict["m[2,3]"] == pytest.approx(4.2, abs=1e-4)
    assert mode.stats["lp__"][0, 0] == pytest.approx(7 * np.log(0.7) + 3 * np.log(0.3))


def test_newton_finds_a_mode_at_kinks():
    """Gradients never vanish there, and derivatives beside a kink say nothing of it: differences across it do."""
    module = stanimport.loads("""
data { vector[3] y; }
parameters { vector[3] d; real m; }
model { d ~ double_exponential(0, 0.1); m ~ normal(0, 5); y ~ normal(m + d, 1); }
""")
    y = np.array([1.0, 1.5, 2.0])
    constant = -3 * np.log(0.2) - 2 * np.log(2 * np.pi) - np.log(5)

    def density(d, m):
        return constant - 10 * np.abs(d).sum() - m**2 / 50 - 0.5 * ((y - m - d) ** 2).sum()

    best = density(np.zeros(3), 4.5 / 3.04)  # where no d is worth what it costs
    for inits in (0, {"d": [0.5] * 3, "m": 0.5}, {"d": [0.5, -0.2, 0.01], "m": -3.0}):
        mode = stanimport.optimize(module, {"y": y}, algorithm="newton", inits=inits)
        d, m = mode.stan_variable("d"), mode.stan_variable("m")
        assert mode.converged and mode.stats["lp__"][0, 0] == pytest.approx(density(d, m), abs=1e-9)
        assert best - density(d, m) < 0.02


@pytest.mark.slow
def test_where_line_searches_stick_at_kinks_another_search_ends_at_the_mode():
    """Slopes that change at 10 points, with sharp priors: the mode has a known scale given the slopes, and these their
    conditions for an optimum with absolute values (Tibshirani 1996), which no smooth search meets."""
    module = stanimport.loads("""
data { int N; vector[N] y; int J; matrix[N, J] X; }
parameters { vector[J] d; real m; real<lower=0> s; }
model { d ~ double_exponential(0, 0.05); m ~ normal(0, 5); s ~ normal(0, 0.5); y ~ normal(m + X * d, s); }
""")
    t = np.linspace(0, 1, 60)
    X = np.maximum(t[:, None] - np.linspace(0, 0.8, 10), 0)
    data = {"N": 60, "J": 10, "X": X, "y": np.sin(6 * t)}
    found = []
    for seed in (1, 2, 3):
        mode = stanimport.optimize(module, data, inits=0.5, seed=seed)
        path = stanimport.optimize(module, data, inits=0.5, seed=seed, save_iterations=True)
        d, m, s = (mode.stan_variable(n) for n in ("d", "m", "s"))
        left = data["y"] - m - X @ d
        assert mode.converged and s == pytest.approx(scale_of(left), rel=1e-4)
        slopes = X.T @ left / s**2
        assert (np.abs(slopes) < 20 + 0.1).all()
        np.testing.assert_allclose(slopes[np.abs(d) > 1e-3], 20 * np.sign(d[np.abs(d) > 1e-3]), atol=0.1)
        found.append(mode.stats["lp__"][0, 0])
        assert path.draws(inc_warmup=True).shape[0] > 10 and path.stats["lp__"][0, 0] == found[-1]
    assert np.ptp(found) < 1e-4


def scale_of(left):
    """The most probable scale of residuals, with a prior that is half of normal(0, 0.5): a root of a quadratic."""
    n, total = len(left), left @ left
    return np.sqrt((-n + np.sqrt(n**2 + 16 * total)) / 8)


def test_newton_from_where_the_density_is_convex():
    """A normal law's exponent of a cauchy's tail: from far outside the Hessian is not negative definite."""
    module = stanimport.loads("parameters { vector[2] x; } model { x ~ cauchy([1, -2]', 1); x ~ normal(0, 100); }")
    mode = stanimport.optimize(module, algorithm="newton", inits={"x": [30.0, -40.0]}, seed=1)
    np.testing.assert_allclose(mode.stan_variable("x"), [1, -2], atol=1e-3)


def test_a_density_without_a_mode_does_not_converge():
    """The scale of a hierarchy runs to 0, where CmdStan's line search fails: it ends with an error for every start."""
    module = stanimport.loads(
        "data { int J; vector[J] y; vector[J] sigma; } parameters { real mu; real<lower=0> tau; vector[J] theta; } "
        "model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, sigma); }"
    )
    data = {"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]}
    for seed in (1, 2, 3):
        with pytest.raises(RuntimeError, match="did not converge"):
            stanimport.optimize(module, data, seed=seed)


def test_optimize_with_the_jacobian(beta_module):
    mode = stanimport.optimize(beta_module, FLIPS, seed=1, jacobian=True)
    assert mode.stan_variable("theta") == pytest.approx(8 / 12, abs=1e-5)


def test_an_optimization_that_does_not_converge(normal):
    with pytest.raises(RuntimeError, match="did not converge in 1 iterations"):
        stanimport.optimize(normal, {"N": 4, "y": Y}, seed=1, iter=1)
    with pytest.warns(ConvergenceWarning):
        assert not stanimport.optimize(normal, {"N": 4, "y": Y}, seed=1, iter=1, require_converged=False).converged


def is_the_gaussian(fit, tolerance=0.15):
    x = fit.stan_variable("x")
    np.testing.assert_allclose(x.mean(axis=0), [1, -2], atol=tolerance)
    np.testing.assert_allclose(np.cov(x.T), [[2, 0.8], [0.8, 1]], atol=2 * tolerance)
    np.testing.assert_allclose(fit.stan_variable("total"), x.sum(axis=1))


def test_laplace_is_exact_for_a_normal_posterior(gaussian):
    fit = stanimport.laplace_sample(gaussian, seed=1, draws=4000)
    is_the_gaussian(fit)
    difference = fit.stats["log_p__"] - fit.stats["log_q__"]
    assert np.abs(difference).max() < 1e-8 and fit.method == "laplace"
    np.testing.assert_allclose(fit.info["mode"], [1, -2], atol=1e-4)


def test_laplace_at_a_given_mode(gaussian):
    is_the_gaussian(stanimport.laplace_sample(gaussian, mode={"x": [1, -2]}, seed=1, draws=4000))


def test_a_given_mode_has_all_parameters():
    """The others would be somewhere: at zero on the unconstrained scale."""
    module = stanimport.loads("parameters { real a; real b; vector[0] none; } "
                              "model { a ~ normal(3, 1); b ~ normal(5, 1); }")
    with pytest.raises(stanimport.StanDataError, match="the values lack parameter b"):
        stanimport.laplace_sample(module, mode={"a": 3.0}, seed=1)
    fit = stanimport.laplace_sample(module, mode={"a": 3.0, "b": 5.0}, seed=1, draws=5)
    np.testing.assert_allclose(fit.info["mode"], [3, 5])


@pytest.mark.parametrize("point", [[1j, 0], ["a", 0], [None, 0]])
def test_points_that_are_none(point):
    density = LogProb(stanimport.loads("parameters { vector[2] x; } model { x ~ normal(0, 1); }"))
    for function in (density.at, density.constrain):
        with pytest.raises(options.OptionError, match="an unconstrained point must"):
            function(point)


def test_laplace_at_the_mode_of_other_data():
    """There the approximation is about a point that is no mode: 4 from it, which promises 8 for one observation."""
    module = stanimport.loads("data { real y; } parameters { real x; } model { target += std_normal_lpdf(y - x); }")
    mode = stanimport.optimize(module, {"y": 1.0}, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stanimport.laplace_sample(module, {"y": 1.0}, mode=mode, draws=5, seed=1)
        stanimport.laplace_sample(module, {"y": 1.1}, mode=mode, draws=5, seed=1)
    with pytest.warns(stanimport.StanWarning, match="the log density still rises by about 8"):
        stanimport.laplace_sample(module, {"y": 5.0}, mode=mode, draws=5, seed=1)


def test_laplace_where_there_is_no_mode():
    module = stanimport.loads("parameters { real<lower=0> x; } model { target += square(x); }")
    with pytest.raises(ValueError, match="not negative definite"):
        stanimport.laplace_sample(module, mode={"x": 1.0}, seed=1)


def test_pathfinder(gaussian):
    fit = stanimport.pathfinder(gaussian, seed=1, draws=2000)
    is_the_gaussian(fit, 0.25)
    assert fit.info["pareto_k"] < 0.7
    inits = fit.create_inits(seed=1, chains=3)
    assert len(inits) == 3 and inits[0]["x"].shape == (2,)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("algorithm", ["fullrank", "meanfield"])
def test_variational(gaussian, algorithm):
    fit = stanimport.variational(gaussian, seed=1, algorithm=algorithm, iter=2000, draws=2000)
    x = fit.stan_variable("x")
    assert fit.stats["log_q__"].shape == (1, 2000)  # the draws' density under the normal law that they come from
    fitted = stats.multivariate_normal(x.mean(axis=0), np.cov(x.T) * (1 if algorithm == "fullrank" else np.eye(2)))
    np.testing.assert_allclose(fit.stats["log_q__"][0], fitted.logpdf(x), atol=1.0)
    if algorithm == "fullrank":
        is_the_gaussian(fit)
        assert fit.info["elbo"][-1] == pytest.approx(0, abs=0.05)  # the evidence of a normalized density
    else:  # the diagonal law nearest in divergence has the conditional variances
        np.testing.assert_allclose(fit.stan_variable("x").var(axis=0), [2 - 0.64, 1 - 0.32], rtol=0.2)


def test_variational_with_a_guide_of_ones_own(gaussian):
    import numpyro
    from numpyro import distributions as dist

    def guide(**inputs):
        at = numpyro.param("at", np.zeros(2))
        numpyro.sample("x", dist.Normal(at, 0.1).to_event(1))

    fit = stanimport.variational(gaussian, seed=1, guide=guide, iter=1500)
    np.testing.assert_allclose(fit.info["params"]["at"], [1, -2], atol=0.1)
    assert fit.settings["algorithm"] == "guide" and fit.stan_variable("total").shape == (1000,)


@pytest.mark.parametrize("function", [stanimport.optimize, stanimport.laplace_sample, stanimport.pathfinder,
                                      stanimport.variational, stanimport.log_prob])  # fmt: skip
def test_unknown_options(function, gaussian):
    with pytest.raises(TypeError, match="has no option 'sead'"):
        function(gaussian, sead=1)


def test_a_program_without_a_guide_block_says_so(gaussian):
    with pytest.raises(ValueError, match="no guide block"):
        stanimport.variational(gaussian, algorithm="guide")


def test_a_relative_gradient_ends_an_optimization(gaussian):
    """What the next step promises: with the exact curvature it is twice what is left to gain, and so it nearly is."""
    start, eps = {"x": [20.0, 5.0]}, np.finfo(float).eps
    for algorithm in ("lbfgs", "bfgs"):
        whole = stanimport.optimize(gaussian, inits=start, algorithm=algorithm, save_iterations=True, seed=1)
        for limit in (1e-2, 1e-4):
            ended = stanimport.optimize(gaussian, inits=start, algorithm=algorithm, tol_rel_grad=limit / eps, seed=1)
            assert ended.converged and ended.info["iterations"] < whole.info["iterations"]
            left = float(whole.stats["lp__"][0, 0] - ended.stats["lp__"][0, 0])
            assert 0 < 2 * left < 10 * limit * max(1, abs(float(ended.stats["lp__"][0, 0])))
        np.testing.assert_allclose(whole.x, [1, -2], atol=1e-5)


def test_the_slope_is_that_of_the_inverse_hessian():
    """After steps along all axes of a quadratic L-BFGS knows its curvature."""
    curvature = np.array([1.0, 4.0, 25.0])

    def objective(x):
        return float(curvature @ x**2) / 2, curvature * x

    point = np.array([3.0, -2.0, 1.0])
    slope = _Slope(5, point, objective)
    for axis in range(3):
        point = point + 0.1 * np.eye(3)[axis]
        found = slope.at(point)
    assert found == pytest.approx(curvature @ point**2, rel=1e-12)


@pytest.mark.parametrize("algorithm", ["lbfgs", "bfgs"])
@pytest.mark.parametrize("density", ["exp(sum(a))", "dot_self(a)"])
def test_points_at_which_densities_are_not_finite_are_no_modes(density, algorithm):
    """Where the density overflows the objective has a gradient of zero, in which SciPy sees a mode, at NaN even."""
    module = stanimport.loads(f"parameters {{ vector[2] a; }} model {{ target += {density}; }}")
    with pytest.raises(RuntimeError, match="did not converge"):
        stanimport.optimize(module, seed=1, algorithm=algorithm)
