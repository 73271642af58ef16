"""Draws of data whose laws depend on other observations, beside closed forms of their joint laws."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import ReplicationWarning

MADE = 4000
NORMAL = "data {{ int T; {} }} parameters {{ real m; }} model {{ m ~ normal(1, 0.5); {} }}"


def drawn(program, data, draws=MADE, seed=1):
    return stanimport.prior_predictive(stanimport.loads(program), data, draws=draws, seed=seed).stan_variables()


def is_law(values, cdf):
    assert stats.kstest(values.ravel(), cdf).pvalue > 1e-4


SERIES = {
    "a loop": "y[1] ~ normal(m, 1); for (t in 2:T) y[t] ~ normal(m + 0.5 * y[t - 1], 2);",
    "at once": "y[1] ~ normal(m, 1); y[2:T] ~ normal(m + 0.5 * y[1:(T - 1)], 2);",
    "what a loop carries": "real last = 2 * m - 2 * m; y[1] ~ normal(m, 1); last = 0.5 * y[1]; "
                           "for (t in 2:T) { y[t] ~ normal(m + last, 2); last = 0.5 * y[t]; }",
    "the last one first": "y[1] ~ normal(m, 1); for (k in 1:(T - 1)) { int t = T + 1 - k; "
                          "y[t] ~ normal(m + 0.5 * y[t - 1], 2); }",
    "in a function": "y[1] ~ normal(m, 1); for (t in 2:T) target += normal_lpdf(y[t] | m + 0.5 * y[t - 1], 2);",
}  # fmt: skip


@pytest.mark.parametrize("form", SERIES)
def test_errors_of_autoregressions_are_independent(form):
    program = NORMAL.format("vector[T] y;", SERIES[form])
    for data in ({"T": 6}, {"T": 6, "y": [90.0, -80, 70, 60, 50, 40]}):
        made = drawn(program, data)
        y = made["y"]
        errors = np.column_stack([y[:, 0] - made["m"], (y[:, 1:] - made["m"][:, None] - 0.5 * y[:, :-1]) / 2])
        is_law(errors, stats.norm.cdf)
        np.testing.assert_allclose(np.corrcoef(errors.T), np.eye(6), atol=4 / np.sqrt(MADE))


def test_first_values_of_a_series_are_those_of_the_data():
    program = NORMAL.format("vector[T] y;", "for (t in 3:T) y[t] ~ normal(10 + y[t - 2], 1);")
    with pytest.warns(ReplicationWarning, match="2 of the 5 numbers of y are those of the data"):
        y = drawn(program, {"T": 5, "y": [100.0, -100, 3, 2, 1]})["y"]
    assert (y[:, :2] == [100, -100]).all()
    np.testing.assert_allclose(y[:, 2:].mean(axis=0), [110, -90, 120], atol=0.1)
    np.testing.assert_allclose(y[:, 2:].var(axis=0), [1, 1, 2], rtol=0.1)
    with pytest.raises(stanimport.StanDataError, match="which must be among the data: statements observe only parts"):
        drawn(program, {"T": 5})


def test_chains_of_states_and_of_counts():
    program = """data { int T; array[T] int<lower=1, upper=3> z; array[T] int<lower=0> k; }
    parameters { array[3] simplex[3] A; real<lower=0, upper=1> b; }
    model { for (i in 1:3) A[i] ~ dirichlet([1, 2, 3]'); z[1] ~ categorical([0.2, 0.3, 0.5]'); k[1] ~ poisson(3);
            for (t in 2:T) { z[t] ~ categorical(A[z[t - 1]]); k[t] ~ poisson(z[t] + b * k[t - 1]); } }"""
    made = drawn(program, {"T": 5})
    z, k = made["z"], made["k"]
    assert z.dtype.kind == k.dtype.kind == "i"
    np.testing.assert_allclose(np.bincount(z[:, 0])[1:] / MADE, [0.2, 0.3, 0.5], atol=0.04)
    for t in range(1, 5):
        chance = made["A"][np.arange(MADE), z[:, t - 1] - 1]
        expected = chance.sum(axis=0)
        counted = np.bincount(z[:, t], minlength=4)[1:]
        assert (np.abs(counted - expected) < 5 * np.sqrt((chance * (1 - chance)).sum(axis=0))).all()
        rate = z[:, t] + made["b"] * k[:, t - 1]
        error = (k[:, t] - rate) / np.sqrt(rate)
        assert abs(error.mean()) < 5 / np.sqrt(MADE) and error.var() == pytest.approx(1, abs=0.15)


def test_choices_of_one_who_learns():
    """What is learned of each choice is carried along: a chosen option is chosen again the more, the faster it is."""
    program = """data { int T; array[T] int<lower=1, upper=2> y; vector[T] r; } parameters { real<lower=0, upper=1> a; }
    model { vector[2] v = rep_vector(0, 2);
            for (t in 1:T) { y[t] ~ categorical_logit(3 * v); v[y[t]] += a * (r[t] - v[y[t]]); } }"""
    made = drawn(program, {"T": 3, "r": [1.0, 1, 1]})
    y, a = made["y"], made["a"]
    values = np.zeros((MADE, 2))
    for t in range(3):
        chance = 1 / (1 + np.exp(3 * (values[:, 0] - values[:, 1])))
        assert abs((y[:, t] - 1 - chance).sum()) < 4 * np.sqrt((chance * (1 - chance)).sum())
        low = chance < np.median(chance) if t else chance > 0
        assert abs((y[:, t] - 1 - chance)[low].sum()) < 4 * np.sqrt((chance * (1 - chance))[low].sum())
        chosen = np.arange(MADE), y[:, t] - 1
        values[chosen] += a * (1 - values[chosen])


def test_volatilities_have_the_scales_of_what_is_drawn():
    """The program rejects scales that are not positive: it does not here, whatever is drawn."""
    program = """data { int T; vector[T] y; } parameters { real<lower=0, upper=1> a; }
    transformed parameters { vector<lower=0>[T] s; s[1] = 1; for (t in 2:T) s[t] = sqrt(0.5 + a * square(y[t - 1])); }
    model { y ~ normal(0, s); }"""
    made = drawn(program, {"T": 8})
    expected = np.sqrt(0.5 + made["a"][:, None] * made["y"][:, :-1] ** 2)
    np.testing.assert_allclose(made["s"][:, 1:], expected, rtol=1e-12)
    is_law(made["y"] / made["s"], stats.norm.cdf)


def test_draws_that_the_program_rejects_by_what_is_drawn_are_refused():
    program = """data { int T; vector[T] y; } parameters { real<lower=0, upper=1> a; }
    transformed parameters { vector<lower=0>[T] s; s[1] = 1; for (t in 2:T) s[t] = 2 + a * y[t - 1]; }
    model { y ~ normal(0, s); }"""
    with pytest.raises(stanimport.StanDataError, match="which of them the program rejects, depend on y"):
        drawn(program, {"T": 8})
    with pytest.warns(ReplicationWarning, match="which of them the program rejects, are given the data that are there"):
        drawn(program, {"T": 8, "y": np.zeros(8)})


def test_vectors_and_pairs_of_series():
    program = """data { int T; array[T] vector[2] y; vector[T] x; } parameters { real m; }
    model { m ~ normal(0, 1); y[1] ~ multi_normal([0, 0]', [[1, 0.5], [0.5, 1]]); x[1] ~ normal(m, 1);
            for (t in 2:T) { y[t] ~ multi_normal([y[t - 1][2], x[t - 1]]', [[1, 0.5], [0.5, 1]]);
                             x[t] ~ normal(y[t][1] + m, 1); } }"""
    made = drawn(program, {"T": 4})
    y, x = made["y"], made["x"]
    errors = y[:, 1:] - np.stack([y[:, :-1, 1], x[:, :-1]], axis=2)
    for t in range(3):
        np.testing.assert_allclose(np.cov(errors[:, t].T), [[1, 0.5], [0.5, 1]], atol=0.1)
    is_law(x[:, 1:] - y[:, 1:, 0] - made["m"][:, None], stats.norm.cdf)


CIRCLES = {
    "each other": ("vector[T] y;", "for (t in 1:T) y[t] ~ normal(0.3 * (sum(y) - y[t]) / T, 1);", "in a circle"),
    "neighbours, after one that has none": (
        "vector[T] y;", "y[1] ~ normal(m, 1); for (t in 2:T - 1) y[t] ~ normal(0.1 * (y[t - 1] + y[t + 1]), 1); "
        "y[T] ~ normal(0.1 * y[T - 1], 1);", "in a circle"),
    "itself, far out": ("vector[T] y;", "for (t in 1:T) y[t] ~ normal(y[t] > 20 ? 9 : m, 1);", "its laws depend"),
    "its size": ("array[T] int<lower=0> y;", "for (t in 1:T) if (y[t] > 2) y[t] ~ poisson(exp(m)) T[3, ]; "
                 "else y[t] ~ poisson(1);", "which statements run"),
}  # fmt: skip


@pytest.mark.parametrize("case", CIRCLES)
def test_laws_that_depend_on_one_another_are_told(case):
    declared, statements, reason = CIRCLES[case]
    program = NORMAL.format(declared, statements)
    with pytest.raises(stanimport.StanDataError, match="predictions depend on y, which must be among the data"):
        drawn(program, {"T": 4})
    given = {"T": 4, "y": [3, 1, 5, 0]}
    with pytest.warns(ReplicationWarning, match=f"draws of y are given the data that are there: .*{reason}"):
        made = drawn(program, given)
    assert made["y"].shape == (MADE, 4)
    with pytest.raises(stanimport.StanError, match="what is simulated depends on what is observed"):
        stanimport.sbc(stanimport.loads(program), given, simulations=2, seed=1)


@pytest.mark.parametrize("data", [{"T": 4}, {"T": 4, "y": [9.0, 8, 7, 6]}])
def test_states_that_are_discrete_parameters(data):
    program = """data { int T; vector[T] y; } parameters { array[T] int<lower=1, upper=2> z; real<lower=0, upper=1> b; }
    model { z ~ categorical([0.3, 0.7]'); y[1] ~ normal(0, 1);
            for (t in 2:T) y[t] ~ normal(9 * z[t] + b * y[t - 1], 1); }"""
    made = drawn(program, data)
    is_law(made["y"][:, 1:] - 9 * made["z"][:, 1:] - made["b"][:, None] * made["y"][:, :-1], stats.norm.cdf)
    assert abs((made["z"] == 2).mean() - 0.7) < 0.02


def test_priors_that_depend_on_observations_are_told():
    program = """data { int T; vector[T] y; } parameters { array[T] int<lower=0, upper=1> z; }
    model { z[1] ~ bernoulli(0.5); for (t in 2:T) z[t] ~ bernoulli_logit(3 * y[t - 1]);
            y ~ normal(6 * to_vector(z) - 3, 1); }"""
    with pytest.raises(stanimport.StanDataError, match="the draws from the prior.* depend on y"):
        drawn(program, {"T": 3})
    with pytest.warns(ReplicationWarning, match="draws from the prior.* are given the data that are there: .* on y"):
        made = drawn(program, {"T": 3, "y": [-9.0, 9, 9]})
    np.testing.assert_allclose(made["z"].mean(axis=0), [0.5, 0, 1], atol=0.05)


@pytest.mark.parametrize("data", [{"T": 3}, {"T": 3, "y": [9.0, 8, 7]}])
def test_programs_without_parameters(data):
    for law in ("y ~ normal(0, 1);", "y[1] ~ normal(0, 1); for (t in 2:T) y[t] ~ normal(y[t - 1], 1);"):
        y = drawn(f"data {{ int T; vector[T] y; }} model {{ {law} }}", data)["y"]
        is_law(np.diff(y) if "T)" in law else y, stats.norm.cdf)
        assert y.shape == (MADE, 3)


def test_predictions_of_a_fit_carry_on_from_their_own_values():
    module = stanimport.loads(NORMAL.format("vector[T] y;", SERIES["a loop"]))
    fit = stanimport.generate_quantities(module, {"T": 2, "y": [1.0, 50]}, previous_fit={"m": np.full(MADE, 1.5)})
    y = fit.posterior_predictive({"T": 3}, seed=1).stan_variable("y")
    covariance = np.array([[1, 0.5, 0.25], [0.5, 4.25, 2.125], [0.25, 2.125, 5.0625]])
    np.testing.assert_allclose(np.cov(y.T), covariance, atol=0.3)
    np.testing.assert_allclose(y.mean(axis=0), [1.5, 2.25, 2.625], atol=0.15)
    ahead = fit.posterior_predictive(seed=1).stan_variable("y")
    np.testing.assert_allclose(ahead.mean(axis=0), [1.5, 2], atol=0.15)


@pytest.mark.parametrize("draws", [1, 3])
def test_few_draws_are_told_apart_as_many_are(draws):
    program = NORMAL.format("array[T] int<lower=0, upper=1> y;",
                            "for (t in 1:T) y[t] ~ bernoulli_logit(0.3 * (sum(y) - y[t]));")  # fmt: skip
    with pytest.raises(stanimport.StanDataError, match="in a circle"):
        drawn(program, {"T": 4}, draws)
    assert drawn(NORMAL.format("vector[T] y;", SERIES["a loop"]), {"T": 4}, draws)["y"].shape == (draws, 4)


def test_calibration_of_autoregressions():
    """With the exact posterior: a normal law, as scale and prior are known."""
    text = "model { b ~ normal(0, 0.5); for (t in 2:T) y[t] ~ normal(b * y[t - 1], 1); }"
    program = stanimport.loads("data { int T; vector[T] y; } parameters { real b; } " + text)
    made = stanimport.sbc(program, {"T": 12, "y": np.r_[2.0, np.zeros(11)]}, simulations=40, seed=3)
    y = np.array([f.data["y"] for f in made.fits])
    precision = 4 + (y[:, :-1] ** 2).sum(axis=1)
    mean = (y[:, :-1] * y[:, 1:]).sum(axis=1) / precision
    exact = stats.norm.cdf((made.truths[:, 0] - mean) * np.sqrt(precision))
    is_law(exact, stats.uniform.cdf)
    np.testing.assert_allclose(made.ranks[:, 0] / 99, exact, atol=0.25)
