"""Counts, and the largest and smallest, of elements in groups are elements of their own, however they are summed."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.discrete import tallies
from tests.discrete.small import Variable
from tests.discrete.styles import Style
from tests.discrete.test_draws import COUNT, drawn, positions, weights
from tests.discrete.trial import compared
from tests.random_programs.referee import ours

N = 5
D, Z = Variable("D", (N,), 0, 2), Variable("z", (3,), 1, 3)
OWN, SOME = Variable("k", (3,), 0, 3, (3, 2, 3)), Variable("k", (3,), 1, 3, (3, 2, 3))
DATA = {
    "N": N, "G": 3, "g": [1, 3, 3, 3, 1], "s": [1, 3, 1], "e": [3, 5, 0], "w": [2, 1, -1, 3, 0],
    "x": [0.3, -0.5, 1.1, 0.7, -1.2], "y": [1.3, 0.2, 2.1],
    "who": [1, 3, 5, 4], "high": [3, 2, 3], "low": [1, 2, 2],
}  # fmt: skip
_HEAD = """data { int N; int G; array[N] int g; array[G] int s; array[G] int e; array[N] int w; vector[N] x;
  vector[G] y; array[4] int who; array[G] int low; array[G] int high; %given% }
parameters { vector[2] m; real<lower=0, upper=1> p; vector[3] beside; %discrete% }
"""
_TELLS = "for (n in 1:N) target += m[1] * x[n] * D[n];"
_STATES = "for (n in 1:3) target += m[1] * x[n] * z[n] + 0.2 * square(z[n] - m[2]);"
_INSIDE = "for (n in s[i]:e[i])"
_FOUR = "for (n in low[i]:high[i])"
_SEEN = "target += normal_lpdf(y[i] | m[2] * c + 0.1 * c * c, 1);"

# By name: the model, its discrete parameter, and the entries that a table may have without convolutions.
MODELS: dict[str, tuple[str, Variable]] = {
    "by index": (f"""{_TELLS} array[G] int c = rep_array(0, G); for (n in 1:N) c[g[n]] += D[n];
  for (i in 1:G) target += normal_lpdf(y[i] | m[2] * c[i], 1);""", D),
    "of reals": (f"""{_TELLS} vector[G] c = rep_vector(0, G); for (n in 1:N) c[g[n]] += D[n]; y ~ normal(c * m[2], 1);
  target += p * y[1];""", D),
    "set in a loop": (f"""{_TELLS} array[G] int c; for (i in 1:G) c[i] = i; for (n in 1:N) c[g[n]] -= D[n];
  for (i in 1:G) target += normal_lpdf(y[i] | m[2] * c[i], 1);""", D),
    "from one to another": (f"{_TELLS} for (i in 1:G) {{ int c = 0; {_INSIDE} c += D[n]; {_SEEN} }}", D),
    "weighted": (f"{_TELLS} for (i in 1:G) {{ int c = 0; {_INSIDE} c += w[n] * D[n]; {_SEEN} }}", D),
    "of a state": (f"{_STATES} for (i in 1:G) {{ int c = 0; {_FOUR} if (z[n] == 2) c += 1; {_SEEN} }}", Z),
    "of states, in a real": (f"{_STATES} for (i in 1:G) {{ real c = 0; {_FOUR} c += z[n] == 2; {_SEEN} }}", Z),
    "of states with weights": (f"""{_STATES} for (i in 1:G) {{ int c = 0; {_FOUR} {{ if (z[n] == 1) c += 2;
  else if (z[n] == 3) c -= w[n]; }} {_SEEN} }}""", Z),
    "of bounds of their own": ("""for (n in 1:3) target += m[1] * x[n] * k[n]; int c = 0; for (n in 1:3) c += k[n];
  target += -square(c - 3 - m[2]);""", OWN),
    "of bounds that keep it above 0": ("""int c = 0; for (n in 1:3) c += k[n];
  for (n in 1:3) target += m[1] * x[n] * k[n]; target += normal_lpdf(y[1] | m[2], c - 2);""", SOME),
    "together with others, above 1": ("""target += bernoulli_lpmf(D[1] | 0.7);
  for (n in 2:N) target += bernoulli_lpmf(D[n] | 0.6 * D[n - 1] + (1 - max(D[1:(n - 1)])) * 0.5 * (1 + p));
  for (n in 1:N) target += m[1] * x[n] * D[n];""", D),
    "where it decides": (f"""{_TELLS}
  for (i in 1:2) target += normal_lpdf(y[i] | sum(D[s[i]:e[i]]) > 1 ? m[1] : m[2], 1);
  target += max(D[1:4]) && sum(D) > 2 ? m[2] : 0;""", D),
    "whether there is one": (f"{_TELLS} for (i in 1:G) {{ int c = 0; {_INSIDE} if (D[n]) c = 1; {_SEEN} }}", D),
    "whether there is one, by or": (f"{_TELLS} for (i in 1:G) {{ int c = 0; {_INSIDE} c = c || D[n]; {_SEEN} }}", D),
    "whether all are": (f"{_TELLS} for (i in 1:G) {{ int c = 1; {_INSIDE} c = c && D[n]; {_SEEN} }}", D),
    "whether none is": (f"{_TELLS} for (i in 1:G) {{ real c = 1; {_INSIDE} c *= 1 - D[n]; {_SEEN} }}", D),
    "the largest": (f"{_STATES} for (i in 1:G) {{ int c = max(z[low[i]:high[i]]); {_SEEN} }}", Z),
    "the smallest": (f"{_STATES} for (i in 1:G) {{ int c = min(z[low[i]:high[i]]); {_SEEN} }}", Z),
    "the largest, in a loop": (f"{_STATES} int c = 0; for (n in 1:3) c = max(c, z[n] - 1); target += m[2] * c;", Z),
    "sum": (f"{_TELLS} target += normal_lpdf(y[1] | sum(D) * m[2], 1);", D),
    "sums of some": (f"{_TELLS} target += m[2] * sum(D[who]) * sum(D[3:5]);", D),
    "of a chain": ("""for (n in 2:N) target += (D[n] == D[n - 1]) * m[1]; int c = 0; for (n in 1:N) c += D[n];
  target += -square(c - 2.3 - m[2]);""", D),
    "of a chain, by groups": (f"""for (n in 2:3) target += (z[n] == z[n - 1]) * m[1] + 0.1 * x[n] * z[n];
  for (i in 1:G) {{ int c = 0; {_FOUR} c += z[n] == 2; {_SEEN} }}""", Z),
    "two of the same": (f"""{_TELLS} int a = 0; int b = 0; for (n in 1:N) {{ a += D[n]; b += D[n] * (n < 4); }}
  target += -square(a - 2 * b - m[2]);""", D),
    "ever before": ("""for (n in 1:N) { int ever = 0; for (t in 1:(n - 1)) if (D[t]) ever = 1;
  target += ever ? m[1] * D[n] : m[2] * x[n] * D[n]; }""", D),
    "ever before, in the same loop": ("""int ever = 0; D[1] ~ bernoulli(p);
  for (n in 2:N) { ever = ever || D[n - 1]; target += bernoulli_lpmf(D[n] | D[n - 1] * 0.8 + (1 - ever) * p); }
  for (n in 1:N) target += m[1] * x[n] * D[n] + 0.1 * ever;""", D),
    "none before, step by step": ("""array[N] int q; q[1] = 1; D[1] ~ bernoulli(p);
  for (n in 2:N) { q[n] = q[n - 1] * (1 - D[n - 1]); target += bernoulli_lpmf(D[n] | D[n - 1] * 0.8 + q[n] * p); }
  for (n in 1:N) target += m[1] * x[n] * D[n] - q[n] * m[2];""", D),
    "how many before": ("""int c = 1; for (n in 1:N) { target += normal_lpdf(x[n] | D[n] * m[1] + c * m[2], 1);
  if (D[n]) c += 1; } target += 0.2 * c;""", D),
    "each twice": (f"""{_TELLS} int c = 0; for (n in 1:N) {{ c += D[n]; if (n > 1) c += D[n - 1]; }}
  target += bernoulli_lpmf(1 | 0.05 + 0.1 * c) + (c % 2 == 1 ? m[2] : p);""", D),
    "by twos, which has no meaning between": (f"""{_TELLS} int c = 0; for (n in 1:N) c += 2 * D[n];
  target += normal_lpdf(y[1] | m[2], c % 2 == 0 ? 1 + c : -1);""", D),
    "two counts of the same, which add up": ("""int a = 0; int b = 0; for (n in 1:N) { a += D[n]; b += 1 - D[n]; }
  target += m[1] * a * b + log(1 - abs(a + b - N) * 2.0); for (n in 1:N) target += m[1] * x[n] * D[n];""", D),
    "the largest before": ("""D[1] ~ bernoulli(p);
  for (n in 2:N) target += bernoulli_lpmf(D[n] | 0.5 * p + 0.4 * p * (1 - max(D[1:(n - 1)])));
  target += x[2] * D[3];""",
        D),
    "one read beside them": (f"""{_TELLS} int c = 0; for (n in 1:N) c += D[n];
  target += m[2] * c * D[2] - 0.1 * c * c;""", D),
    "impossible ones": (f"{_TELLS} int c = 0; for (n in 1:N) c += D[n]; if (c != 3) target += negative_infinity();", D),
}  # fmt: skip


def small_of(name):
    model, variable = MODELS[name]
    return Style(f"{_HEAD}model {{ {model} }}", (variable,), DATA, 10**7)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", MODELS)
def test_the_sum_over_all_assignments(name, monkeypatch):
    pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    monkeypatch.setattr(tallies, "FEW", 0)
    monkeypatch.setattr(tallies, "COUPLED", 0)
    assert compared(small_of(name), 3, ("pyro",)) == ""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("few", [0, 32], ids=["convolved", "as it is"])
@pytest.mark.parametrize("name", ["by index", "weighted", "the largest before"])
def test_the_sum_on_jax(name, few, monkeypatch):
    pytest.importorskip("stanli", reason="stanli is not installed")
    monkeypatch.setattr(tallies, "FEW", few)
    monkeypatch.setattr(tallies, "COUPLED", few)
    assert compared(small_of(name), 3, ("numpyro",)) == ""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["of states with weights", "the largest"])
def test_draws_have_their_conditional_law(name, x64, monkeypatch):
    monkeypatch.setattr(tallies, "FEW", 0)
    model, variable = MODELS[name]
    small = Style(f"{_HEAD}model {{ {model} }}", (variable,), DATA, 10**7)
    values = drawn(small, COUNT)
    expected = weights(small) * COUNT
    counts = np.bincount(positions(small, values), minlength=len(expected))
    rare = expected < 10
    counts, expected = np.append(counts[~rare], counts[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    assert stats.chisquare(counts[:-1], expected[:-1] * counts[:-1].sum() / expected[:-1].sum()).pvalue > 1e-3


def test_many_members_of_many_groups():
    """The law of a sum of different Bernoulli variables, by its recursion over the members."""
    text = """data { int N; int G; array[N] int g; array[G] int y; vector[N] x; }
    parameters { real a; array[N] int<lower=0, upper=1> D; }
    model { array[G] int c = rep_array(0, G); D ~ bernoulli_logit(a + x); for (n in 1:N) c[g[n]] += D[n];
      for (i in 1:G) y[i] ~ binomial(100, c[i] / 80.0); }"""
    rng = np.random.default_rng(1)
    x, g = rng.normal(size=150).round(2), rng.integers(1, 4, 150)
    data = {"N": 150, "G": 3, "g": g.tolist(), "x": x.tolist(), "y": [30, 42, 25]}
    points = [np.array([v]) for v in (0.3, -0.4)]
    found = ours.outcomes(text, data, points, "numpyro", parts=("gradient",))
    want = []
    for (a,) in points:
        total = 0.0
        for i, y in enumerate(data["y"], start=1):
            law = np.ones(1)
            for p in 1 / (1 + np.exp(-a - x[g == i])):
                law = np.convolve(law, [1 - p, p])
            total += np.log(law @ stats.binom.pmf(y, 100, np.arange(len(law)) / 80))
        want.append(total)
    np.testing.assert_allclose([f.log_density for f in found], want, rtol=1e-12)


@pytest.mark.slow
def test_the_most_probable_assignment_and_the_probabilities(x64):
    """Of ten items of which a noisy count is known, against all assignments."""
    text = """data { int N; real y; vector[N] x; } parameters { real a; array[N] int<lower=0, upper=1> D; }
    model { a ~ normal(0, 0.1); D ~ bernoulli_logit(a + x); y ~ normal(sum(D), 0.7); }"""
    x = np.linspace(-2, 1.5, 10)
    fit = stanimport.sample(stanimport.loads(text), {"N": 10, "y": 6.2, "x": x.tolist()}, seed=1, chains=1,
                            iter_warmup=100, iter_sampling=50)  # fmt: skip
    every = np.array(list(itertools.product([0, 1], repeat=10)))
    logs = stats.norm.logpdf(6.2, every.sum(1), 0.7) + (every @ (fit.stan_variable("a")[:, None] + x).T).T
    of_each = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    np.testing.assert_array_equal(fit.most_probable("D"), every[logs.argmax(axis=1)])
    np.testing.assert_allclose(fit.discrete_probabilities("D")[:, 1], (of_each @ every).mean(axis=0), atol=1e-9)


def test_what_is_rare_is_exact():
    text = """data { int N; vector[N] x; } parameters { real a; array[N] int<lower=0, upper=1> D; }
    model { D ~ bernoulli_logit(a + x); 1 ~ bernoulli(max(D)); }"""
    x = np.array([-40.0, -45.0, -41.5, -38.0, -50.0, -39.0])
    points = [np.array([v]) for v in (0.3, -2.0)]
    found = ours.outcomes(text, {"N": 6, "x": x.tolist()}, points, "numpyro", parts=("gradient",))
    want = [np.log(-np.expm1(-np.log1p(np.exp(a + x)).sum())) for (a,) in points]
    np.testing.assert_allclose([f.log_density for f in found], want, rtol=1e-13)
    np.testing.assert_allclose([f.gradient[0] for f in found], 1.0, rtol=1e-10)
