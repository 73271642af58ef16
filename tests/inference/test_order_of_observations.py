"""Statements that observe data in another order than they are given in: what is told of them stands in theirs."""
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning
from stanimport.inference.fits.replications import ReplicationWarning

N, DRAWS = 4, 3
PROGRAM = """
data {{ int N; vector[N] x; {declared} y; }}
parameters {{ real a; vector[2] b; }}
model {{ {statements} }}
"""
VALUES = {"a": np.array([0.3, -1.2, 2.0]), "b": np.array([[1.0, 2.0], [-0.5, 0.25], [3.0, -2.0]])}
X = np.array([1.0, 2.0, 4.0, 8.0])
A, B = VALUES["a"][:, None], VALUES["b"]
TABLE = B[:, None, :] * np.arange(1, 3)[:, None]  # (draws, rows, columns)
CASES = {  # the declaration, statements, data, and the means of what they observe: far more than their noise apart
    "from the last": ("vector[N]", "for (n in 1:N) y[N + 1 - n] ~ normal(a * x[n], 1e-7);", [1, 2, 2, 1], A * X[::-1]),
    "reversed": ("vector[N]", "reverse(y) ~ normal(a * x, 1e-7);", np.zeros(N), A * X[::-1]),
    "columns": ("matrix[2, 2]", "for (k in 1:2) y[, k] ~ normal(b[k] * [1, 2]', 1e-7);", [[1, 2], [2, 1]], TABLE),
    "parts": ("vector[N]", "y[3:4] ~ normal(a * x[3:4], 1e-7); y[1:2] ~ normal(a * x[1:2], 1e-7);", np.ones(N), A * X),
    "integers": ("array[N] int<lower=0, upper=1>", "y[{3, 4, 1, 2}] ~ bernoulli({0, 0, 1, 1});", [0, 1, 0, 1],
                 np.array([1, 1, 0, 0])),
}  # fmt: skip


def fit_of(declared, statements, y, **more):
    module = stanimport.loads(PROGRAM.format(declared=declared, statements=statements), name="ordered")
    return stanimport.generate_quantities(module, {"N": N, "x": X, "y": y, **more}, previous_fit=VALUES)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES)
def test_replications_stand_where_the_data_do(case):
    *program, mean = CASES[case]
    fit = fit_of(*program)
    for made in (fit.posterior_predictive(seed=1), fit.posterior_predictive({"N": N, "x": X}, seed=1)):
        replicated = made.stan_variable("y")
        np.testing.assert_allclose(replicated, np.broadcast_to(mean, replicated.shape), atol=1e-5)


@pytest.mark.parametrize("statement, y", [("5 - y ~ normal(a * x, 1);", [1, 2, 3, 4]),
                                          ("-y ~ normal(a * x, 1);", [1, -1, 2, -2]),
                                          ("2 * y ~ normal(a * x, 1);", np.zeros(N)),
                                          ("abs(y) ~ normal(a * x, 1);", [1, 2, 3, 4]),
                                          ("for (n in 1:N) abs(y[n]) ~ normal(a * x[n], 1);", [1, 2, 3, 4]),
                                          ("fmin(y, 5) ~ normal(a * x, 1);", [1, 2, 3, 4]),
                                          ("sort_asc(y) ~ normal(a * x, 1);", [1, 2, 3, 4])])  # fmt: skip
def test_an_expression_that_has_the_same_values_is_none_of_the_data(statement, y):
    with pytest.raises(stanimport.StanError, match="observes an expression of it"):
        fit_of("vector[N]", statement, y).posterior_predictive(seed=1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statement, name", [("abs(k) ~ poisson(b);", "k"), ("sort_asc(k) ~ poisson(b);", "k"),
                                             ("for (n in 1:N) target += poisson_lpmf(abs(k[n]) | b[n]);", "k"),
                                             ("f_lp(abs(k), b);", "k"),
                                             ("k ~ poisson(b); abs(y) ~ normal(a, 1); target += sum(b[k]);", "y"),
                                             ])  # fmt: skip
def test_nor_is_one_of_integers_or_beside_outcomes_that_are_indices(statement, name):
    module = stanimport.loads(f"""
      functions {{ void f_lp(array[] int k, vector b) {{ k ~ poisson(b); }} }}
      data {{ int N; array[N] int k; vector[N] y; real z; }} parameters {{ real a; vector<lower=0>[N] b; }}
      model {{ z ~ normal(a, 1); {statement} }}""")
    data, draws = {"N": N, "k": [1, 2, 3, 4], "y": [1, 2, 3, 4], "z": 0}, {"a": VALUES["a"], "b": np.ones((DRAWS, N))}
    fit = stanimport.generate_quantities(module, data, previous_fit=draws)
    with pytest.warns(ReplicationWarning, match=f"{name} can't be replicated: a statement observes an expression"):
        assert "z" in fit.posterior_predictive(seed=1).variables


def test_where_the_outcomes_decide_which_statements_run():
    """Integers that are indices too, and outcomes that are compared: they can't be moved, but slices be told."""
    program = "for (n in 1:N) target += b[y[n]]; for (n in 1:N) y[N + 1 - n] ~ categorical([1, 0]');"
    replicated = fit_of("array[N] int<lower=1, upper=2>", program, [1, 2, 2, 1]).posterior_predictive(seed=1)
    np.testing.assert_array_equal(replicated.stan_variable("y"), np.ones((DRAWS, N)))
    program = "for (n in 1:N) if (y[n] == 0) y[n] ~ normal(a - n, 1e-7); else y[n] ~ normal(a + n, 1e-7);"
    replicated = fit_of("vector[N]", program, [0.0, 1.0, 2.0, 3.0]).posterior_predictive(seed=1).stan_variable("y")
    np.testing.assert_allclose(replicated, A + np.array([-1, 2, 3, 4]), atol=1e-5)


def test_log_densities_stand_where_the_data_do():
    y = np.array([1.0, 1.0, 2.0, 2.0])
    fit = fit_of("vector[N]", "y[{3, 1, 4, 2}] ~ normal(a * x, 2);", y)
    groups = fit.to_arviz(posterior_predictive=False, prior=False)
    expected = stats.norm.logpdf(y, A * X[[1, 3, 0, 2]], 2)
    np.testing.assert_allclose(groups["log_likelihood"]["y"].values[0], expected)
    y = np.array([[1.0, 2.0], [2.0, 1.0]])
    fit = fit_of("matrix[2, 2]", "for (k in 1:2) y[, k] ~ normal(b[k] * [1, 2]', 2);", y)
    groups = fit.to_arviz(posterior_predictive=False, prior=False)
    np.testing.assert_allclose(groups["log_likelihood"]["y"].values[0], stats.norm.logpdf(y, TABLE, 2))
    y = np.arange(4.0).reshape(2, 2)
    fit = fit_of("array[2] vector[2]", "reverse(y) ~ multi_normal(b, identity_matrix(2));", y)
    groups = fit.to_arviz(posterior_predictive=False, prior=False)
    expected = stats.norm.logpdf(y, B[:, None, :]).sum(axis=-1)
    np.testing.assert_allclose(groups["log_likelihood"]["y"].values[0], expected)


PARTS = {  # the statements, and how many of the four numbers of y are observed: None where all are
    "censored": ("for (n in 1:N) if (y[n] < 3) y[n] ~ normal(a, 1); else target += normal_lccdf(3 | a, 1);", None),
    "those below a bound": ("for (n in 1:N) if (y[n] < 3) y[n] ~ normal(a, 1);", 3),
    "the known ones": ("y[{1, 4}] ~ normal(a, 1);", 2),
    "parts of all": ("y[1:3] ~ normal(a, 1); y[4] ~ normal(a, 2);", None),
    "all": ("y ~ normal(a, 1);", None),
    "each in a loop": ("for (n in 1:N) y[n] ~ normal(a * x[n], 1);", None),
    "twice": ("y ~ normal(a, 1); y ~ normal(b[1], 3);", None),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", PARTS)
def test_a_log_likelihood_of_a_part_of_the_data_says_so(case):
    statements, observed = PARTS[case]
    fit = fit_of("vector[N]", statements, [0.5, 3.0, 1.0, 2.0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LikelihoodWarning)
        fit.to_arviz(posterior_predictive=False, prior=False)
    found = [str(w.message) for w in told if w.category is LikelihoodWarning]
    wanted = f"the log likelihood holds {observed} of the 4 numbers of y"
    assert not found if observed is None else found[0].startswith(wanted)


def test_a_program_s_own_log_likelihood_stands_for_one_of_a_part():
    """Of the censored number, too."""
    module = stanimport.loads("""data { int N; vector[N] y; } parameters { real a; }
      model { int above = 0; for (n in 1:N) if (y[n] < 3) y[n] ~ normal(a, 1); else above += 1;
        target += above * normal_lccdf(3 | a, 1); }
      generated quantities { vector[N] log_lik;
        for (n in 1:N) log_lik[n] = y[n] < 3 ? normal_lpdf(y[n] | a, 1) : normal_lccdf(3 | a, 1); }""")
    y = np.array([0.5, 3.0, 1.0])
    fit = stanimport.generate_quantities(module, {"N": 3, "y": y}, previous_fit={"a": VALUES["a"]})
    found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"]["log_lik"].values
    wanted = np.where(y < 3, stats.norm.logpdf(y, A, 1), stats.norm.logsf(3, A, 1))
    np.testing.assert_allclose(found.reshape(3, 3), wanted, rtol=1e-10)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("declared", "statements", "shape", "axes"), [
    ("vector[N]", "y ~ normal(mu[1], 1);", (1,), 1),
    ("array[N] int", "for (n in 1:N) y[n] ~ poisson_log(mu[1]);", (1,), 1),
    ("vector[N]", "y[1] ~ normal(mu[1], 1);", (1,), 1),
    ("matrix[N, 1]", "to_vector(y) ~ normal(mu[1], 1);", (1, 1), 2),
    ("matrix[N, 1]", "to_vector(y) ~ normal(mu[1], 1);", (3, 1), 2),
    ("array[N, 1] real", "for (n in 1:N) y[n, 1] ~ normal(mu[1], 1);", (2, 1), 2),
    ("array[N] vector[2]", "y ~ multi_normal(mu, identity_matrix(2));", (1, 2), 1),
    ("array[N] vector[2]", "y[1] ~ multi_normal(mu, identity_matrix(2));", (1, 2), 1),
    ("vector[N]", "y ~ multi_normal(mu, identity_matrix(2));", (2,), 0),
    ("array[N] vector[1]", "y ~ multi_normal(head(mu, 1), identity_matrix(1));", (3, 1), 1),
])  # fmt: skip
def test_log_densities_keep_axes_of_one_observation(declared, statements, shape, axes):
    program = f"data {{ int N; {declared} y; }} parameters {{ vector[2] mu; }} model {{ {statements} }}"
    module = stanimport.loads(program, name="narrow")
    data = {"N": shape[0], "y": np.ones(shape, int if "int" in declared else float)}
    fit = stanimport.generate_quantities(module, data, previous_fit={"mu": np.zeros((DRAWS, 2))})
    assert fit.to_arviz(prior=False).log_likelihood["y"].shape == (1, DRAWS, *shape[:axes])
