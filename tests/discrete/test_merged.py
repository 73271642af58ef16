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
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
def test_the_sum_over_all_assignments(name):
    pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text, data, variables = ALIKE[name]
    assert compared(Style(text, variables, data, 10**6), 5, ("pyro", "numpyro")) == ""


def eliminated(monkeypatch):
    """The numbers of elements that are summed out, of every sum from now on."""
    found = []
    run = elimination._Elimination.run

    def spy(self):
        found.append(int(self.left.sum()))
        return run(self)

    monkeypatch.setattr(elimination._Elimination, "run", spy)
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
