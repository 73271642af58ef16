"""Simulation-based calibration, and refits without each group, beside closed forms."""
from __future__ import annotations

import numpy as np
import pytest
from conftest import MODELS
from scipy import stats

import stanimport
from stanimport.inference.options import OptionError
from stanimport.inference.studies import calibration

SCHOOLS = """data { int N; int G; array[N] int<lower=1, upper=G> g; vector[N] y; }
  parameters { real mu; vector[G] a; }
  model { mu ~ normal(0, 1); a ~ normal(mu, 1); y ~ normal(a[g], 0.5); }"""
G = np.repeat([1, 2, 3], [3, 3, 2])
Y = np.random.default_rng(1).normal([0.5, 1.5, -1], 0.5, (3, 3)).T.ravel()[: len(G)]


def test_ranks_of_what_data_were_simulated_from():
    coin = stanimport.load(MODELS / "coin.stan")
    made = stanimport.sbc(coin, {"flips": 15}, simulations=60, seed=3)
    assert made.names == ["bias"] and made.ranks.shape == (60, 1) and made.draws == 99 and not made.failures
    ranks = [(f.stan_variable("bias") < t).sum() for f, t in zip(made.fits, made.truths[:, 0])]
    np.testing.assert_array_equal(made.ranks[:, 0], ranks)
    assert made.pvalues()["bias"] > 1e-3 and made.counts().sum() == 60
    heads = [np.sum(f.data["heads"]) for f in made.fits]  # the data are those of the values: they go together
    assert np.corrcoef(heads, made.truths[:, 0])[0, 1] > 0.6
    exact = stats.beta(2 + np.array(heads), 2 + 15 - np.array(heads)).cdf(made.truths[:, 0])
    np.testing.assert_allclose(made.ranks[:, 0] / 99, exact, atol=0.25)
    assert "60 simulations" in repr(made)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model, message", [
    ("y ~ normal(m, 1); y ~ normal(m, 2);", "more than once"),
    ("for (n in 1:N) y[n] ~ normal(m + 0.1 * sum(y), 1);", "simulated depends on what is observed"),
    ("y ~ normal(m + t[1], 1);", "simulated depends on what is observed"),
    ("log(y) ~ normal(m, 1);", "observes an expression"), ("t ~ normal(m, 1);", "observes t, which is computed"),
])  # fmt: skip
def test_data_that_can_not_be_simulated(model, message):
    """Data that stay as they are given, or are drawn from those, fit by fit, would make any model look wrong."""
    program = stanimport.loads("data { int N; vector[N] y; } transformed data { vector[N] t = log(y); } "
                               "parameters { real m; } model { m ~ normal(0, 1); " + model + " }")  # fmt: skip
    with pytest.raises(stanimport.StanError, match=message):
        stanimport.sbc(program, {"N": 3, "y": [1.0, 2.0, 3.0]}, simulations=2, seed=1)


@pytest.mark.slow
def test_components_that_are_fixed_have_no_ranks():
    program = stanimport.loads("data { int N; vector[N] y; } parameters { cholesky_factor_corr[2] l; } "
                               "model { l ~ lkj_corr_cholesky(2); y ~ normal(l[2, 1], 1); }")  # fmt: skip
    assert stanimport.sbc(program, {"N": 3}, simulations=8, seed=1).names == ["l[2,1]", "l[2,2]"]


def test_ranks_that_are_not_uniform():
    made = calibration.Calibration(["a", "b"], np.array([[k % 100, k % 30] for k in range(300)]), 99,
                                   np.zeros((300, 2)), [])  # fmt: skip
    found = made.pvalues()
    assert found["a"] == pytest.approx(1) and found["b"] < 1e-10
    np.testing.assert_array_equal(made.counts(5)[1], [200, 100, 0, 0, 0])
    uneven = calibration.Calibration(["a"], np.arange(7)[:, None], 6, np.zeros((7, 1)), [])
    assert uneven.pvalues(3)["a"] == pytest.approx(1) and uneven.counts(3).tolist() == [[3, 2, 2]]


def test_plots(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    pytest.importorskip("arviz", reason="ArviZ is not installed")
    matplotlib.use("Agg")
    made = calibration.Calibration(["a", "b[1]"], np.random.default_rng(1).integers(0, 100, (50, 2)), 99,
                                   np.zeros((50, 2)), [])  # fmt: skip
    assert [ax.get_title() for ax in made.plot()] == ["a", "b[1]"]
    with pytest.raises(ValueError, match="no parameter 'c'"):
        made.plot(["c"])


def predictive(group):
    """The log density of a group's rows given the others, of a normal law."""
    same = G[:, None] == G[None]
    covariance = 1 + same + 0.25 * np.eye(len(G))
    kept, gone = G != group, G == group
    gain = covariance[np.ix_(gone, kept)] @ np.linalg.inv(covariance[np.ix_(kept, kept)])
    rest = covariance[np.ix_(gone, gone)] - gain @ covariance[np.ix_(kept, gone)]
    return stats.multivariate_normal(gain @ Y[kept], rest).logpdf(Y[gone])


@pytest.mark.slow
def test_refits_without_each_group():
    program = stanimport.loads(SCHOOLS)
    data = {"N": len(G), "G": 3, "g": G, "y": Y}
    made = stanimport.leave_groups_out(program, data, "g", seed=2,
                                       sampling=dict(chains=2, iter_warmup=300, iter_sampling=1500))  # fmt: skip
    assert list(made.by_group) == [1, 2, 3] and [f.data["N"] for f in made.fits.values()] == [5, 5, 6]
    for group, found in made.by_group.items():
        assert found == pytest.approx(predictive(group), abs=0.25)
    assert made.elpd == pytest.approx(sum(made.by_group.values()))
    assert made.se == pytest.approx(np.sqrt(3) * np.std(list(made.by_group.values()), ddof=1))
    for wrong, message in ((dict(groups="y2"), "no data with one number"), (dict(groups=G, size="H"), "no integer"),
                           (dict(groups=G), "name the data that count rows, of N, G"),
                           (dict(groups=np.ones(8), size="N"), "one group only")):  # fmt: skip
        with pytest.raises(OptionError, match=message):
            stanimport.leave_groups_out(program, data, **wrong)
    with pytest.raises(stanimport.StanDataError, match="one number is needed for each of 8 rows"):
        stanimport.leave_groups_out(program, data, G[:3], size="N")


def test_parameters_of_rows_can_not_be_left_out():
    program = stanimport.loads("data { int N; array[N] int g; vector[N] y; } parameters { vector[N] a; } "
                               "model { a ~ std_normal(); y ~ normal(a, 1); }")  # fmt: skip
    with pytest.raises(stanimport.StanError, match="size of a depends on N"):
        stanimport.leave_groups_out(program, {"N": 8, "g": G, "y": Y}, "g", seed=1,
                                    sampling=dict(chains=1, iter_warmup=50, iter_sampling=50))  # fmt: skip


ROWS = "data { int N; array[N] int g; vector[N] y; vector[N] x; } "
SHORT = dict(chains=1, iter_warmup=100, iter_sampling=400)
X = np.array([0.0, 1, 2, 10, 11, 12, 3, 4])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, text", [
    ("c", "transformed data { vector[N] c = x - mean(x); } parameters { real a; } model { y ~ normal(a + c, 1); }"),
    ("M", "transformed data { int M = N - 1; } parameters { real a; } model { y[1:M] ~ normal(a, 1); }"),
])  # fmt: skip
def test_transformed_data_of_rows_that_are_left_out(name, text):
    program = stanimport.loads(ROWS + text)
    with pytest.raises(stanimport.StanError, match=f"transformed data {name} depend on which rows"):
        stanimport.leave_groups_out(program, dict(N=8, g=G, y=Y, x=X), "g", seed=1, sampling=SHORT)


def test_rows_are_predicted_by_what_was_computed_of_the_others():
    """The mean of the other rows' predictor, where the model uses it, beside the closed form of normal laws."""
    program = stanimport.loads(ROWS + "transformed data { real m = mean(x); vector[N] h = x / 2; } "
                               "parameters { real a; } "
                               "model { a ~ normal(0, 1); y ~ normal(a + 0.1 * (2 * h - m), 1); }")  # fmt: skip
    made = stanimport.leave_groups_out(program, dict(N=8, g=G, y=Y, x=X), "g", seed=1,
                                       sampling={**SHORT, "iter_sampling": 3000})  # fmt: skip
    for group, found in made.by_group.items():
        kept, gone = G != group, G == group
        rest = Y - 0.1 * (X - X[kept].mean())
        variance = 1 / (1 + kept.sum())
        law = stats.multivariate_normal(np.full(gone.sum(), variance * rest[kept].sum()), np.eye(gone.sum()) + variance)
        assert found == pytest.approx(law.logpdf(rest[gone]), abs=0.1)


def test_terms_of_rows_that_can_not_be_told_apart():
    program = stanimport.loads(ROWS + "parameters { real a; } model { a ~ normal(0, 1); y ~ normal(a, 1); "
                               "target += -0.1 * dot_self(y - a); }")  # fmt: skip
    with pytest.raises(stanimport.StanError, match="terms of rows, which can't be told apart"):
        stanimport.leave_groups_out(program, dict(N=8, g=G, y=Y, x=X), "g", seed=1, sampling=SHORT)
