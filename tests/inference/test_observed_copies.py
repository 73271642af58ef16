"""Densities of local variables that hold a part of the data: they are of the data, and stand in their order."""
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport

PROGRAM = """data {{ int N; vector[N] y; int J; array[J] int size; array[N] int order; }}
parameters {{ real m; real<lower=0> s; }}
model {{ m ~ normal(0, 1); s ~ exponential(1); {body} }}"""
DATA = {"N": 6, "y": [1.0, 2.0, 4.0, 3.0, 6.0, 5.0], "J": 3, "size": [2, 0, 4], "order": [3, 1, 2, 6, 5, 4]}
M, S = 0.3, 0.01
GROUPS, PARAMETERS = "int at = 1; for (j in 1:J) {{ {} }}", "rep_vector(m, size[j]), s^2 * identity_matrix(size[j])"
LOCAL = "vector[size[j]] own = segment(y, at, size[j]);"
WHOLE = {
    "groups": GROUPS.format(f"{LOCAL} own ~ normal(m, s); at += size[j];"),
    "another order": "vector[N] own = y[order]; vector[N] again = own; for (n in 1:N) again[n] ~ normal(m, s);",
    "numbers": "for (n in 1:N) { real own = y[N + 1 - n]; target += normal_lpdf(own | m, s); }",
    "sums": "real lp = 0; { vector[N] own = reverse(y); for (n in 1:N) lp += normal_lpdf(own[n] | m, s); } "
            "target += lp;",
}  # fmt: skip


def fit_of(body, **data):
    return _fit(stanimport.loads(PROGRAM.format(body=body)), **data)


def _fit(module, **data):
    return stanimport.sample(module, DATA | data, inits={"m": M, "s": S}, chains=1, iter_sampling=2, fixed_param=True,
                             seed=1, show_progress=False)  # fmt: skip


def likelihood_of(fit):
    return {n: v.values[0, 0] for n, v in fit.to_arviz(prior=False).log_likelihood.data_vars.items()}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE)
def test_log_likelihood_and_replications(body):
    fit = fit_of(body)
    assert likelihood_of(fit) == {"y": pytest.approx(stats.norm.logpdf(DATA["y"], M, S))}
    assert np.all(np.abs(fit.posterior_predictive(seed=1).stan_variable("y") - M) < 6 * S)


def test_groups_of_multivariate_laws():
    """Each has one log density."""
    fit = fit_of(GROUPS.format(f"{LOCAL} own ~ multi_normal({PARAMETERS}); at += size[j];"), J=2, size=[2, 4])
    each = stats.norm.logpdf(DATA["y"], M, S)
    with pytest.warns(stanimport.inference.LikelihoodWarning, match="2 log densities of the 6 numbers of y: how many"):
        assert likelihood_of(fit) == {"y": pytest.approx([each[:2].sum(), each[2:].sum()])}


@pytest.mark.parametrize("order", ["j", "J + 1 - j"])
def test_groups_of_one_size(order):
    fit = fit_of(f"for (j in 1:J) {{ int k = 2 * ({order}); y[(k - 1):k] ~ multi_normal([m, m]', s^2 * "
                 "identity_matrix(2)); }")  # fmt: skip
    expected = stats.norm.logpdf(DATA["y"], M, S).reshape(3, 2).sum(1)
    assert likelihood_of(fit) == {"y": pytest.approx(expected)}
    assert np.all(np.abs(fit.posterior_predictive(seed=1).stan_variable("y") - M) < 6 * S)


@pytest.mark.parametrize(
    ("declared", "statement", "axis"),
    [("matrix[2, N]", "for (n in 1:N) y[, order[n]] ~ {};", 0),
     ("array[3] matrix[2, 2]", "for (k in 1:2) for (j in 1:J) y[j][, k] ~ {};", 1),
     ("array[3, 2] vector[2]", "for (j in 1:J) for (k in 1:2) y[J + 1 - j, k] ~ {};", 2),
     ("array[3, 2, 2] real", "for (k in 1:2) for (j in 1:J) to_vector(y[j, , k]) ~ {};", 1)],
)  # fmt: skip
def test_columns_in_another_order(declared, statement, axis):
    """Each has one log density, which stands where it does in the data."""
    values = np.arange(12).reshape((2, 6) if axis == 0 else (3, 2, 2)) / 10
    text = PROGRAM.format(body=statement.format("multi_normal([m, m]', s^2 * identity_matrix(2))"))
    fit = _fit(stanimport.loads(text.replace("vector[N] y", f"{declared} y")), y=values)
    np.testing.assert_allclose(likelihood_of(fit)["y"], stats.norm.logpdf(values, M, S).sum(axis))


@pytest.mark.parametrize("order", [[1, 3, 2, 4, 5, 6], [6, 2, 1, 4, 3, 5]])
def test_groups_of_numbers_that_stand_apart(order):
    """Each stands where its first number does."""
    fit = fit_of("for (j in 1:3) y[order[(2 * j - 1):(2 * j)]] ~ multi_normal([m, m]', s^2 * identity_matrix(2));",
                 order=order)  # fmt: skip
    pairs = np.sort(np.array(order).reshape(3, 2) - 1, axis=1)
    pairs = pairs[np.argsort(pairs[:, 0])]
    assert likelihood_of(fit) == {"y": pytest.approx(stats.norm.logpdf(np.array(DATA["y"])[pairs], M, S).sum(1))}


CARRIED = ("real h = 0; for (j in 1:{}) {{ h = 0.5 * h + m; {} ~ multi_normal([m + 0 * h, m]', "
           "s^2 * identity_matrix(2)); }}")  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "shape", "is_told"),
    [("y[4 - j]", (3, 2), False), ("y[j]", (3, 2), False), ("y[, j]", (2, 3, 2), True), ("y[j]", (3, 2, 2), False)],
)
def test_vectors_that_a_recurrence_observes_in_another_order(outcome, shape, is_told):
    """Their densities are the loop's, in its order: a warning says so."""
    values = np.arange(np.prod(shape)).reshape(shape) / 10
    program = PROGRAM.format(body=CARRIED.format(3, outcome)).replace("vector[N] y", "array[{}] vector[2] y".format(
        ", ".join(map(str, shape[:-1]))))  # fmt: skip
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        known = likelihood_of(_fit(stanimport.loads(program), y=values))["y"]
    expected = stats.norm.logpdf(values, M, S).sum(-1).ravel()
    assert any("in the order in which the program computes them" in str(w.message) for w in told) == is_told
    assert known.ravel() == pytest.approx(expected) if not is_told else sorted(known) == pytest.approx(sorted(expected))


@pytest.mark.parametrize(
    ("body", "expected"),
    [("vector[N] own = y; own[1] = 0.31; own ~ normal(m, s);", stats.norm.logpdf([0.31, *DATA["y"][1:]], M, S)),
     ("vector[N] own = y; for (n in 1:2) { own ~ normal(m, s); own = 2 * y; }",
      stats.norm.logpdf(np.outer([1, 2], DATA["y"]), M, S)),
     ("int at = 1; real own = y[at]; at = 2; own ~ normal(m, s);", stats.norm.logpdf(DATA["y"][0], M, S))],
)  # fmt: skip
def test_what_changes_after_it_was_copied_is_no_part_of_the_data(body, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = likelihood_of(fit_of(body))
    assert "y" not in known
    assert sorted(np.concatenate([v.ravel() for v in known.values()])) == pytest.approx(sorted(np.ravel(expected)))
