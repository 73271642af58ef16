"""Elements that nothing tells apart are summed out as one, and drawn each by itself."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.discrete import elimination
from tests.discrete.small import Variable
from tests.discrete.styles import Style
from tests.discrete.trial import compared

COUNTS = [0, 0, 3, 0, 1, 0, 0, 1, 0, 0]
ZERO_INFLATED = """data { int N; array[N] int y; %given% }
parameters { real<lower=0, upper=1> p; real<lower=0> la; %discrete% }
model { for (n in 1:N) { target += bernoulli_lpmf(z[n] | p);
  if (z[n] == 1) { if (y[n] > 0) target += negative_infinity(); } else target += poisson_lpmf(y[n] | la); } }"""
ALIKE = {
    "zero inflation": (ZERO_INFLATED, {"N": 10, "y": COUNTS}, (Variable("z", (10,), 0, 2),)),
    "words in documents": ("""data { int N; array[N] int w; array[N] int doc; %given% }
parameters { array[2] simplex[2] theta; array[2] simplex[3] phi; %discrete% }
model { for (n in 1:N) target += categorical_lpmf(z[n] | theta[doc[n]]) + categorical_lpmf(w[n] | phi[z[n]]); }""",
        {"N": 8, "w": [1, 1, 2, 3, 1, 1, 3, 3], "doc": [1, 1, 1, 2, 2, 1, 2, 2]}, (Variable("z", (8,), 1, 2),)),
    "several judgements of one": ("""data { int N; int I; array[N] int y; array[N] int ii; %given% }
parameters { vector<lower=0, upper=1>[2] p; real<lower=0, upper=1> q; %discrete% }
model { for (i in 1:I) target += z[i] == 1 ? log(q) : log1m(q);
  for (n in 1:N) target += bernoulli_lpmf(y[n] | p[z[ii[n]]]); }""",
        {"N": 9, "I": 6, "y": [0, 1, 1, 0, 0, 0, 1, 1, 0], "ii": [1, 1, 2, 2, 3, 4, 5, 5, 5]},
        (Variable("z", (6,), 1, 2),)),
    "alike but for a chain": ("""data { int N; array[N] int y; %given% }
parameters { vector<lower=0, upper=1>[2] p; real m; %discrete% }
model { for (n in 1:N) target += bernoulli_lpmf(y[n] | p[z[n]]); for (n in 2:4) target += m * z[n] * z[n - 1]; }""",
        {"N": 9, "y": [0, 1, 0, 0, 0, 0, 1, 0, 0]}, (Variable("z", (9,), 1, 2),)),
    "impossible rows": ("""data { int N; array[N] int y; %given% }
parameters { real<lower=0, upper=1> p; real<lower=0, upper=1> q; %discrete% }
model { for (n in 1:N) { target += bernoulli_lpmf(z[n] | q); for (j in 1:2)
  target += bernoulli_lpmf(y[n] | p * z[n]); } }""", {"N": 6, "y": [0, 1, 0, 0, 0, 1]}, (Variable("z", (6,), 0, 2),)),
    "chains that begin anywhere": ("""data { int I; int T; array[I] int first; array[I, T] int y; array[I] int g;
  %given% }
parameters { matrix<lower=0, upper=1>[2, T] phi; real<lower=0, upper=1> p; vector[2] e; %discrete% }
model { for (i in 1:I) { if (first[i] > 0) for (t in (first[i] + 1):T) {
      target += bernoulli_lpmf(z[i, t] | z[i, t - 1] * phi[g[i], t]); target += bernoulli_lpmf(y[i, t] | z[i, t] * p); }
    for (t in 1:first[i]) if (z[i, t] == 0) target += negative_infinity(); }
  for (t in 1:T) target += e[z[3, t] + 1] / t; }""",
        {"I": 4, "T": 3, "first": [1, 0, 2, 1], "g": [1, 1, 2, 1], "y": [[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]]},
        (Variable("z", (4, 3), 0, 2),)),
    "chains against the order of elements": ("""data { int I; int T; array[I, T] int y; %given% }
parameters { array[T, 2] simplex[2] move; array[2] simplex[3] seen; %discrete% }
model { for (i in 1:I) { for (t in 2:T) target += categorical_lpmf(z[t - 1, i] | move[t, z[t, i]]);
  for (t in 1:T) target += categorical_lpmf(y[i, t] | seen[z[t, i]]); } }""",
        {"I": 3, "T": 3, "y": [[1, 2, 3], [3, 2, 1], [1, 2, 3]]}, (Variable("z", (3, 3), 1, 2),)),
    "trees and pairs alike": ("""data { int I; array[I] int g; %given% }
parameters { matrix[2, 2] m; vector[2] a; %discrete% }
model { for (i in 1:I) { target += m[z[i, 1], z[i, 2]] * g[i];
  target += m[z[i, 3], z[i, 1]] + a[z[i, 1]] * g[i]; } }""", {"I": 3, "g": [2, 1, 2]}, (Variable("z", (3, 3), 1, 2),)),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ALIKE)
def test_the_sum_over_all_assignments(name):
    pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text, data, variables = ALIKE[name]
    assert compared(Style(text, variables, data, 10**6), 5, ("pyro", "numpyro")) == ""


def eliminated(monkeypatch):
    """The numbers of elements that are summed out, of every sum from now on."""
    found = []
    run = elimination.Elimination.run

    def spy(self):
        found.append(int(self.left.sum()))
        return run(self)

    monkeypatch.setattr(elimination.Elimination, "run", spy)
    return found


def test_one_is_summed_out_for_all_and_each_is_drawn(monkeypatch):
    found = eliminated(monkeypatch)
    module = stanimport.loads(ZERO_INFLATED.replace("%given%", "").replace(
        "%discrete%", "array[N] int<lower=0, upper=1> z;"))  # fmt: skip
    fit = stanimport.sample(module, {"N": 10, "y": COUNTS}, seed=3, chains=1, iter_warmup=200, iter_sampling=2000)
    assert 1 in found
    z, p, la = fit.stan_variable("z"), fit.stan_variable("p"), fit.stan_variable("la")
    zero = np.array(COUNTS) == 0
    assert not z[:, ~zero].any()
    structural = p / (p + (1 - p) * np.exp(-la))  # the probability that a zero is one that no count explains
    expected = np.where(zero, structural.mean(), 0.0)
    np.testing.assert_allclose(fit.discrete_probabilities("z")[:, 1], expected, rtol=1e-9)
    np.testing.assert_array_equal(fit.most_probable("z"), (structural[:, None] > 0.5) & zero)
    often = z[:, zero].sum(1)  # given the parameters they are independent
    sd = np.sqrt((zero.sum() * structural * (1 - structural)).sum())
    assert abs(often.sum() - (zero.sum() * structural).sum()) < 4 * sd
    apart = [stats.pearsonr(z[:, 0] - structural, z[:, i] - structural)[0] for i in np.flatnonzero(zero)[1:]]
    assert np.abs(apart).max() < 4.5 / np.sqrt(len(z))


CAPTURES = """data { int I; int T; array[I] int first; array[I, T] int y; array[I, T] int low; }
parameters { vector<lower=0, upper=1>[T - 1] phi; real<lower=0, upper=1> p; array[I, T] int<lower=low, upper=1> z; }
model { for (i in 1:I) for (t in (first[i] + 1):T) {
  z[i, t] ~ bernoulli(z[i, t - 1] * phi[t - 1]); y[i, t] ~ bernoulli(z[i, t] * p); } }"""


@pytest.mark.slow
def test_one_chain_is_summed_out_for_all_that_were_last_seen_then(monkeypatch):
    found = eliminated(monkeypatch)
    y = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 1, 0, 0]])
    last, first = 5 - y[:, ::-1].argmax(1), 1 + y.argmax(1)
    data = {"I": 6, "T": 5, "first": first, "y": y, "low": (np.arange(1, 6) <= last[:, None]).astype(int)}
    module = stanimport.loads(CAPTURES)
    fit = stanimport.sample(module, data, seed=3, chains=1, iter_warmup=200, iter_sampling=2000)
    assert 4 + 3 + 2 in found  # animals last seen on the first, the second, the third occasion
    z, phi, p = fit.stan_variable("z"), fit.stan_variable("phi"), fit.stan_variable("p")[:, None]
    expected = fit.discrete_probabilities("z")[..., 1]
    np.testing.assert_allclose(expected[0], expected[2], rtol=1e-12)
    dead, alive = 1 - phi[:, 3], phi[:, 3] * (1 - p[:, 0])  # of the last one on the last two occasions, alive before
    gone, there = 1 - phi[:, 2], phi[:, 2] * (1 - p[:, 0])
    np.testing.assert_allclose(expected[5, 4], (there * alive / (gone + there * (dead + alive))).mean(), rtol=1e-9)
    sd = np.sqrt(0.25 / len(z))
    assert np.abs(z.mean(0) - expected).max() < 4.5 * sd
    never = z[:, [0, 2, 4], 1] - z[:, [0, 2, 4], 1].mean(1, keepdims=True)
    assert never.any()  # each is drawn by itself
