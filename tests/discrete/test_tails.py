"""Animals that differ in nothing any more once they were last seen: the ends of their histories are summed out once."""
from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")

import stanimport  # noqa: E402
from stanimport.inference.density.posterior import condition  # noqa: E402
from stanlib.discrete import tails  # noqa: E402

HEAD = """data { int I; int T; array[I, T] int y; array[I] int first; array[I] int last; array[I, T] int known;
  array[I] int g; array[I, T] int age; }
parameters { vector<lower=0, upper=1>[3] phi; array[2] vector<lower=0, upper=1>[T - 1] p; %discrete% }
"""
SUMMED = """model { for (i in 1:I) for (t in (first[i] + 1):T) {
  z[i, t] ~ bernoulli(z[i, t - 1] * phi[age[i, t]]);
  y[i, t] ~ bernoulli(z[i, t] * p[g[i], t - 1]); } }"""
BY_HAND = """model { for (i in 1:I) {
  for (t in (first[i] + 1):last[i]) { target += log(phi[3]); y[i, t] ~ bernoulli(p[g[i], t - 1]); }
  real chi = 1;
  for (b in 1:(T - last[i])) { int t = T - b; real f = phi[min(3, t + 1 - last[i])];
    chi = 1 - f + f * (1 - p[g[i], t]) * chi; }
  target += log(chi); } }"""
# survival and sightings are the same on all occasions
ALIKE = """model { for (i in 1:I) for (t in (first[i] + 1):T) {
  z[i, t] ~ bernoulli(z[i, t - 1] * phi[1]); y[i, t] ~ bernoulli(z[i, t] * phi[2]); } }"""
ALIKE_BY_HAND = """model { vector[T] chi; chi[T] = 1;
  for (b in 1:(T - 1)) { int t = T - b; chi[t] = 1 - phi[1] + phi[1] * (1 - phi[2]) * chi[t + 1]; }
  for (i in 1:I) { target += log(chi[last[i]]);
    for (t in (first[i] + 1):last[i]) { target += log(phi[1]); y[i, t] ~ bernoulli(phi[2]); } } }"""


def pair(seed, first, last, occasions=110, besides=("", ""), programs=(SUMMED, BY_HAND)):
    """The posterior of histories of animals, summed by the compiler and by hand; `besides` is in the first alone."""
    count = len(first)
    rng = np.random.default_rng(seed)
    y = np.zeros((count, occasions), int)
    for i, (a, b) in enumerate(zip(first, last)):
        y[i, a - 1 : b] = rng.integers(0, 2, b - a + 1)
        y[i, [a - 1, b - 1]] = 1
    data = {"I": count, "T": occasions, "y": y, "first": first, "last": last, "g": rng.integers(1, 3, count),
            "known": (np.arange(1, occasions + 1) <= last[:, None]).astype(int)}  # fmt: skip
    since = np.arange(1, occasions + 1) - last[:, None]
    data["age"] = np.where(since > 0, np.minimum(since, 3), 3)
    data = {n: np.asarray(v).tolist() for n, v in data.items()}
    declared = HEAD.replace("%discrete%", "array[I, T] int<lower=known, upper=1> z;" + besides[0])
    summed, by_hand = programs[0].replace("model {", "model {" + besides[1]), programs[1]
    texts = declared + summed, HEAD.replace("%discrete%", "") + by_hand
    return [condition(stanimport.loads(text), data) for text in texts]


@pytest.fixture(scope="module")
def posteriors():
    rng = np.random.default_rng(3)
    first = rng.integers(1, 60, 24)
    return pair(4, first, np.minimum(first + rng.integers(0, 30, 24), 106))


def compared(posteriors, x):
    with jax.enable_x64(True):
        ours, hand = (jax.jit(jax.value_and_grad(p.log_density))(x) for p in posteriors)
    np.testing.assert_allclose(float(ours[0]), float(hand[0]), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(ours[1]), np.asarray(hand[1]), rtol=1e-10, atol=1e-10)


def test_density_and_gradient_are_those_by_hand(posteriors, monkeypatch):
    found = []
    original = tails.tails
    monkeypatch.setattr(tails, "tails", lambda *a: found.append(original(*a)) or found[-1])
    compared(posteriors, np.random.default_rng(1).normal(size=posteriors[0].size))
    assert found[0] is not None


def test_what_would_underflow_is_summed_in_logarithms(posteriors):
    """Nobody dies, and nobody would be overlooked: what is left of 100 occasions is below what R may be."""
    x = np.full(posteriors[0].size, 6.9)
    x[:3] = 800.0
    compared(posteriors, x)


def test_histories_that_are_tails_from_the_beginning():
    """All animals were seen last at the same time: nothing is left before the end that they share."""
    made = pair(5, np.arange(1, 25), np.full(24, 80))
    compared(made, np.random.default_rng(3).normal(size=made[0].size))


@pytest.mark.slow
@pytest.mark.parametrize("besides", [("", ""), ("array[3] int<lower=0, upper=1> w;", "w ~ bernoulli(phi[2]);")])
def test_few_long_histories(besides):
    """Chains of so many steps keep their known elements where they are summed along; their tails do not."""
    first = np.array([239, 544, 918, 952, 942, 874, 309, 168, 664, 953])
    last = first + [74, 51, 82, 16, 33, 124, 117, 51, 105, 47]
    made = pair(6, first, last, 1000, besides, (ALIKE, ALIKE_BY_HAND))
    compared(made, np.random.default_rng(3).normal(size=made[0].size))


@pytest.mark.slow
def test_a_term_of_a_single_element():
    """What one element of all has is a term of that one alone."""
    animal, occasion = 1, 60
    besides = f"target += log(phi[3]) * z[{animal}, {occasion}];"
    hand = ALIKE_BY_HAND.replace("target += log(chi[last[i]]);", f"""if (i != {animal}) target += log(chi[last[i]]);
      else {{ real c = 1;
        for (b in 1:(T - last[i])) {{ real own = T - b + 1 == {occasion} ? phi[3] : 1;
          c = 1 - phi[1] + phi[1] * (1 - phi[2]) * own * c; }}
        target += log(c); }}""")
    first = np.random.default_rng(2).integers(1, 50, 24)
    made = pair(5, first, first + 5, besides=("", besides), programs=(ALIKE, hand))
    compared(made, np.random.default_rng(3).normal(size=made[0].size))
