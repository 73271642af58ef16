"""Censored outcomes by distribution functions of whole containers and by probabilities: number by number, and whole."""
from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning

PROGRAM = """
functions { real above(vector c, vector m) { return normal_lccdf(c | m, 2); } }
data { int N; int M; vector[N] y; vector[M] c; vector[M] x; array[M] int k; array[2] int late; array[N - 2] int seen;
       real top; }
parameters { real a; real b; }
transformed parameters { vector[M] m = a + b * x; }
model { %s }
"""
DATA = {
    "N": 5, "M": 3, "y": [0.3, 1.4, -0.2, 0.9, 2.2], "c": [1.1, 0.2, 2.0], "x": [-0.5, 0.1, 0.7], "k": [3, 0, 2],
    "late": [5, 2], "seen": [4, 1, 3], "top": 2.5,
}  # fmt: skip
A, B = np.array([0.4, -0.8]), np.array([0.6, 0.1])
COLUMN, (Y, C, X) = A[:, None], (np.array(DATA[n]) for n in "ycx")
MEANS = COLUMN + B[:, None] * X
LATE = np.array(DATA["late"]) - 1
OF_Y = stats.norm.logpdf(Y, COLUMN, 2)
ABOVE = stats.norm.logsf(C, MEANS, 2)
BETWEEN = np.log(stats.norm.cdf(C + 1, MEANS, 2) - stats.norm.cdf(C, MEANS, 2))
EACH = "for (n in 1:M) target += %s;"
PRIOR = stats.norm.logpdf(A)
# Statements, the log densities that they give, and what else they add to the target.
APART = {
    "a vector": ("target += normal_lccdf(c | a + b * x, 2);", {"c": ABOVE}, 0),
    "a vector, a mean": ("target += normal_lcdf(c | a, 2);", {"c": stats.norm.logcdf(C, COLUMN, 2)}, 0),
    "counts": ("target += poisson_lccdf(k | exp(m));", {"k": stats.poisson.logsf(DATA["k"], np.exp(MEANS))}, 0),
    "what is computed": ("target += weibull_lccdf(exp(c) | 2, exp(m));",
                         {"c": stats.weibull_min.logsf(np.exp(C), 2, scale=np.exp(MEANS))}, 0),
    "chosen numbers": ("y[seen] ~ normal(a, 2); target += normal_lccdf(y[late] | a, 2);",
                       {"y": np.where(np.isin(np.arange(5), LATE), stats.norm.logsf(Y, COLUMN, 2), OF_Y)}, 0),
    "a range": ("y[1:3] ~ normal(a, 2); target += normal_lccdf(y[4:5] | a, 2);",
                {"y": np.where(np.arange(5) < 3, OF_Y, stats.norm.logsf(Y, COLUMN, 2))}, 0),
    "beside a density": ("target += normal_lpdf(y | a, 2) + normal_lccdf(c | m, 2) + normal_lpdf(a | 0, 1);",
                         {"y": OF_Y, "c": ABOVE}, PRIOR),
    "by a condition": ("if (M > 2) target += normal_lccdf(c | m, 2); else target += normal_lcdf(c | m, 2);",
                       {"c": ABOVE}, 0),
    "in a function": ("target += above(c, m);", {"c": ABOVE}, 0),
    "an interval": (EACH % "log_diff_exp(normal_lcdf(c[n] + 1 | m[n], 2), normal_lcdf(c[n] | m[n], 2))",
                    {"c": BETWEEN}, 0),
    "an interval of probabilities":
        (EACH % "log(normal_cdf(c[n] + 1 | m[n], 2) - normal_cdf(c[n] | m[n], 2))", {"c": BETWEEN}, 0),
    "one less a probability": ("for (n in 1:M) target += log1m(normal_cdf(c[n] | m[n], 2));", {"c": ABOVE}, 0),
    "truncated by a probability":
        ("for (n in 1:N) target += normal_lpdf(y[n] | a, 2) - log(1 - normal_cdf(-3 | a, 2));",
         {"y": OF_Y - stats.norm.logsf(-3, COLUMN, 2)}, 0),
}  # fmt: skip
# Statements beside observations of y that add something else, and the data of which it is named.
OTHERS = {
    "taken off": ("target += -normal_lccdf(c - 9 | m, 2);", {"c"}),
    "taken off, by probabilities": ("for (n in 1:M) target += -log1m(normal_cdf(c[n] - 9 | m[n], 2));", {"c"}),
    "many of one bound": ("target += M * normal_lccdf(top | a, 2);", {"M", "top"}),
    "of parameters": ("target += normal_lccdf([a, b]' | 0, 1);", set()),
}


def told_apart(statements):
    """The log likelihood by variable, what was warned of, and the log density."""
    module = stanimport.loads(PROGRAM % statements, name="censored")
    fit = stanimport.generate_quantities(module, DATA, previous_fit={"a": A, "b": B})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LikelihoodWarning)
        groups = fit.to_arviz(posterior_predictive=False, prior=False)
    found = {n: v.values[0] for n, v in groups["log_likelihood"].data_vars.items()}
    density = [stanimport.log_prob(module, DATA, params={"a": a, "b": b}).lp for a, b in zip(A.tolist(), B.tolist())]
    return found, [str(w.message) for w in told if w.category is LikelihoodWarning], density


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", APART)
def test_log_densities_are_those_of_single_numbers(case):
    statements, expected, rest = APART[case]
    found, told, density = told_apart(statements)
    assert found.keys() == expected.keys() and not told
    for name, terms in expected.items():
        np.testing.assert_allclose(found[name], terms, rtol=1e-9)
    np.testing.assert_allclose(density, rest + sum(v.sum(axis=1) for v in expected.values()), rtol=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", OTHERS)
def test_others_are_no_observations(case):
    statements, data = OTHERS[case]
    found, told, _ = told_apart(f"y ~ normal(a, 2); {statements}")
    assert found.keys() == {"y"}
    np.testing.assert_allclose(found["y"], OF_Y, rtol=1e-10)
    named = [set(t.partition(":")[0].rpartition("depends on ")[2].split(", ")) for t in told]
    assert named == ([data] if data else [])
