"""Streams of random numbers in JAX, in double and in single precision, and the laws drawn from them."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from stanlib.random import streams
from stanlib.random.jax import JaxRandom

COUNT, LEAST_P = 20_000, 1e-4
SINGLE = pytest.mark.parametrize("wide", [True, False], ids=["double", "single"])


def sources(count):
    return [JaxRandom(jax.random.PRNGKey(seed)) for seed in range(count)]


@SINGLE
def test_streams_are_uncorrelated(wide):
    """Those of consecutive seeds, of consecutive calls, and of the lanes of a loop."""
    with jax.enable_x64(wide):
        first, *others = sources(8)
        lanes = first.split()
        rows = [s.uniform((COUNT,)) for s in others] + [first.uniform((COUNT,)) for _ in range(8)]
        rows += [lanes.at(i).uniform((COUNT,)) for i in range(8)]
        rows += [jax.vmap(lambda i: lanes.at(i).uniform(()))(jnp.arange(COUNT))]
    found = np.corrcoef(np.array(rows, float))[np.triu_indices(len(rows), 1)] * np.sqrt(COUNT)
    assert stats.kstest(found, stats.norm.cdf).pvalue > LEAST_P and np.abs(found).max() < 5


@pytest.mark.sampled(2)
@SINGLE
def test_a_state_goes_through_a_trace(wide):
    with jax.enable_x64(wide):
        state = streams.begun(jax.random.PRNGKey(3))
        assert state.dtype == (jnp.uint64 if wide else jnp.uint32)
        traced = jax.jit(lambda s: JaxRandom(s).gamma(jnp.full(4, 0.5)))(state)
        np.testing.assert_array_equal(traced, JaxRandom(state).gamma(jnp.full(4, 0.5)))
        same = JaxRandom(jax.random.key(3)).uniform((3,))  # a key of JAX's newer kind
        np.testing.assert_array_equal(same, JaxRandom(state).uniform((3,)))
        assert streams.spread(state, (2, 3)).shape[:2] == (2, 3)


@pytest.mark.sampled(8)
@SINGLE
@pytest.mark.parametrize("name, parameters, law", [
    ("gamma", (0.3,), stats.gamma(0.3)), ("gamma", (70.0,), stats.gamma(70)), ("beta", (0.5, 3.0), stats.beta(0.5, 3)),
    ("poisson", (4.0,), stats.poisson(4)), ("poisson", (25.0,), stats.poisson(25)),
    ("binomial", (9, 0.8), stats.binom(9, 0.8)), ("binomial", (200, 0.2), stats.binom(200, 0.2)),
    ("binomial", (200, 0.7), stats.binom(200, 0.7)), ("binomial", (10**6, 0.0001), stats.binom(10**6, 0.0001)),
])  # fmt: skip
def test_laws(name, parameters, law, wide):
    with jax.enable_x64(wide):
        x = np.asarray(getattr(sources(1)[0], name)(*parameters, (COUNT,)))
    if x.dtype.kind == "f":
        assert stats.kstest(x, law.cdf).pvalue > LEAST_P
        return
    values = np.arange(law.ppf(0.001), law.ppf(0.999))
    observed = np.append([np.sum(x == v) for v in values], 0)
    observed[-1] = COUNT - observed.sum()
    expected = COUNT * np.append(law.pmf(values), 1 - law.pmf(values).sum())
    assert stats.chisquare(observed, expected).pvalue > LEAST_P


@pytest.mark.parametrize("name, parameters, drawn", [
    ("gamma", ([0.0, -1.0, np.nan, np.inf],), [0.0, np.nan, np.nan, np.nan]),
    ("von_mises", ([-1.0, np.nan, np.inf],), [np.nan, np.nan, np.nan]),
    ("poisson", ([0.0, np.nan, np.inf],), [0, -1, -1]),
    ("binomial", ([0, 10, 10, 10, -1], [0.5, 0.0, 1.0, np.nan, 0.5]), [0, 0, 10, -1, -1]),
])  # fmt: skip
def test_edges_come_to_an_end(name, parameters, drawn, x64):
    np.testing.assert_array_equal(getattr(sources(1)[0], name)(*map(np.array, parameters)), drawn)


def test_large_parameters_lose_no_digits(x64):
    """Where the difference of two large terms would decide about acceptance."""
    x = np.asarray(sources(1)[0].gamma(1e18, (COUNT,)))
    assert stats.kstest((x - 1e18) / 1e9, stats.norm.cdf).pvalue > LEAST_P
    n = 2**31 - 1
    k = np.asarray(sources(1)[0].binomial(n, 0.4, (COUNT,)))
    assert stats.kstest((k - 0.4 * n) / np.sqrt(0.24 * n), stats.norm.cdf).pvalue > LEAST_P
