"""Convergence statistics against ArviZ's, and known effective sample sizes."""
import tempfile

import arviz
import numpy as np
import pytest

import stanimport
from stanimport.inference.fits import cross_validation, diagnosis, statistics, summary

TAILS = (0.05, 0.95)  # of which Stan takes the smaller size; versions of ArviZ differ


@pytest.fixture(scope="module")
def draws():
    """White noise, autocorrelated and antithetic chains, one chain shifted, one wider, and rounded numbers."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 501, 6))
    for t in range(1, x.shape[1]):
        x[:, t, 1] += 0.8 * x[:, t - 1, 1]
        x[:, t, 2] -= 0.5 * x[:, t - 1, 2]
    x[0, :, 3] += 0.5
    x[0, :, 4] *= 2
    x[:, :, 5] = np.round(x[:, :, 5])
    return x


@pytest.mark.parametrize("mine, theirs", [
    (statistics.ess_bulk, lambda x: arviz.ess(x, method="bulk")),
    (statistics.ess_tail, lambda x: arviz.ess(x, method="tail", prob=TAILS)),
    (statistics.ess_mean, lambda x: arviz.ess(x, method="mean")),
    (statistics.mcse_mean, lambda x: arviz.mcse(x, method="mean")),
    (statistics.rhat, lambda x: arviz.rhat(x, method="rank")),
])  # fmt: skip
def test_as_arviz(draws, mine, theirs):
    expected = [float(theirs(draws[:, :, j])) for j in range(draws.shape[2])]
    np.testing.assert_allclose(mine(draws), expected, rtol=0.02)


@pytest.mark.parametrize("phi", [-0.99, -0.9, -0.7])
@pytest.mark.parametrize("length", [50, 81, 1000])
def test_effective_sample_sizes_of_antithetic_chains(phi, length):
    """They are positive, and at most the number of draws times its logarithm, also where the estimate is negative."""
    rng = np.random.default_rng(length)
    x = rng.normal(size=(2, length, 40))
    for t in range(1, length):
        x[:, t] += phi * x[:, t - 1]
    for method, mine in (("bulk", statistics.ess_bulk), ("mean", statistics.ess_mean)):
        expected = [float(arviz.ess(x[:, :, j], method=method)) for j in range(x.shape[2])]
        found = mine(x)
        assert (found > 0).all()
        np.testing.assert_allclose(found, expected, rtol=0.05)
    assert np.isfinite(statistics.mcse_mean(x)).all()


@pytest.mark.filterwarnings("error")
def test_few_draws_have_no_statistics():
    for count in (1, 2, 3):
        values, sizes = statistics.rhat_and_ess_bulk(np.random.default_rng(0).normal(size=(2, count, 3)))
        assert np.isnan(values).all() and np.isnan(sizes).all()


@pytest.mark.filterwarnings("error")
def test_a_diagnosis_of_quantities_that_are_no_numbers():
    program = stanimport.loads("parameters { real x; } model { x ~ normal(0, 1); } generated quantities {"
                               "real a = positive_infinity() * x; real b = not_a_number(); real c = 1.0 / (x > 0); }")
    fit = stanimport.sample(program, seed=1, chains=2, iter_warmup=200, iter_sampling=100)
    told = fit.diagnose()
    assert {n: np.isnan(v) for n, v in told.high_rhat.items()} == {"a": True, "b": True, "c": True}
    assert cross_validation._efficiency(stanimport.from_csv(fit.save_csvfiles(tempfile.mkdtemp()))) > 0.1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # NumPy's of ArviZ's differences of infinities
def test_sizes_where_a_draw_is_no_number_as_arviz(draws, bad):
    """Ranks have one there, and what has no number has none; an infinite draw is the largest one."""
    given = draws[:, :, :1].copy()
    given[0, 17] = bad
    for method, mine in (("bulk", statistics.ess_bulk), ("tail", statistics.ess_tail), ("mean", statistics.ess_mean)):
        options = {"prob": TAILS} if method == "tail" else {}
        expected = float(arviz.ess(given[:, :, 0], method=method, **options)) if method != "mean" else np.nan
        np.testing.assert_allclose(mine(given), [expected], rtol=0.02)
    assert np.isnan(statistics.rhat(given)).all()


def test_ebfmi_as_arviz():
    energy = np.random.default_rng(0).normal(size=(3, 200)).cumsum(axis=1)
    np.testing.assert_allclose(statistics.ebfmi(energy), arviz.bfmi(energy), rtol=1e-2)


def test_effective_sample_size_of_an_autoregression():
    """For autocorrelation phi it is N (1 - phi) / (1 + phi)."""
    phi, rng = 0.6, np.random.default_rng(1)
    x = rng.normal(size=(4, 5000, 1))
    x[:, 0] /= np.sqrt(1 - phi**2)
    for t in range(1, x.shape[1]):
        x[:, t] += phi * x[:, t - 1]
    assert statistics.ess_mean(x)[0] == pytest.approx(20000 * (1 - phi) / (1 + phi), rel=0.1)


def test_what_does_not_vary_has_no_statistics():
    constant = np.ones((2, 100, 1))
    for f in (statistics.rhat, statistics.ess_bulk, statistics.ess_tail):
        assert np.isnan(f(constant)).all()


def test_a_diagnosis_takes_over_what_a_table_has(schools_fit, beta_fit, monkeypatch):
    monkeypatch.setattr(diagnosis, "MOST_RHAT", 0.0)  # so that all columns are told, with their values
    monkeypatch.setattr(diagnosis, "LEAST_ESS", 10**6)
    for fit in (schools_fit, beta_fit):
        alone, table = diagnosis.diagnose(fit), summary.table(fit)
        assert len(alone.high_rhat) > 5 and len(alone.low_ess) > 5
        with monkeypatch.context() as computed:
            computed.delattr(statistics, "rhat_and_ess_bulk")
            assert diagnosis.diagnose(fit, table) == alone
    twice = summary.Table(["lp__"] * len(table.names), {h: v * np.nan for h, v in table.columns.items()})
    assert diagnosis.diagnose(fit, twice) == alone
