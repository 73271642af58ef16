"""Data that loops observe which carry variables: log densities of single observations, and replications of them.

Beside each case stands what its law has for a mean, by a loop in Python: one step ahead of the data.
"""
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy import special, stats

import stanimport
from stanimport.inference.density.posterior import Posterior
from stanimport.inference.modules import observing_apart

PROGRAM = """data {{ int N; vector[N] y; vector[N] x; array[N] int<lower=1, upper=2> c; array[N] int k;
  int S; array[S] int T; matrix[S, N] w; array[N] vector[2] v; array[N] int<lower=0, upper=1> on; }}
parameters {{ real a; real<lower=0> s; }}
model {{ a ~ normal(0, 1); s ~ exponential(1); {body} }}"""
N, A, S = 5, 0.7, 0.1
RNG = np.random.default_rng(3)
X, Y, W, V = RNG.normal(size=N), RNG.normal(size=N), RNG.normal(size=(2, N)), RNG.normal(size=(N, 2))
DATA = {"N": N, "y": Y, "x": X, "c": [1, 2, 1, 2, 2], "k": [0, 3, 1, 2, 5], "S": 2, "T": [3, 5], "w": W, "v": V,
        "on": [1, 0, 1, 1, 0]}  # fmt: skip


def carried(step: Callable[[float, int], float], start: float = 0.0, count: int = N) -> np.ndarray:
    """What a variable is at the beginning of each iteration."""
    found = [start]
    for n in range(count - 1):
        found.append(step(found[-1], n))
    return np.array(found)


def _chosen() -> np.ndarray:
    """The probability of the second choice: of a learner."""
    values, found = np.zeros(2), []
    for choice, reward in zip(DATA["c"], X):
        found.append(special.softmax(A * values)[1])
        values[choice - 1] += 0.3 * (reward - values[choice - 1])
    return np.array(found)


class Case(NamedTuple):
    """Statements that observe a variable, its mean given the data before, and its log densities."""

    body: str
    variable: str
    mean: np.ndarray
    log_density: np.ndarray


def normal(body: str, mean: np.ndarray, variable: str = "y") -> Case:
    return Case(body, variable, mean, stats.norm.logpdf(DATA[variable], mean, S))


LEARNED = _chosen()
OF_X = A + carried(lambda r, n: A * r + X[n])
COUNTED = np.exp(A + 0.1 * carried(lambda r, n: r + DATA["k"][n]))
SUBJECTS = np.array([carried(lambda r, t, i=i: 0.5 * r + W[i, t]) for i in range(2)])
CASES = {
    "of the data": normal("real r = 0; for (n in 1:N) { y[n] ~ normal(a + r, s); r = 0.5 * r + x[n]; }",
                          A + carried(lambda r, n: 0.5 * r + X[n])),
    "of a parameter": normal("real r = 0; for (n in 1:N) { y[n] ~ normal(a + r, s); r = a * r + x[n]; }", OF_X),
    "of what is observed": normal("real r = 0; for (n in 1:N) { y[n] ~ normal(a + r, s); r = 0.5 * r + y[n]; }",
                                  A + carried(lambda r, n: 0.5 * r + Y[n])),
    "by way of others": normal("real r = 0; for (n in 1:N) { real m = a; m += r; y[n] ~ normal(m, s); "
                               "r = a * r + x[n]; m = 9; }", OF_X),
    "as an increment": normal("real r = 0; for (n in 1:N) { target += normal_lpdf(y[n] | a + r, s); "
                              "r = a * r + x[n]; }", OF_X),
    "in a sum": normal("real r = 0; real lp = 0; for (n in 1:N) { lp += normal_lpdf(y[n] | a + r, s); "
                       "r = a * r + x[n]; } target += lp;", OF_X),
    "a learner": Case("vector[2] q = rep_vector(0, 2); for (n in 1:N) { c[n] ~ categorical_logit(a * q); "
                      "q[c[n]] += 0.3 * (x[n] - q[c[n]]); }", "c", 1 + LEARNED,
                      np.log(np.where(np.array(DATA["c"]) == 2, LEARNED, 1 - LEARNED))),
    "a count": Case("int so_far = 0; for (n in 1:N) { k[n] ~ poisson(exp(a + 0.1 * so_far)); so_far += k[n]; }", "k",
                    COUNTED, stats.poisson.logpmf(DATA["k"], COUNTED)),
    "vectors": Case("real r = 0; for (n in 1:N) { v[n] ~ multi_normal([r, a]', s^2 * identity_matrix(2)); "
                    "r = 0.5 * r + v[n, 1]; }", "v",
                    np.column_stack([carried(lambda r, n: 0.5 * r + V[n, 0]), np.full(N, A)]),
                    stats.norm.logpdf(V, np.column_stack([carried(lambda r, n: 0.5 * r + V[n, 0]), np.full(N, A)]),
                                      S).sum(-1)),
    "the last first": normal("real r = 0; for (n in 1:N) { y[N + 1 - n] ~ normal(a + r, s); r = a * r + x[n]; }",
                             OF_X[::-1]),
    "subjects": normal("for (i in 1:S) { real r = 0; for (t in 1:N) { w[i, t] ~ normal(r, s); "
                       "r = 0.5 * r + w[i, t]; } }", SUBJECTS, "w"),
    "branches": normal("real r = 0; for (n in 1:N) { if (on[n]) y[n] ~ normal(a + r, s); else y[n] ~ normal(r, s); "
                       "r = a * r + x[n]; }", OF_X - A * (1 - np.array(DATA["on"]))),
    "from another number": normal("real r = 0; for (n in 0:(N - 1)) { y[n + 1] ~ normal(a + r, s); "
                                  "r = a * r + x[n + 1]; }", OF_X),
    "two": normal("real r = 0; for (n in 1:N) { y[n] ~ normal(a + r, s); r = a * r + x[n]; "
                  "w[1, n] ~ normal(r, s); w[2, n] ~ normal(a, s); }", OF_X),
}  # fmt: skip


def fit_of(body: str, draws: int = 1) -> stanimport.Fit:
    return stanimport.generate_quantities(stanimport.loads(PROGRAM.format(body=body)), DATA, seed=1,
                                          previous_fit={"a": np.full(draws, A), "s": np.full(draws, S)})  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_log_likelihood_and_replications(case):
    """Of the means of the draws each is within five standard errors."""
    body, variable, mean, expected = CASES[case]
    fit = fit_of(body, 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit.to_arviz(prior=False)
    np.testing.assert_allclose(found.log_likelihood[variable].values[0, 0], expected, rtol=1e-10)
    drawn = found.posterior_predictive[variable].values[0]
    assert np.all(np.abs(drawn.mean(0) - mean) < 5 * drawn.std(0) / np.sqrt(400) + 1e-12)
    assert drawn.std(0).min() > 0


@pytest.mark.parametrize("body", [
    "for (i in 1:S) { real r = 0; for (t in 1:T[i]) { w[i, t] ~ normal(r, s); r = 0.5 * r + w[i, t]; } }",
    "real r = 0; for (n in 1:N) { if (on[n]) y[n] ~ normal(a + r, s); r = a * r + x[n]; }",
])  # fmt: skip
def test_some_of_the_data(body):
    fit = fit_of(body)
    with pytest.warns(Warning, match="of the (10|5) numbers of"):
        found = fit.to_arviz(prior=False)
    every = np.concatenate([v.values.ravel() for v in found.log_likelihood.data_vars.values()])
    means = np.concatenate([m[:n] for m, n in zip(SUBJECTS, DATA["T"])]) if "S)" in body else OF_X
    values = np.concatenate([w[:n] for w, n in zip(W, DATA["T"])]) if "S)" in body else Y
    known = slice(None) if "S)" in body else np.array(DATA["on"], bool)
    np.testing.assert_allclose(every, stats.norm.logpdf(values, means, S)[known], rtol=1e-10)


LEFT = {
    "entries of an array": "vector[N] h; h[1] = a; for (n in 1:N) { if (n > 1) h[n] = 0.5 * h[n - 1] + a; "
                           "y[n] ~ normal(h[n], s); }",
    "a parameter decides": "real r = 0; for (n in 1:N) { if (r < 1) y[n] ~ normal(a + r, s); r = a * r + x[n]; }",
    "what is carried decides": "int at = 1; for (n in 1:N) { if (at > 2) y[n] ~ normal(a, s); at += k[n]; }",
    "the loop ends": "real r = 0; for (n in 1:N) { if (n > 3) break; y[n] ~ normal(r, s); r += x[n]; }",
    "sizes differ": "for (n in 1:N) { vector[n] z = rep_vector(a, n); for (j in 1:2) { z[1] += x[n]; "
                    "y[n] ~ normal(sum(z), s); } }",
    "nothing is carried": "for (n in 1:N) { real r = a * x[n]; y[n] ~ normal(r, s); }",
}  # fmt: skip


@pytest.mark.parametrize("body", [*(c.body for c in CASES.values()), *LEFT.values()],
                         ids=[*CASES, *LEFT])  # fmt: skip
def test_the_density_stays(body, x64):
    module = stanimport.loads(PROGRAM.format(body=body))
    apart = observing_apart(module)
    point = np.array([A, np.log(S)])
    here, there = (Posterior(m, m.transformed_data(**DATA)).log_density(point) for m in (module, apart))
    assert float(here) == pytest.approx(float(there), rel=1e-12)


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_loops_inside_may_have_no_iterations(rows, x64):
    body = """vector[2] q = rep_vector(0.1, 2); vector[2] r = rep_vector(0.1, 2);
      for (i in 1:S) { r = 0.5 * r;
        for (n in 2:(N - 1)) {
          if (on[n]) { w[i, n] ~ student_t(4, q[1] * x[n], s); r[c[n]] += 0.3 * r[2]; } else { target += sum(q); }
          for (t in 2:T[i]) on[t] ~ bernoulli_logit(s);
          q[c[n]] += 0.1; }
        r[1] = tanh(r[2] + a); }"""
    data = {n: v[:rows] if n in ("y", "x", "c", "k", "v", "on") else v for n, v in DATA.items()}
    data |= {"N": rows, "w": W[:, :rows], "T": [1, 2]}
    module = stanimport.loads(PROGRAM.format(body=body))
    here, there = (Posterior(m, m.transformed_data(**data)).log_density(np.array([A, np.log(S)]))
                   for m in (module, observing_apart(module)))  # fmt: skip
    assert float(here) == pytest.approx(float(there), rel=1e-12)
