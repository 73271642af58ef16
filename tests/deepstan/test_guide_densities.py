"""Densities of guides and posteriors at the draws of a fit, the bound, and k-hat: against closed forms and SciPy."""
from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import ParetoWarning

BACKENDS = ["numpyro", "pyro"]
QUIET = {"seed": 1, "require_converged": False}
STEPS = {"numpyro": 1500, "pyro": 500}  # on Pyro each takes milliseconds


@pytest.fixture(params=BACKENDS)
def backend(request):
    if request.param == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    return request.param


def fitted(source, backend, data=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return stanimport.variational(stanimport.loads(source, backend=backend), data or {}, **QUIET | options)


LINE = """
    data { int N; vector[N] y; }
    parameters { real mu; real<lower=0> s; }
    model { mu ~ normal(0, 2); s ~ normal(0, 3); y ~ normal(mu, s); }
    guide parameters { real m; real<lower=0> t; real a; real<lower=0> b; }
    guide { mu ~ normal(m, t); s ~ lognormal(a, b); }
"""
Y = np.random.default_rng(1).normal(1, 2, 20)


@pytest.mark.sampled(4)
def test_densities_are_those_of_the_program_and_of_the_guide(backend):
    """On the unconstrained scale, with Stan's constants: `s ~ normal(0, 3)` is not divided by the half above zero."""
    fit = fitted(LINE, backend, {"N": 20, "y": Y}, iter=200, eta=0.1, draws=100)
    mu, s = fit.stan_variable("mu"), fit.stan_variable("s")
    log_p = stats.norm(mu[:, None], s[:, None]).logpdf(Y).sum(1) + stats.norm(0, 2).logpdf(mu)
    log_p += stats.norm(0, 3).logpdf(s) + np.log(s)
    p = fit.info["params"]
    log_q = stats.norm(p["m"], p["t"]).logpdf(mu) + stats.norm(p["a"], p["b"]).logpdf(np.log(s))
    np.testing.assert_allclose(fit.stats["log_p__"][0], log_p, rtol=1e-10)
    np.testing.assert_allclose(fit.stats["log_q__"][0], log_q, rtol=1e-10)
    np.testing.assert_array_equal(fit.stats["lp__"], fit.stats["log_p__"])
    ratios = log_p - log_q
    assert fit.info["elbo"][-1] == pytest.approx(ratios.mean(), abs=5 * ratios.std() / 10)
    from stanimport.inference.methods.importance import pareto_shape

    assert fit.info["pareto_k"] == pytest.approx(pareto_shape(ratios))


@pytest.mark.slow
@pytest.mark.optimised  # hundreds of steps
@pytest.mark.parametrize("backend", ["numpyro", pytest.param("pyro", marks=pytest.mark.slow)], indirect=True)
def test_the_bound_of_a_guide_is_that_of_the_automatic_guide_of_the_same_family(backend):
    """Of normal, half-normal and uniform priors; batches have the same bound."""
    source = """
        data { int N; vector[N] y; }
        parameters { real mu; real<lower=0> s; vector<lower=-1, upper=2>[3] w; }
        model { mu ~ normal(0, 2); s ~ normal(0, 3); y ~ normal(mu, s); }
        guide parameters { real m; real<lower=0> t; }
        guide { mu ~ normal(m, t); }
    """
    options = {"iter": 600, "eta": 0.2, "draws": 50}
    fits = [fitted(source, backend, {"N": 20, "y": Y}, algorithm=a, **options) for a in ("guide", "meanfield")]
    bounds = [f.info["elbo"][-3:].mean() for f in fits]
    assert bounds[0] == pytest.approx(bounds[1], abs=0.5)  # without half and volume there are log 2 and 3 log 3 between
    batches = fitted(source, backend, {"N": 20, "y": Y}, algorithm="guide", minibatch={"N": 20}, **options)
    assert batches.info["elbo"][-3:].mean() == pytest.approx(bounds[1], abs=0.5)


@pytest.mark.sampled(4)
def test_a_guide_that_holds_the_posterior_has_the_evidence_as_its_bound(backend):
    y, source = np.array([0.5, -1.0, 2.0]), """
        data { vector[3] y; }
        parameters { vector[2] b; }
        model { b ~ normal(0, 1); y ~ normal(b[1] + b[2], 1); }
        guide parameters { vector[2] m; cholesky_factor_cov[2] L; }
        guide { b ~ multi_normal_cholesky(m, L); }
    """
    fit = fitted(source, backend, {"y": y}, iter=STEPS[backend], eta=0.1, draws=100)
    evidence = stats.multivariate_normal(np.zeros(3), np.eye(3) + 2).logpdf(y)
    ratios = (fit.stats["log_p__"] - fit.stats["log_q__"])[0]
    assert ratios.std() < 0.2
    assert ratios.mean() == pytest.approx(evidence, abs=0.05)
    assert fit.info["pareto_k"] < 0.7


@pytest.mark.sampled(2)
def test_a_guide_far_from_the_posterior_warns(backend):
    source = """
        parameters { vector[10] x; } model { x ~ student_t(1, 0, 1); }
        guide parameters { real m; } guide { x ~ normal(m, 0.2); }
    """
    with pytest.warns(ParetoWarning, match="k-hat"):
        fit = stanimport.variational(stanimport.loads(source, backend=backend), iter=200, **QUIET)
    assert fit.info["pareto_k"] > 0.7
    with warnings.catch_warnings():
        warnings.simplefilter("error", ParetoWarning)
        quiet = stanimport.variational(stanimport.loads(source, backend=backend), iter=200, khat=False, **QUIET)
    assert "pareto_k" not in quiet.info and "log_q__" not in quiet.stats


LOG_TWO_PI = math.log(2 * math.pi)
DOMAINS = {  # a parameter that the guide leaves out, its law, and the log of the integral of Stan's density
    "unit vector": ("unit_vector[3] z;", "", 1.5 * LOG_TWO_PI),
    "ordered": ("ordered[2] z;", "z ~ normal(0, 1);", -math.log(2)),
    "sum to zero": ("sum_to_zero_vector[4] z;", "z ~ normal(0, 1);", -0.5 * LOG_TWO_PI),
    "complex": ("complex z;", "get_real(z) ~ normal(1, 2); get_imag(z) ~ normal(0, 1);", 0.0),
    "tuple": ("tuple(real, vector[2]) z;", "z.1 ~ normal(1, 2); z.2 ~ normal(0, 1);", 0.0),
    "interval": ("vector<lower=-1, upper=2>[3] z;", "", 3 * math.log(3)),
    "factor": ("cholesky_factor_corr[2] z;", "z ~ lkj_corr_cholesky(2);", 0.0),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_evidence_of_every_domain(backend, domain):
    """By importance sampling with the draws of a guide; its bound is at most that."""
    declared, law, exact = DOMAINS[domain]
    source = f"""
        parameters {{ {declared} real b; }} model {{ {law} b ~ normal(0, 1); }}
        guide parameters {{ real m; }} guide {{ b ~ normal(m, 1); }}
    """
    fit = fitted(source, backend, iter=150, eta=0.2, draws=200)
    ratios = (fit.stats["log_p__"] - fit.stats["log_q__"])[0]
    assert math.log(np.exp(ratios - exact).mean()) == pytest.approx(0, abs=0.25)
    assert exact - 0.7 < fit.info["elbo"][-1] < exact + 0.15


def test_draws_of_a_truncated_law_whose_bound_moves_have_exact_derivatives():
    """Those of the score alone leave out that the bound moves: Pyro's bound fell with every step."""
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
    pyro = pytest.importorskip("pyro", reason="the pyro extra is not installed")
    from pyro.infer import Trace_ELBO

    module = stanimport.loads("""
        parameters { real a; real<lower=a> b; real<lower=a - 3, upper=b> c; }
        model { a ~ normal(0, 1); b ~ normal(0, 1); c ~ normal(0, 2); }
        guide parameters { real m; real<lower=0> s; }
        guide { a ~ normal(m, s); b ~ normal(m, s) T[a, ]; c ~ logistic(m, s) T[a - 3, b]; }
    """, backend="pyro", name="moving")  # fmt: skip

    def loss():
        torch.manual_seed(5)
        return Trace_ELBO(num_particles=5).differentiable_loss(module.model, module.guide)

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with pyro.get_param_store().scope():
            loss()
            leaves = list(pyro.get_param_store()._params.values())
            slopes = torch.autograd.grad(loss(), leaves)
            for leaf, slope in zip(leaves, slopes):
                differences = []
                for step in (1e-4, -1e-4):
                    leaf.data += step
                    differences.append(loss().item())
                    leaf.data -= step
                assert slope.item() == pytest.approx((differences[0] - differences[1]) / 2e-4, rel=1e-5)
    finally:
        torch.set_default_dtype(before)


@pytest.mark.slow
@pytest.mark.sampled(2)
def test_a_guide_with_a_network_is_compared_with_the_posterior_of_trained_weights(backend):
    if backend == "pyro":
        torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
        torch.manual_seed(1)
        net = torch.nn.Linear(2, 2)
    else:
        nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
        net = nnx.Linear(2, 2, rngs=nnx.Rngs(1))
    source = """
        networks { vector f(vector x); }
        data { vector[2] y; }
        parameters { vector[2] z; }
        model { z ~ normal(0, 1); y ~ normal(z, 0.5); }
        guide parameters { real<lower=0> s; }
        guide { z ~ normal(f(y), s); }
    """
    y = np.array([0.5, -1.0])
    fit = fitted(source, backend, {"y": y}, iter=STEPS[backend], eta=0.2, draws=200, networks={"f": net})
    evidence = stats.norm(0, math.sqrt(1.25)).logpdf(y).sum()
    ratios = (fit.stats["log_p__"] - fit.stats["log_q__"])[0]
    assert ratios.std() < 0.2 and ratios.mean() == pytest.approx(evidence, abs=0.05)
    assert fit.info["pareto_k"] < 0.7


def guides_of(backend, module):
    """Functions that are no guide of the program: one with a site beside, one of points, one that leaves out a site."""
    if backend == "pyro":
        import pyro
        import pyro.distributions as dist
        import torch as xp
        from pyro.infer.autoguide import AutoDelta, AutoNormal

        one, names = xp.ones(()), (pyro.sample, pyro.param)
    else:
        import jax.numpy as xp
        import numpyro
        import numpyro.distributions as dist
        from numpyro.infer.autoguide import AutoDelta, AutoNormal

        one, names = xp.ones(()), (numpyro.sample, numpyro.param)
    sample, param = names

    def beside(**data):
        z = sample("extra", dist.Normal(0.0, one), infer={"is_auxiliary": True})
        sample("mu", dist.Normal(param("m", 0.0 * one) + z, one))
        sample("s", dist.LogNormal(0.0 * one, one))

    def partly(**data):
        sample("mu", dist.Normal(param("m", 0.0 * one), one))

    return {"beside": beside, "partly": partly, "points": AutoDelta(module.model), "normal": AutoNormal(module.model)}


@pytest.mark.slow
@pytest.mark.parametrize("minibatch", [None, {"N": 20}])
def test_guides_whose_density_is_not_known_have_no_k_hat(backend, minibatch):
    module = stanimport.loads(LINE, backend=backend)
    guides = guides_of(backend, module)
    options = {"algorithm": "guide", "iter": 50, "eta": 0.05, "draws": 100, "minibatch": minibatch, **QUIET}
    data = {"N": 20, "y": Y}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("beside", "points"):
            fit = stanimport.variational(module, data, guide=guides[name], **options)
            assert math.isnan(fit.info["pareto_k"])
        fit = stanimport.variational(module, data, guide=guides["normal"], **options)
        assert math.isfinite(fit.info["pareto_k"])
        if minibatch is None:
            with pytest.raises(stanimport.StanError, match="the guide samples no s: a guide draws every parameter"):
                stanimport.variational(module, data, guide=guides["partly"], **options)
