"""Loops whose upper bound changes while they run: Stan asks for it before every iteration, as the C++ of stanc does."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LogProb

HEAD = """functions { int least(int a, int b) { return a < b ? a : b; } }
data { int N; vector[9] y; array[9] int s; array[9] int z; }
parameters { vector[9] m; real t; }
model { """
DATA = {"N": 5, "y": [0.3, -1.2, 0.8, 1.9, -0.4, 0.1, 2.2, -0.9, 0.6], "s": [2, 1, 3, 1, 2, 1, 1, 2, 1],
        "z": [0, 1, 1, 0, 1, 0, 0, 1, 0]}  # fmt: skip
EACH = "target += normal_lpdf(y[j] | m[j], 1);"
LAST = "target += normal_lpdf(y[n] | t, 2); }"
BODIES = {
    "falls": "int n = 4; for (j in 1:n) { %s n = 3; }",
    "rises": "int n = 2; for (j in 1:n) { %s if (j < 4) n += 1; }",
    "ends a loop": "int n = N; for (j in 1:n) { %s if (z[j] == 1) n = j; }",
    "with continue": "int n = N; for (j in 1:n) { if (z[j] == 1) { n -= 1; continue; } %s }",
    "as parameters are": "int n = N; for (j in 1:n) { %s if (m[j] > 0) n -= 1; }",
    "an inner loop's": "int n = 2; for (i in 1:3) { for (j in 1:n) { %s if (j == 1) n = 4 - n; } }",
    "in an array": "array[3] int k = {1, 2, 4}; int n = 2; for (j in 1:k[3]) { %s k[3] = 2; }",
    "by a function": "int n = 5; for (j in 1:least(n, 4)) { %s n -= 1; }",
    "the lower one is asked for once": "int n = 2; for (j in n:5) { %s n = 4; }",
    "two counters, one in the bounds": "int n = 2; int b = 1; for (i in n:N) { int j = b; %s n += 1; b += 2; } n = b;",
    "a counter that the lower one reads": "int n = 2; int b = 1; for (i in n:5) { int j = b; %s b += s[i]; n = 3; }",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("what", BODIES)
def test_densities_are_stans(what, backend):
    import stanli

    text = HEAD + BODIES[what] % EACH + LAST
    stan, ours = stanli.Model(stan_code=text, data=DATA), LogProb(stanimport.loads(text, backend=backend), DATA)
    points = [np.random.default_rng(seed).normal(size=10) for seed in (1, 2, 3)]
    expected, found = [stan.log_prob_grad(q) for q in points], [ours.at(q) for q in points]
    np.testing.assert_allclose(np.diff([v for v, _ in found]), np.diff([v for v, _ in expected]), rtol=1e-10)
    np.testing.assert_allclose([g for _, g in found], [g for _, g in expected], rtol=1e-10, atol=1e-12)


def test_an_inner_loop_changes_the_outer_ones():
    """Of four iterations the first leaves three, the second two; the inner loop repeats each twice."""
    text = HEAD + "int n = 4; for (j in 1:n) { for (k in 1:2) {" + EACH + " if (j == k) n -= 1; } }" + LAST
    point = np.random.default_rng(1).normal(size=10)
    expected = 2 * stats.norm.logpdf(DATA["y"][:2], point[:2]).sum() + stats.norm.logpdf(DATA["y"][1], point[9], 2)
    np.testing.assert_allclose(LogProb(stanimport.loads(text), DATA).at(point)[0], expected, rtol=1e-12)


def test_sums_are_taken_again():
    """Of {1, 2, 3}, each element becoming 1 in its turn: 6, 6, 5, 3."""
    text = """data { int N; } transformed data { array[3] int n = {1, 2, 3}; int made = 0;
      for (j in 1:sum(n)) { made += 1; if (j <= 3) n[j] = 1; } }"""
    assert stanimport.loads(text).transformed_data(N=1)["made"] == 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_random_bounds_are_drawn_before_every_iteration(backend):
    """The k-th iteration takes place if each of k independent numbers was as large as its place."""
    module = stanimport.loads("""data { real rate; } parameters { real x; } model { x ~ normal(0, 1); }
      generated quantities { int n = 0; for (i in 1:poisson_rng(rate)) n += 1; }""", backend=backend)
    fit = stanimport.sample(module, {"rate": 4.0}, chains=1, iter_warmup=50, iter_sampling=400, seed=1,
                            show_progress=False)  # fmt: skip
    n = np.ravel(fit.stan_variable("n"))
    reached = np.cumprod(stats.poisson(4.0).sf(np.arange(8)))
    counts = [(n >= k).sum() for k in range(1, 9)]
    for count, p in zip(counts, reached):
        assert stats.binomtest(int(count), n.size, p).pvalue > 1e-4
