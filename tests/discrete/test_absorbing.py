"""Chains with a state that is never left, beside sums over all paths; rows in another order, and their derivatives."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

import stanimport
from stanlib.arrays import numpy as xp
from stanlib.discrete import absorbing
from stanlib.discrete.chains import Chains, Link
from stanlib.discrete.problem import Rows

NEVER = -np.inf


def chains_of(seed: int):
    """Random chains of several lengths, with terms, some of them impossible, and a table of data that one way only."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 8, 4)
    lengths[0] = 7
    at, end = np.arange(7), lengths[:, None]
    elements = np.where(at < end, at + 7 * np.arange(4)[:, None], -1)
    linked = elements[:, 1:] >= 0
    state, swapped = int(rng.integers(2)), bool(rng.integers(2))
    one_way = np.where([[[i == 1 - state and j == state for j in (0, 1)] for i in (0, 1)]], NEVER, 0.0)
    order = rng.permutation(linked.sum())
    rows = np.full(linked.shape, -1)
    rows[linked] = order
    moves = rng.normal(size=(len(order), 2, 2))
    moves[rng.random(moves.shape) < 0.15] = NEVER
    single = np.where((elements >= 0).T, rng.normal(size=(2, 7, 4)), 0.0)
    single[(rng.random(single.shape) < 0.1) & (elements >= 0).T] = NEVER
    links = (Link(0, np.where(linked, 0, -1), False), Link(1, rows, swapped))
    return Chains(elements, links), one_way, moves, single, state


def by_paths(c, one_way, moves, single):
    out = []
    for i, row in enumerate(c.elements):
        length = int((row >= 0).sum())
        logs = []
        for path in itertools.product((0, 1), repeat=length):
            total = sum(single[k, t, i] for t, k in enumerate(path))
            for t, (a, b) in enumerate(zip(path, path[1:])):
                total += one_way[0, a, b] + moves[c.links[1].rows[i, t]][(b, a) if c.links[1].swapped else (a, b)]
            logs.append(total)
        out.append(np.logaddexp.reduce(logs))
    return np.array(out)


@pytest.mark.parametrize("seed", range(20))
def test_sums_over_the_time_of_the_change(seed):
    c, one_way, moves, single, state = chains_of(seed)
    tables = [Rows(one_way), Rows(moves)]
    assert absorbing.left_state(tables, c) == state
    np.testing.assert_allclose(absorbing.log_sums(xp, tables, c, single, state), by_paths(c, one_way, moves, single),
                               rtol=1e-12)  # fmt: skip


def test_chains_that_may_return_are_none_of_these():
    c, one_way, moves, _, _ = chains_of(3)
    assert absorbing.left_state([Rows(np.zeros((1, 2, 2))), Rows(moves)], c) is None
    some = np.concatenate([one_way, np.zeros((1, 2, 2))])
    rows = np.where(c.linked, np.arange(c.linked.shape[1]) == 2, -1)
    assert absorbing.left_state([Rows(some)], Chains(c.elements, (Link(0, rows, False),))) is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_finite_where_moves_are_impossible(seed):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    from stanlib.arrays import jax as jxp

    c, one_way, moves, single, state = chains_of(seed)
    single = np.where(np.isfinite(single), single, 0.0)

    def total(moves):
        return jxp.sum(absorbing.log_sums(jxp, [Rows(one_way), Rows(moves)], c, single, state))

    with jax.enable_x64(True):
        slopes = np.asarray(jax.jit(jax.grad(total))(moves))
    assert np.isfinite(slopes).all()
    for at in zip(*np.nonzero(np.isfinite(moves))):
        up, down = moves.copy(), moves.copy()
        up[at] += 1e-5
        down[at] -= 1e-5
        ends = [np.nan_to_num(by_paths(c, one_way, m, single), neginf=0.0).sum() for m in (up, down)]
        step = (ends[0] - ends[1]) / 2e-5
        np.testing.assert_allclose(slopes[at], step, atol=1e-8)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("index", [[2, 0, -1], [3, 1, 0, 2], [-1, -1], [1, 1, -1, 3]])
def test_rows_in_another_order(index):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    from stanlib.arrays import jax as jxp

    index = np.array(index)
    x = np.random.default_rng(1).normal(size=(4, 2, 3))
    weights = np.random.default_rng(2).normal(size=(len(index), 2, 3))
    wanted = np.where((index >= 0)[:, None, None], x[index], 0.0)
    slopes = np.zeros_like(x)
    np.add.at(slopes, index[index >= 0], weights[index >= 0])
    with jax.enable_x64(True):
        f = lambda x: jxp.rearranged(x, index)
        np.testing.assert_array_equal(f(jax.numpy.asarray(x)), wanted)
        np.testing.assert_array_equal(jax.jit(f)(x), wanted)
        np.testing.assert_array_equal(jax.vmap(f, 1, 1)(jax.numpy.asarray(x)), wanted)
        g = jax.grad(lambda x: jxp.sum(f(x) * weights))
        np.testing.assert_allclose(g(x), slopes)
        many = jax.vmap(g)(np.stack([x, 2 * x]))
        np.testing.assert_allclose(many, np.stack([slopes, slopes]))
        found, tangent = jax.jvp(f, (x,), (2 * x,))
        np.testing.assert_allclose(tangent, 2 * found)
    np.testing.assert_array_equal(xp.rearranged(x, index), wanted)


BOUNDS = {"known": [[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]], "below": [[1, 1, -1, 0], [1, -1, 0, -1], [1, 1, 1, -1]]}
PROGRAM = """data { array[3, 4] int low; array[3, 4] int y; }
parameters { real a; vector<lower=0, upper=1>[3] p; %s }
model { for (i in 1:3) for (t in 2:4) { %s } }"""
TERMS = """target += bernoulli_lpmf(abs(z[i, t]) | inv_logit(a + i) * abs(z[i, t - 1]));
  if (z[i, t] >= 0) target += bernoulli_lpmf(y[i, t] | z[i, t] * p[i]); else target += p[i];"""
BINARY = """target += bernoulli_lpmf(z[i, t] | z[i, t - 1] * inv_logit(a + i));
  target += bernoulli_lpmf(y[i, t] | z[i, t] * p[i]);"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name, terms", [("known", BINARY), ("known", TERMS), ("below", TERMS)])
def test_bounds_that_data_set(name, terms, backend):
    stanli = pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip(backend, reason="the backend is not installed")
    from tests.random_programs.referee import ours

    low = BOUNDS[name]
    data = {"low": low, "y": [[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0]]}
    points = [np.array([0.3, -0.5, 0.8, 0.1]), np.array([-0.2, 0.4, 0.1, -0.7])]
    fixed = (PROGRAM % ("", terms)).replace("array[3, 4] int y;", "array[3, 4] int y; array[3, 4] int z;")
    found, translated = [], stanli.stan_to_mir(fixed)
    ranges = [range(v, 2) for row in low for v in row]
    for z in itertools.product(*ranges):
        m = stanli.Model(mir=translated, data={**data, "z": np.reshape(z, (3, 4)).tolist()})
        found.append([m.log_prob_grad(p) for p in points])
    text = PROGRAM % ("array[3, 4] int<lower=low, upper=1> z;", terms)
    got = ours.outcomes(text, data, points, backend, jit=False,
                        parts=("gradient",) if backend == "numpyro" else ours.PARTS)  # fmt: skip
    assert not any(g.rejected for g in got), got[0].rejected
    values = []
    for i, g in enumerate(got):
        logs = np.array([f[i][0] for f in found])
        shares = np.exp(logs - np.logaddexp.reduce(logs))
        np.testing.assert_allclose(g.gradient, sum(s * f[i][1] for s, f in zip(shares, found) if s > 0), atol=1e-10)
        values.append(g.log_density - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(values, 0.0, atol=1e-10)


DYING = """data { int T; array[T] int y; array[T] int<lower=0, upper=1> low; }
parameters { real<lower=0, upper=1> p; array[T] int<lower=low, upper=1> z; }
model { for (t in 2:T) { z[t] ~ bernoulli(0.4 * z[t - 1]); y[t] ~ bernoulli(z[t] * p); } }
"""


def dying(backend, last, occasions=30):
    """The log density and its gradient at p = 0.5 of one seen last on an occasion, and the former by hand."""
    from tests.random_programs.referee import ours

    low = (np.arange(1, occasions + 1) <= last).astype(int)
    data = {"T": occasions, "y": low.tolist(), "low": low.tolist()}
    found = ours.outcomes(DYING, data, [np.zeros(1)], backend, parts=("gradient",), jit=False)[0]
    never = 1.0
    for _ in range(occasions - last):
        never = 0.6 + 0.4 * 0.5 * never
    return found, np.log(never) + (last - 1) * np.log(0.4 * 0.5) + np.log(0.25)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_moves_that_are_data(backend):
    pytest.importorskip(backend, reason="the backend is not installed")
    found, expected = dying(backend, 2)
    assert found.rejected == ""
    assert found.log_density == pytest.approx(expected, rel=1e-12)


def test_known_elements_that_are_left_out_are_so_in_all_factors(monkeypatch):
    """Though a sum in one loop with them takes fewer steps."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    from stanlib.discrete import whole

    monkeypatch.setattr(whole.Saved, "worth", lambda *a: False)
    monkeypatch.setattr("stanlib.discrete.elimination.steps_saved", lambda *a: whole.Saved(1, 1.0))
    found, expected = dying("pyro", 3, 8)
    assert found.log_density == pytest.approx(expected, rel=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_draws_of_moves_that_are_data_and_seen_nowhere(backend):
    """Of chains that are alive at first, each step with probability 0.4."""
    pytest.importorskip(backend, reason="the backend is not installed")
    module = stanimport.loads("""data { int T; array[40, T] int<lower=0, upper=1> low; } parameters {
        real x; array[40, T] int<lower=low, upper=1> z; }
        model { x ~ std_normal(); for (i in 1:40) for (t in 2:T) z[i, t] ~ bernoulli(0.4 * z[i, t - 1]); }
    """, backend=backend)  # fmt: skip
    low = np.zeros((40, 20), int)
    low[:, 0] = 1
    fit = stanimport.sample(module, {"T": 20, "low": low}, chains=1, iter_warmup=5, iter_sampling=10, seed=1)
    z = fit.stan_variable("z")
    assert (np.diff(z, axis=2) <= 0).all() and (z[:, :, 0] == 1).all()
    assert z[:, :, 1].mean() == pytest.approx(0.4, abs=4 * np.sqrt(0.24 / 400))
