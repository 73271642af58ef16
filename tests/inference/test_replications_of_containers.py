"""Outcomes that are vectors or counts, in loops with parameters of their own for each: their laws can be drawn from."""
import numpy as np
import pytest
from scipy import stats

import stanimport

N, DRAWS = 3, 4000
X, S = np.array([-1.0, 1.0, 2.0]), np.array([[1.0, 0.5], [0.5, 2.0]])
MEANS = X[:, None] * [1.0, 2.0]
DATA = {"N": N, "x": X, "S": S, "L": np.linalg.cholesky(S), "y": [[1, 2], [2, 3], [0, 1]],
        "k": [[1, 2], [2, 3], [0, 4]]}  # fmt: skip
PROGRAM = """
data {{ int N; vector[N] x; cov_matrix[2] S; cholesky_factor_cov[2] L; {outcome} y; array[N, 2] int k; }}
parameters {{ vector[2] m; }}
model {{ for (n in 1:N) {{ {statements} }} }}
"""
NORMAL = {
    "covariances": ("array[N] vector[2]", "y[n] ~ multi_normal(x[n] * m, S);"),
    "factors": ("array[N] vector[2]", "y[n] ~ multi_normal_cholesky(x[n] * m, L);"),
    "precisions": ("array[N] vector[2]", "vector[2] mu = x[n] * m; y[n] ~ multi_normal_prec(mu, inverse_spd(S));"),
    "an increment": ("array[N] vector[2]", "target += multi_normal_lpdf(y[n] | x[n] * m, S);"),
    "rows of a matrix": ("matrix[N, 2]", "y[n] ~ multi_normal(x[n] * m, S);"),
    "rows as columns": ("matrix[N, 2]", "y[n]' ~ multi_normal(x[n] * m, S);"),
    "under conditions": ("array[N] vector[2]", "if (x[n] > 0) y[n] ~ multi_normal(x[n] * m, S);"
                         " else { vector[2] mu = -m; y[n] ~ multi_normal(mu, S); }"),
}  # fmt: skip


def fit_of(outcome, statements):
    module = stanimport.loads(PROGRAM.format(outcome=outcome, statements=statements))
    return stanimport.generate_quantities(module, DATA, previous_fit={"m": np.tile([1.0, 2.0], (DRAWS, 1))})


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("outcome, statements", NORMAL.values(), ids=NORMAL.keys())
def test_vectors_with_means_of_their_own(outcome, statements):
    fit = fit_of(outcome, statements)
    expected = [stats.multivariate_normal(mean, S).logpdf(y) for mean, y in zip(MEANS, DATA["y"])]
    found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"]["y"].values[0]
    np.testing.assert_allclose(found, np.broadcast_to(expected, (DRAWS, N)), rtol=1e-10)
    new = {n: v for n, v in DATA.items() if n != "y"}
    for made in (fit.posterior_predictive(seed=1), fit.posterior_predictive(new, seed=2)):
        residuals = made.stan_variable("y") - MEANS
        np.testing.assert_allclose(residuals.mean(axis=0), 0, atol=5 * np.sqrt(2 / DRAWS))
        between = np.cov(residuals.reshape(DRAWS, -1).T)  # rows are drawn apart from each other
        np.testing.assert_allclose(between, np.kron(np.eye(N), S), atol=0.2)


COUNTS = ["k[n] ~ multinomial(softmax(x[n] * m));", "k[n] ~ multinomial_logit(x[n] * m);",
          "target += multinomial_lpmf(k[n] | softmax(x[n] * m));"]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("statements", COUNTS)
def test_counts_of_as_many_as_were_observed(statements):
    shares = np.exp(MEANS) / np.exp(MEANS).sum(axis=1, keepdims=True)
    totals = np.sum(DATA["k"], axis=1)
    drawn = fit_of("array[N] vector[2]", statements).posterior_predictive(seed=1).stan_variable("k")
    np.testing.assert_array_equal(drawn.sum(axis=2), np.broadcast_to(totals, (DRAWS, N)))
    np.testing.assert_allclose(drawn.mean(axis=0), totals[:, None] * shares, atol=5 * np.sqrt(5 / 4 / DRAWS))


def test_new_counts_need_their_totals():
    fit = fit_of("array[N] vector[2]", COUNTS[0])
    with pytest.raises(stanimport.StanDataError, match="depend on k, which must be among the data"):
        fit.posterior_predictive({n: v for n, v in DATA.items() if n != "k"})


SCALES = np.array([4.0, 6.0, 9.0])
MATRICES = {
    "Wishart": ("cov_matrix[2]", "w[n] ~ wishart(s[n], S);", lambda k: stats.wishart(k, S)),
    "inverse Wishart": ("cov_matrix[2]", "w[n] ~ inv_wishart(s[n] + 5, S);", lambda k: stats.invwishart(k + 5, S)),
    "Wishart, by an increment": ("cov_matrix[2]", "target += wishart_lpdf(w[n] | s[n], S);",
                                 lambda k: stats.wishart(k, S)),
    "Wishart, under conditions": ("cov_matrix[2]", "if (x[n] > 0) w[n] ~ wishart(s[n], S);"
                                  " else w[n] ~ wishart(s[n], a * S);", lambda k: stats.wishart(k, S)),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case", MATRICES)
def test_matrices_in_loops(case, backend):
    """Each with a law of its own: log densities and moments are those of SciPy."""
    outcome, statement, law = MATRICES[case]
    module = stanimport.loads(f"""
        data {{ int N; vector[N] x; vector[N] s; cov_matrix[2] S; array[N] {outcome} w; }}
        parameters {{ real<lower=0> a; }}
        model {{ for (n in 1:N) {{ {statement} }} }}
    """, backend=backend)  # fmt: skip
    observed = np.array([[[4, 1], [1, 3]], [[9, -2], [-2, 8]], [[5, 0.5], [0.5, 6]]])
    data = {"N": N, "x": X, "s": SCALES, "S": S, "w": observed}
    fit = stanimport.generate_quantities(module, data, previous_fit={"a": np.ones(DRAWS)})
    found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"]["w"].values[0, 0]
    laws = [law(k) for k in SCALES]
    np.testing.assert_allclose(found, [w.logpdf(one) for w, one in zip(laws, observed)], rtol=1e-10)
    drawn = fit.posterior_predictive(seed=1).stan_variable("w")
    assert drawn.shape == (DRAWS, N, 2, 2)
    sizes = np.array([w.rvs(DRAWS, random_state=2).std(axis=0) for w in laws])
    np.testing.assert_allclose(drawn.mean(axis=0), [w.mean() for w in laws], atol=5 * sizes.max() / np.sqrt(DRAWS))
    np.testing.assert_allclose(drawn.std(axis=0), sizes, rtol=0.25)


def test_a_matrix_outside_its_domain_in_a_loop_is_told():
    module = stanimport.loads("""
        data { int N; array[N] matrix[2, 2] w; } parameters { real<lower=3> k; }
        model { for (n in 1:N) w[n] ~ wishart(k, identity_matrix(2)); }
    """)
    data = {"N": 2, "w": [np.eye(2), [[1, 0.5], [0, 1]]]}
    fit = stanimport.generate_quantities(module, data, previous_fit={"k": np.full(5, 4.0)})
    with pytest.raises(stanimport.StanError, match=r"(?s)W is .*must be symmetric and positive definite"):
        fit.posterior_predictive(seed=1)
