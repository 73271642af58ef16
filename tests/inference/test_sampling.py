"""Sampling: known posteriors, options, seeds, random quantities."""
import jax
import numpy as np
import pytest
from conftest import FLIPS, QUICK
from scipy import stats

import stanimport

SHORT = QUICK | dict(iter_warmup=100, iter_sampling=100)


def test_a_known_posterior(beta_fit):
    theta = beta_fit.stan_variable("theta")
    assert theta.shape == (1000,) and theta.dtype == np.float64
    known = stats.beta(8, 4)
    assert theta.mean() == pytest.approx(known.mean(), abs=0.025)
    assert theta.std() == pytest.approx(known.std(), rel=0.15)
    assert beta_fit.diagnose().divergent == 0 and beta_fit.interrupted is False


def test_lp_is_the_density_of_the_unconstrained_draw(beta_fit):
    theta, lp = beta_fit.variables["theta"], beta_fit.stats["lp__"]
    np.testing.assert_allclose(lp, 8 * np.log(theta) + 4 * np.log1p(-theta), rtol=1e-12)  # 7, 3 and the Jacobian


def test_every_draw_has_random_numbers_of_its_own(beta_fit):
    noise = beta_fit.stan_variable("noise")
    assert len(np.unique(noise)) == len(noise)
    assert stats.kstest(noise, "norm").pvalue > 1e-4


@pytest.mark.sampled(16)
@pytest.mark.parametrize("options", [
    dict(chain_method="vectorized"), dict(chain_method="sequential"), dict(metric="dense_e"), dict(metric="unit_e"),
    dict(metric={"inv_metric": [[0.5]]}), dict(method="blackjax"), dict(step_size=0.5, adapt_engaged=False),
    dict(inits="pathfinder"),
    *(pytest.param(o, marks=pytest.mark.slow)
      for o in (dict(metric=[0.5]), dict(adapt_delta=0.95), dict(inits={"theta": 0.3}), dict(inits=0.1))),
], ids=str)  # fmt: skip
def test_options_leave_the_posterior_as_it_is(beta_module, options):
    fit = stanimport.sample(beta_module, FLIPS, **QUICK | options)
    assert fit.stan_variable("theta").mean() == pytest.approx(8 / 12, abs=0.03)


def test_nutpies_sampler(beta_module):
    pytest.importorskip("nutpie", reason="nutpie is not installed")
    options = QUICK | dict(method="nutpie", inits=[{"theta": 0.5}, {"theta": 0.6}])
    fit, again = (stanimport.sample(beta_module, FLIPS, **options) for _ in range(2))
    assert fit.stan_variable("theta").mean() == pytest.approx(8 / 12, abs=0.03)
    np.testing.assert_array_equal(fit.variables["theta"], again.variables["theta"])
    assert fit.stats["n_leapfrog__"].shape == (2, 500) and np.all(np.isfinite(fit.stats["lp__"]))
    with pytest.raises(stanimport.inference.options.OptionError, match="dense_e"):
        stanimport.sample(beta_module, FLIPS, **options | dict(metric="dense_e"))


def test_seeds_reproduce_on_any_number_of_threads(beta_module, beta_fit):
    again = stanimport.sample(beta_module, FLIPS, parallel_chains=1, **QUICK)
    other = stanimport.sample(beta_module, FLIPS, **QUICK | dict(seed=8))
    for name, value in beta_fit.variables.items():
        np.testing.assert_array_equal(again.variables[name], value)
    assert not np.array_equal(other.variables["theta"], beta_fit.variables["theta"])
    assert beta_fit.seed == 7


def test_the_callers_precision_stays(beta_module):
    before = jax.config.jax_enable_x64
    stanimport.log_prob(beta_module, FLIPS, params={"theta": 0.5})
    assert jax.config.jax_enable_x64 == before and jax.numpy.ones(1).dtype == np.float32


def test_thinning_and_saved_warmup(beta_module):
    fit = stanimport.sample(beta_module, FLIPS, **SHORT | dict(thin=3, save_warmup=True))
    assert fit.draws().shape[:2] == (34, 2) and fit.draws(inc_warmup=True).shape[:2] == (68, 2)
    whole = stanimport.sample(beta_module, FLIPS, **SHORT)
    np.testing.assert_array_equal(fit.variables["theta"], whole.variables["theta"][:, ::3])
    with pytest.raises(ValueError, match="save_warmup"):
        whole.draws(inc_warmup=True)


def test_a_program_without_parameters():
    module = stanimport.loads("generated quantities { real z = normal_rng(3, 2); }")
    z = stanimport.sample(module, seed=1, chains=2, iter_sampling=2000).stan_variable("z")
    assert stats.kstest(z, stats.norm(3, 2).cdf).pvalue > 1e-4


def test_sizes_that_depend_on_random_numbers():
    module = stanimport.loads("""
parameters { real mu; }
model { mu ~ normal(0, 1); }
generated quantities { real total = sum(rep_vector(2, 1 + poisson_rng(3))); }
""")
    fit = stanimport.sample(module, **SHORT | dict(chains=1, iter_sampling=60))
    total = fit.stan_variable("total")
    assert set(total % 2) == {0.0} and len(set(total)) > 2


def test_data_dependent_transformed_data_reproduce():
    module = stanimport.loads("""
transformed data { real s = normal_rng(0, 1); }
parameters { real mu; } model { mu ~ normal(s, 1); } generated quantities { real t = s; }
""")
    fixed = SHORT | dict(fixed_param=True)
    values = {stanimport.sample(module, **fixed | dict(seed=s)).stan_variable("t")[0] for s in (1, 1, 2)}
    assert len(values) == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_chains_have_the_same_random_transformed_data(backend, fixed):
    if backend == "pyro":
        pytest.importorskip("pyro")
    module = stanimport.loads("""
transformed data { real s = normal_rng(0, 100); }
parameters { real mu; } model { s ~ normal(mu, 0.1); } generated quantities { real t = s; real z = normal_rng(s, 1); }
""", backend=backend)
    options = dict(chains=3, iter_warmup=30, iter_sampling=10, fixed_param=fixed, inits={"mu": 0.0})
    drawn = [stanimport.sample(module, seed=seed, **options) for seed in (1, 1, 2)]
    simulated = [set(fit.stan_variable("t")) for fit in drawn]
    assert [len(t) for t in simulated] == [1, 1, 1] and simulated[0] == simulated[1] != simulated[2]
    assert drawn[0].data["s"] == simulated[0].pop() and len(set(drawn[0].stan_variable("z"))) == 30


def test_dependent_bounds_report_what_was_sampled():
    """beta given alpha is uniform on (0, 1 - alpha): its mean is (1 - alpha) / 2."""
    module = stanimport.loads("""
parameters { real<lower=0, upper=1> alpha; real<lower=0, upper=1 - alpha> beta; }
model { target += -log1m(alpha); }
""")
    fit = stanimport.sample(module, seed=2, chains=2, iter_warmup=300, iter_sampling=1000)
    alpha, beta = fit.stan_variable("alpha"), fit.stan_variable("beta")
    assert (alpha + beta < 1).all() and (beta / (1 - alpha)).mean() == pytest.approx(0.5, abs=0.03)
