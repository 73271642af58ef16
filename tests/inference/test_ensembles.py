"""ChEES and MEADS: their law on closed forms, what a fit of them holds, and what they refuse."""
import builtins

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference.options import OptionError
from stanlib.errors import MissingLibraryError

pytest.importorskip("blackjax")
COVARIANCE = np.array([[4.0, 1.5, 0.0], [1.5, 1.0, 0.3], [0.0, 0.3, 0.25]])
MEAN = [1.0, -2.0, 3.0]
PROGRAM = """
data { matrix[3, 3] S; }
parameters { vector[3] x; real<lower=0, upper=1> p; }
model { x ~ multi_normal([1, -2, 3]', S); p ~ beta(8, 4); }
"""
SHORT = dict(seed=1, chains=64)
EACH = {"chees": dict(iter_warmup=300, iter_sampling=60),
        "meads": dict(iter_warmup=2000, iter_sampling=2000, thin=40)}  # fmt: skip


@pytest.fixture(scope="module")
def normal():
    return stanimport.loads(PROGRAM, name="normal"), {"S": COVARIANCE}


@pytest.fixture(scope="module", params=["chees", "meads"])
def fit(request, normal):
    return stanimport.sample(*normal, method=request.param, **SHORT, **EACH[request.param])


@pytest.mark.slow
@pytest.mark.sampled(2)
def test_moments_and_laws(fit):
    x, p = fit.stan_variable("x"), fit.stan_variable("p")
    np.testing.assert_allclose(x.mean(axis=0), MEAN, atol=0.15)
    np.testing.assert_allclose(np.cov(x.T), COVARIANCE, rtol=0.15, atol=0.08)
    last = fit.variables["x"][:, -1], fit.variables["p"][:, -1]  # independent, if the chains are
    squares = np.einsum("ni,ij,nj->n", last[0] - MEAN, np.linalg.inv(COVARIANCE), last[0] - MEAN)
    assert stats.kstest(squares, stats.chi2(3).cdf).pvalue > 1e-3
    assert stats.kstest(last[1], stats.beta(8, 4).cdf).pvalue > 1e-3
    assert abs(p.mean() - 2 / 3) < 0.01 and abs(p.std() - stats.beta(8, 4).std()) < 0.01


@pytest.mark.sampled(2)
def test_what_a_fit_holds(fit):
    method = fit.settings["method"]
    kept = {"chees": 60, "meads": 50}[method]
    assert fit.variables["x"].shape == (64, kept, 3) and fit.stats["lp__"].shape == (64, kept)
    names = ["lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"]
    assert list(fit.stats) == (names if method == "chees" else names[:-1])
    assert fit.step_size.shape == (64,) and fit.metric.shape == (64, 4) and fit.divergences.sum() == 0
    depths = np.floor(np.log2(fit.stats["n_leapfrog__"])) + 1
    np.testing.assert_array_equal(fit.stats["treedepth__"], depths)
    assert 0.5 < fit.stats["accept_stat__"].mean() < 1 and fit.diagnose().transitions == 64 * kept
    assert (fit.stats["n_leapfrog__"].max() == 1) == (method == "meads")


def test_energies_are_those_of_the_states(fit):
    """Without the potential they are half of a chi-square(4): of the momenta."""
    if fit.settings["method"] == "chees":
        kinetic = fit.stats["energy__"] + fit.stats["lp__"]
        assert kinetic.min() > 0 and abs(kinetic.mean() - 2) < 0.15


@pytest.mark.sampled(2)
def test_a_seed_gives_the_same_draws(fit, normal):
    method = fit.settings["method"]
    again = stanimport.sample(*normal, method=method, **SHORT, **EACH[method])
    np.testing.assert_array_equal(again.variables["x"], fit.variables["x"])
    assert len(np.unique(fit.variables["p"])) > 0.4 * fit.variables["p"].size


@pytest.mark.parametrize("method, options, message", [
    ("chees", dict(chains=4), "learns from many chains: at least 8, and better 64 or more; there are 4"),
    ("meads", dict(chains=30), "a multiple of 4"), ("chees", dict(metric="dense_e"), "does not take metric='dense_e'"),
    ("meads", dict(metric="low_rank"), "does not take metric='low_rank'"),
    ("meads", dict(metric="unit_e"), "does not take metric='unit_e'"), ("chees", dict(metric=np.ones(4)), "metric"),
    ("meads", dict(adapt_delta=0.9), "does not take adapt_delta"), ("meads", dict(step_size=0.1), "step_size"),
    ("chees", dict(save_warmup=True), "save_warmup"), ("chees", dict(iter_warmup=0), "iterations of warm-up"),
    ("chees", dict(chain_method="sequential"), "chain_method"), ("meads", dict(journal="nowhere"), "journal"),
    ("chees", dict(adapt_engaged=False), "adapt_engaged"),
])  # fmt: skip
def test_what_they_do_not_have_is_refused(normal, method, options, message):
    with pytest.raises(OptionError, match=message):
        stanimport.sample(*normal, method=method, **{"chains": 16, **options})


def test_without_blackjax(normal, monkeypatch):
    real = builtins.__import__

    def missing(name, *arguments, **options):
        if name == "blackjax":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingLibraryError, match="method='meads' needs BlackJAX"):
        stanimport.sample(*normal, method="meads", chains=16)
