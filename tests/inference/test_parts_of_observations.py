"""Variables that several statements observe, in parts or under conditions: one array in the order of the data."""
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning

PROGRAM = """
functions {{
  real censored_lpmf(array[] int seq, int start, int end, data vector Y, data array[] int C, real a) {{
    real ptarget = 0;
    int N = end - start + 1;
    for (n in 1:N) {{
      int nn = n + start - 1;
      if (C[nn] == 0) {{ ptarget += normal_lpdf(Y[nn] | a, 2); }}
      else if (C[nn] == 1) {{ ptarget += normal_lccdf(Y[nn] | a, 2); }}
      else {{ ptarget += normal_lcdf(Y[nn] | a, 2); }}
    }}
    return ptarget;
  }}
}}
data {{ int N; vector[N] y; array[N] int c; matrix[2, N] M; array[2, N] int d; }}
transformed data {{ array[N] int seq = linspaced_int_array(N, 1, N); }}
parameters {{ real a; }}
model {{ {statements} }}
"""
Y, M, C, D = np.array([1.0, 2.0, 0.5, 3.0]), np.arange(8.0).reshape(2, 4), [0, 1, 2, 0], [[0, 1, 0, 0], [1, 1, 0, 1]]
DATA = {"N": 4, "y": Y, "c": C, "M": M, "d": D}
A = np.array([0.3, -1.2, 2.0])
COLUMN = A[:, None]
NEAR, ABOVE = stats.norm.logpdf(Y, COLUMN, 2), stats.norm.logsf(Y, COLUMN, 2)
CENSORED = np.where(np.equal(C, 0), NEAR, np.where(np.equal(C, 1), ABOVE, stats.norm.logcdf(Y, COLUMN, 2)))
OF_M = stats.norm.logpdf(M, A[:, None, None], 2)
ONE = {
    "censored": ("""for (n in 1:N) if (c[n] == 0) y[n] ~ normal(a, 2);
                    else if (c[n] == 1) target += normal_lccdf(y[n] | a, 2);
                    else target += normal_lcdf(y[n] | a, 2);""",
                 CENSORED),
    "censored, by reduce_sum": ("target += reduce_sum(censored_lpmf, seq, 1, y, c, a);", CENSORED),
    "two laws": ("for (n in 1:N) if (c[n] == 0) y[n] ~ normal(a, 2); else y[n] ~ normal(0, 1);",
                 np.where(np.equal(C, 0), NEAR, stats.norm.logpdf(Y))),
    "two laws, by parameters": ("for (n in 1:N) if (a > 0) y[n] ~ normal(a, 2); else y[n] ~ normal(0, 1);",
                                np.where(COLUMN > 0, NEAR, stats.norm.logpdf(Y))),
    "two laws, one of them in no draw": ("if (a > -9) y ~ normal(a, 2); else y ~ normal(0, 1);", NEAR),
    "censored at a number": ("for (n in 1:N) if (y[n] < 3) y[n] ~ normal(a, 2); else target += normal_lccdf(3 | a, 2);",
                             np.where(Y < 3, NEAR, ABOVE)),
    "inflated": ("""for (n in 1:N) if (y[n] == 2) target += log_sum_exp(-1, normal_lpdf(2 | a, 2) - 2);
                    else target += normal_lpdf(y[n] | a, 2) - 2;""",
                 np.where(Y == 2, np.logaddexp(-1, NEAR - 2), NEAR - 2)),
    "hurdles": ("""for (n in 1:N) if (y[n] > 2) target += -exp(a);
                   else target += normal_lpdf(y[n] | a, 2) + log1m_exp(-1);""",
                np.where(Y > 2, -np.exp(COLUMN), NEAR + np.log1p(-np.exp(-1)))),
    "parts": ("y[3:4] ~ normal(a, 2); y[1:2] ~ normal(0, 1);",
              np.concatenate([np.broadcast_to(stats.norm.logpdf(Y[:2]), (3, 2)), NEAR[:, 2:]], axis=1)),
    "rows and columns": ("""for (i in 1:2) for (n in 1:N) if (d[i, n]) M[i, n] ~ normal(a, 2);
                            else target += normal_lccdf(M[i, n] | a, 2);""",
                         np.where(D, OF_M, stats.norm.logsf(M, A[:, None, None], 2))),
}  # fmt: skip
OF_PARTS = {  # the arrays, and how many numbers there are of the four
    "the same twice": ("y[1:2] ~ normal(a, 2); y[1:2] ~ normal(0, 1);",
                       [NEAR[:, :2], np.broadcast_to(stats.norm.logpdf(Y[:2]), (3, 2))], 2),
    "all of it twice": ("y ~ normal(a, 2); y ~ normal(0, 1);",
                        [NEAR, np.broadcast_to(stats.norm.logpdf(Y), (3, 4))], 4),
    "some of it": ("for (n in 1:N) if (c[n] == 1) target += normal_lccdf(y[n] | a, 2);", [ABOVE[:, [1]]], 1),
}  # fmt: skip


def log_likelihood(statements):
    """By variable, what was warned of, and the log density."""
    module = stanimport.loads(PROGRAM.format(statements=statements), name="parts")
    fit = stanimport.generate_quantities(module, DATA, previous_fit={"a": A})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LikelihoodWarning)
        groups = fit.to_arviz(posterior_predictive=False, prior=False)
    density = [stanimport.log_prob(module, DATA, params={"a": float(a)}).lp for a in A]
    found = {n: v.values[0] for n, v in groups["log_likelihood"].data_vars.items()}
    return found, [str(w.message) for w in told if w.category is LikelihoodWarning], density


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", ONE)
def test_they_are_one_array_in_the_order_of_the_data(case):
    statements, expected = ONE[case]
    found, told, density = log_likelihood(statements)
    assert len(found) == 1 and not told
    np.testing.assert_allclose(*found.values(), expected, rtol=1e-10)
    np.testing.assert_allclose(density, expected.reshape(3, -1).sum(axis=1), rtol=1e-10)


@pytest.mark.parametrize("statements", ["for (i in 1:2) v[i] ~ multi_normal([a, 0]', identity_matrix(2));",
                                        "v ~ multi_normal([a, 0]', identity_matrix(2));"])  # fmt: skip
def test_a_vector_is_one_observation(statements):
    v = np.array([[1.0, 2.0], [3.0, 4.0]])
    module = stanimport.loads(f"data {{ array[2] vector[2] v; }} parameters {{ real a; }} model {{ {statements} }}")
    fit = stanimport.generate_quantities(module, {"v": v}, previous_fit={"a": A})
    with warnings.catch_warnings():
        warnings.simplefilter("error", LikelihoodWarning)
        found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"]["v"].values[0]
    expected = stats.norm.logpdf(v[:, 0], COLUMN) + stats.norm.logpdf(v[:, 1])
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", OF_PARTS)
def test_numbers_that_are_observed_twice_count_once(case):
    statements, expected, numbers = OF_PARTS[case]
    found, told, density = log_likelihood(statements)
    assert len(found) == len(expected)
    for terms, wanted in zip(found.values(), expected):
        np.testing.assert_allclose(terms, wanted, rtol=1e-10)
    part = f"the log likelihood holds {numbers} of the 4 numbers of y"
    assert [t.partition(":")[0] for t in told] == [part] * (numbers < 4)
    np.testing.assert_allclose(density, sum(v.sum(axis=1) for v in expected), rtol=1e-10)
