"""Numbers that a program observes more than once: that each log density of theirs is an observation is told."""
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning

PROGRAM = """
data {{ int N; vector[N] y; real one; array[5] int place; }}
parameters {{ real a; }}
model {{ {} }}
generated quantities {{ {} }}
"""
Y, PLACE, A = np.array([1.0, 2.5, 0.25, 3.0]), [1, 2, 2, 3, 4], np.array([0.5, -1.0])
M = A[:, None]
CASES = {
    "a law in a loop": ("for (k in 1:2) y ~ normal(a * k, 1);", "y", 8,
                        lambda: np.c_[stats.norm.logpdf(Y, M), stats.norm.logpdf(Y, 2 * M)]),
    "weights": ("for (k in 1:2) for (n in 1:N) target += 0.5 * normal_lpdf(y[n] | a, 1);", "y", 8,
                lambda: 0.5 * np.tile(stats.norm.logpdf(Y, M), 2)),
    "a place twice": ("for (m in 1:5) y[place[m]] ~ normal(a, 1);", "y", 5,
                      lambda: stats.norm.logpdf(Y[np.array(PLACE) - 1], M)),
    "a number with many means": ("one ~ normal(a * y, 1);", "one", 4, lambda: stats.norm.logpdf(1, M * Y)),
}  # fmt: skip


def told_by(statements, quantities=""):
    module = stanimport.loads(PROGRAM.format(statements, quantities))
    data = {"N": 4, "y": Y, "one": 1.0, "place": PLACE}
    fit = stanimport.generate_quantities(module, data, previous_fit={"a": A})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"].data_vars
    return found, [str(w.message) for w in caught if issubclass(w.category, LikelihoodWarning)]


@pytest.mark.parametrize("case", CASES)
def test_more_log_densities_than_numbers_are_told(case):
    statements, name, count, expected = CASES[case]
    found, (told,) = told_by(statements)
    assert f"has {count} log densities of the {1 if name == 'one' else 4} numbers of {name}:" in told
    np.testing.assert_allclose(found[name].values[0].reshape(2, -1), expected(), rtol=1e-10)


def test_the_log_likelihood_of_the_program_is_taken_instead():
    quantities = "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a, 1);"
    found, told = told_by("for (k in 1:2) target += 0.5 * normal_lpdf(y | a, 1);", quantities)
    assert set(found) == {"log_lik"} and told == []


def test_each_number_once_is_not():
    found, told = told_by("y ~ normal(a, 1); one ~ normal(a, 1);")
    assert set(found) == {"y", "one"} and told == []
