"""Sums along chains in probabilities: equal to sums in 60 digits, where what underflows counts in the end too."""
from __future__ import annotations

import mpmath
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy

from stanlib.arrays import jax as xp  # noqa: E402
from stanlib.arrays.jax import chains  # noqa: E402

NEVER = -np.inf


@pytest.fixture(autouse=True)
def in_probabilities(monkeypatch):
    """Small chains, too, which otherwise are summed in logarithms at once."""
    monkeypatch.setattr(chains, "LITTLE", 0)


def plain(linked, often, total=jnp.sum):
    """The sum in logarithms."""

    def run(single, table):
        def step(before, x):
            own, there, move = x
            after = xp.log_of_sum(before[:, :, None] + move, 1) + own
            return jnp.where(there[:, None], after, before), None

        moves = jnp.broadcast_to(table, (len(single) - 1, *table.shape[table.ndim > 2 :]))
        last, _ = jax.lax.scan(step, single[0], (single[1:], jnp.asarray(linked), moves))
        return total(xp.log_of_sum(last, 1) * often)

    return run


def ours(single, table, linked, often, which=None, probable=False):
    """Value, derivatives and whether probabilities sufficed; the table may be `probable`, probabilities itself."""
    with jax.enable_x64(True):
        in_logs = plain(linked, often) if which is None else lambda s, t: plain(linked, often)(s, t[which])
        logs = lambda t: xp.log(t) if probable else t
        given = lambda t: (linked, often, which, t if probable else None)
        f = lambda s, t: chains.log_sum_of_chains(in_logs, s, logs(t), *given(t))
        last = lambda t: jnp.moveaxis(t, 1, -1) if t.ndim == 4 else t
        sufficed = lambda s, t: chains._in_probabilities(
            jnp.swapaxes(s, 1, 2), last(t), linked=linked, often=often, which=which, logged=not probable
        )[0]  # fmt: skip
        both = jax.jit(lambda s, t: (jax.value_and_grad(f, (0, 1))(s, t), sufficed(s, t)))
        (value, found), good = both(jnp.asarray(single), jnp.asarray(table))
    return float(value), [np.asarray(g) for g in found], bool(good)


def exact(single, table, linked, often):
    """Value and derivatives by sums over all paths, forwards and backwards, of numbers that don't underflow."""
    length, count, kind = single.shape
    e = lambda x: mpmath.exp(mpmath.mpf(float(x))) if x > NEVER else mpmath.mpf(0)
    of_single, of_table = np.zeros(single.shape), np.zeros(table.shape)
    value, states = 0.0, range(kind)
    for c in range(count):
        end = 1 + int(linked[:, c].sum())
        own = [[e(single[t, c, k]) for k in states] for t in range(end)]
        at = lambda t: ((), (), (t,), (t % len(table), c))[table.ndim - 1]
        moves = [[[e(x) for x in row] for row in table[at(t)]] for t in range(end - 1)]
        ahead, back = [own[0]], [[mpmath.mpf(1)] * kind]
        for t in range(1, end):
            ahead.append([sum(ahead[-1][j] * moves[t - 1][j][k] for j in states) * own[t][k] for k in states])
            s = end - 1 - t
            back.insert(0, [sum(moves[s][j][k] * own[s + 1][k] * back[0][k] for k in states) for j in states])
        total = sum(ahead[-1])
        if total == 0:
            value = NEVER
            continue
        value += often[c] * float(mpmath.log(total))
        for t in range(end):
            for k in states:
                of_single[t, c, k] = often[c] * float(ahead[t][k] * back[t][k] / total)
                for j in states if t else ():
                    joint = ahead[t - 1][j] * moves[t - 1][j][k] * own[t][k] * back[t][k]
                    of_table[(*at(t - 1), j, k)] += often[c] * float(joint / total)
    return value, [of_single, of_table]


def agree(single, table, linked=None, often=None, which=None, probable=False):
    """Whether probabilities sufficed; raises unless value and derivatives are exact, of `probable` moves too."""
    single, table = np.asarray(single, float), np.asarray(table, float)
    linked = np.ones((len(single) - 1, single.shape[1]), bool) if linked is None else linked
    often = np.ones(single.shape[1]) if often is None else often
    value, found, good = ours(single, table, linked, often, which)
    with mpmath.workdps(60):
        expected, wanted = exact(single, table if which is None else table[which], linked, often)
    if which is not None:
        wanted[1] = np.stack([wanted[1][which == i].sum(0) for i in range(len(table))])
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-11)
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)
    if probable:
        agree_in_probabilities(single, table, linked, often, which, value, found)
    return good


def agree_in_probabilities(single, table, linked, often, which, value, found):
    """Where moves are given as probabilities, value and derivatives are those in their logarithms."""
    moves = np.exp(table)
    again, others, _ = ours(single, moves, linked, often, which, probable=True)
    np.testing.assert_allclose(again, value, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(others[0], found[0], rtol=1e-9, atol=1e-11)
    assert np.isfinite(others[1]).all()
    np.testing.assert_allclose(others[1] * moves, found[1], rtol=1e-9, atol=1e-11)


def one(rows):
    """Terms of a single chain."""
    return np.array(rows, float)[:, None, :]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("kind", [2, 3, 5])
@pytest.mark.parametrize("length", [7, 20])
@pytest.mark.parametrize("of", ["all", "a step", "a chain", "a step and a chain"])
def test_chains_of_several_lengths(of, length, kind):
    rng = np.random.default_rng(1)
    linked = np.arange(1, length)[:, None] < np.array([length, 3, 1, 6])
    shape = {"all": (), "a step": (length - 1,), "a chain": (1, 4), "a step and a chain": (length - 1, 4)}[of]
    move = np.log(rng.dirichlet(np.ones(kind), (*shape, kind)))
    single = rng.normal(size=(length, 4, kind)) * 3
    single[..., 1:][rng.random(single[..., 1:].shape) < 0.1] = NEVER
    move[..., 0, 1] = NEVER
    assert agree(single, move, linked, np.array([1.0, 5.0, 2.0, 1.0]), probable=length == 7)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", [3, 5])
def test_steps_of_few_tables(kind):
    rng = np.random.default_rng(6)
    linked = np.arange(1, 20)[:, None] < np.array([20, 12, 20])
    which = np.array([2, *[0, 1] * 8, 0, 3])
    move, single = np.log(rng.dirichlet(np.ones(kind), (4, kind))), rng.normal(size=(20, 3, kind))
    move[1, 0, 1] = move[3, :, 2] = single[5, 0, 1] = NEVER
    assert agree(single, move, linked, np.array([1.0, 2.0, 1.0]), which, probable=kind == 3)
    single[2:4, 1] += [[0, *[-900.0] * (kind - 1)], [NEVER, *[0.0] * (kind - 1)]]
    agree(single, move + np.where(np.eye(kind) > 0, 0.0, -800.0), linked, np.ones(3), which)


STAY = [[np.log(0.5), np.log(0.5)], [NEVER, 0.0]]  # what has left the first state stays in the second


@pytest.mark.sampled(4)
@pytest.mark.parametrize("last", [[0.0, NEVER], [0.0, -905.0], [0.0, -2000.0]])
def test_what_underflows_counts_when_all_else_is_excluded(last):
    """The second state is e^900 times as probable until its last term excludes it, or nearly so."""
    assert not agree(one([[0, 0], *[[-90.0, 0.0]] * 10, last]), STAY)


def test_what_underflows_at_once_counts():
    assert not agree(one([[0, -800.0], [NEVER, 0.0], [0, 0]]), [[0, NEVER], [NEVER, 0]])
    assert not agree(one([[0, 0], [0, 0], [NEVER, 0]]), [[0, -900.0], [NEVER, -900.0]])
    assert not agree(one([[0, NEVER], [0, -900.0], [0, 0]]), [[NEVER, 0.0], [0.0, 0.0]])


def test_states_that_cannot_be_reached_may_fit_better():
    agree(one([[0, NEVER], *[[-200.0, 0.0]] * 5]), [[0.0, NEVER], [0.0, 0.0]])


def test_what_vanishes_twice_counts_if_it_gains_between():
    """Neither what reaches the second state nor what follows it is there in the end; their product is all there is."""
    stay = [[0.0, NEVER], [NEVER, 0.0]]
    assert not agree(one([[0, 0], [0, -1000.0], *[[0, 115.0]] * 18, [0, -1000.0], [0, 0]]), stay)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(3))
def test_chains_that_lose_and_gain(seed):
    """Long chains of few moves, in which a state falls at once and rises by steps, many times."""
    rng = np.random.default_rng(seed)
    kind, length = rng.integers(2, 4), 60
    table = np.where(np.eye(kind) > 0, 0.0, rng.choice([NEVER, -2000.0, -800.0, -400.0], (kind, kind)))
    sizes = [-1000.0, -690.0, -300.0, 0.0, 100.0, 115.0, 200.0]
    steps = rng.choice(sizes, (length, 1, kind), p=rng.dirichlet(np.ones(7)))
    steps[..., 0] = 0.0
    steps[1:] -= np.where(np.cumsum(steps, 0)[:-1] > 0, 300.0, 0.0) * (rng.random(kind) < 0.7)
    agree(steps, table)


def test_far_observations_need_no_logarithms():
    """Terms that differ by more than exp underflows at, where every state may follow every other."""
    rng = np.random.default_rng(2)
    single = -0.5 * (np.where(rng.random((40, 1, 1)) < 0.5, 0, 50) - np.array([0.0, 50.0])) ** 2
    assert agree(single, np.log([[0.9, 0.1], [0.2, 0.8]]))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(24))
def test_terms_of_all_sizes(seed):
    rng = np.random.default_rng(seed)
    length, count, kind = rng.integers(2, 9), rng.integers(1, 4), rng.integers(2, 5)
    scale = 10 ** rng.uniform(-1, 3)
    single = rng.normal(size=(length, count, kind)) * scale
    table = rng.normal(size=(length - 1, kind, kind) if seed % 2 else (kind, kind)) * 10 ** rng.uniform(-1, 3)
    table[rng.random(table.shape) < rng.choice([0, 0.3])] = NEVER
    single[rng.random(single.shape) < rng.choice([0, 0.2])] = NEVER
    agree(single, table, rng.random((length - 1, 1)) < 2 * np.ones(count), rng.integers(1, 4, count).astype(float))


def test_nothing_is_possible():
    single, linked, often = one([[0, NEVER], [NEVER, 0], [0, 0]]), np.ones((2, 1), bool), np.ones(1)
    value, found, _ = ours(single, np.array([[0.0, NEVER], [NEVER, 0.0]]), linked, often)
    assert value == NEVER
    assert all(np.isfinite(g).all() for g in found)


def test_what_is_not_a_number_stays_so():
    single, linked, often = one([[0, 0.0], [np.nan, 0], [0, 0]]), np.ones((2, 1), bool), np.ones(1)
    assert np.isnan(ours(single, np.zeros((2, 2)), linked, often)[0])


def test_far_observations_of_moves_in_probabilities():
    """What underflows counts in the end: the sum is that of logarithms, and where moves never lead derivatives stay."""
    single, stay = one([[0, 0], *[[-90.0, 0.0]] * 10, [0, NEVER]]), np.array([[0.5, 0.5], [0.0, 1.0]])
    value, found, good = ours(single, stay, np.ones((11, 1), bool), np.ones(1), probable=True)
    assert not good
    np.testing.assert_allclose(value, 10 * -90 + 11 * np.log(0.5), rtol=1e-14)
    np.testing.assert_allclose(found[1], [[22.0, 0.0], [0.0, 0.0]], atol=1e-12)


def test_a_long_chain():
    rng = np.random.default_rng(3)
    single, linked, often = rng.normal(size=(10**5, 1, 2)) - 20, np.ones((10**5 - 1, 1), bool), np.ones(1)
    table = np.log([[0.9, 0.1], [0.2, 0.8]])
    value, found, good = ours(single, table, linked, often)
    assert good
    with jax.enable_x64(True):
        expected, wanted = jax.value_and_grad(plain(linked, often), (0, 1))(jnp.asarray(single), jnp.asarray(table))
    np.testing.assert_allclose(value, float(expected), rtol=1e-12)
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("of", ["a chain", "a step and a chain"])
@pytest.mark.parametrize("far", [0.0, -800.0])
def test_sums_of_each_chain(of, far):
    """Each counts as often as what is made of it later says, also where logarithms are needed."""
    rng = np.random.default_rng(8)
    linked = np.arange(1, 9)[:, None] < np.array([9, 3, 6])
    single, table = rng.normal(size=(9, 3, 2)), np.log(rng.dirichlet(np.ones(2), (1 if of == "a chain" else 8, 3, 2)))
    if far:
        single[1:3, 0], table[:, 0] = [[0, far], [NEVER, 0]], [[0, NEVER], [NEVER, 0]]
    weigh = lambda sums: jnp.sum(jnp.asarray([0.5, -2.0, 3.0]) * sums)
    with jax.enable_x64(True):
        logs = lambda s, t: plain(linked, jnp.ones(3), total=lambda x: x)(s, t)
        new = lambda s, t: weigh(chains.log_sum_of_chains(logs, s, t, linked, None))
        moved = lambda s, t: weigh(chains.log_sum_of_chains(logs, s, xp.log(t), linked, None, None, t))
        expected, wanted = jax.value_and_grad(lambda s, t: weigh(logs(s, t)), (0, 1))(single, table)
        for f, t, scale in ((new, table, 1.0), (moved, np.exp(table), np.exp(table))):
            value, found = jax.value_and_grad(f, (0, 1))(jnp.asarray(single), jnp.asarray(t))
            np.testing.assert_allclose(value, expected, rtol=1e-13)
            np.testing.assert_allclose(found[0], wanted[0], atol=1e-11)
            np.testing.assert_allclose(found[1] * scale, wanted[1], atol=1e-11)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("shared", [False, True])
def test_sums_of_each_chain_that_stands_in_cases(shared):
    """What is impossible in all cases counts for nothing; with `shared` four chains are those of six in two cases."""
    rng, of = np.random.default_rng(10), np.array([[0, 0, 1], [2, 3, 3]]) if shared else np.arange(6).reshape(2, 3)
    count, weights = of.max() + 1, rng.normal(size=(2, 3))
    linked, possible = np.ones((8, count), bool), np.array([[True, True, True], [True, False, False]])
    single, moves = rng.normal(size=(9, count, 2)), rng.dirichlet(np.ones(2), (8, count, 2))
    single[2:4, of[1, 2]] = [[NEVER, 0], [0, NEVER]]  # of an impossible case alone, and itself impossible
    moves[2, of[1, 2]] = np.eye(2)
    terms, by_case = np.where(possible, rng.normal(size=(2, 3)), NEVER), (lambda sums: sums[of]) if shared else None
    weigh = lambda sums: jnp.sum(jnp.where(possible, weights * sums[of], 0.0))
    with jax.enable_x64(True):
        logs = lambda s, t, _=None: plain(linked, jnp.ones(count), total=lambda x: x)(s, t)
        new = lambda s, t: weigh(chains.log_sum_of_chains(logs, s, t, linked, None, None, None, by_case, terms))
        arrays = jnp.asarray(single), jnp.log(jnp.asarray(moves))
        found = jax.value_and_grad(new, (0, 1))(*arrays)
        used = np.unique(of[possible])
        expected = jax.value_and_grad(lambda s, t: weigh(logs(s, t).at[of[1, 2]].set(0.0)), (0, 1))(*arrays)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    for one, other in zip(map(np.asarray, found[1]), map(np.asarray, expected[1])):
        np.testing.assert_allclose(one[:, used], other[:, used], atol=1e-11)
        assert not np.delete(one, used, 1).any()


@pytest.mark.sampled(12)
@pytest.mark.parametrize("probable", [False, True])
@pytest.mark.parametrize("of", ["all", "a step", "few kinds of steps", "a chain", "a step and a chain"])
@pytest.mark.parametrize("far", ["live", "impossible"])
def test_sums_over_cases(of, probable, far):
    """What underflows counts where its case is possible, and nothing of one that is not."""
    rng = np.random.default_rng(9)
    count, which = 3, np.array([0, 1, 1, 0, 1, 0, 0, 1]) if of == "few kinds of steps" else None
    linked = np.tile(np.arange(1, 9)[:, None] < np.array([9, 3, 6]), (1, 2))
    first = {"all": (), "a step": (8,), "few kinds of steps": (2,), "a chain": (1, 6), "a step and a chain": (8, 6)}[of]
    moves, single = rng.dirichlet(np.ones(2), (*first, 2)), rng.normal(size=(9, 6, 2))
    often, terms = np.array([2.0, 1.0, 3.0]), rng.normal(size=(2, count))
    terms[1, 2] = NEVER
    if far == "live":
        single[1:3, 0] = [[0.0, -800.0], [NEVER, 0.0]]
        moves[..., :, :] = [[0.9, 0.1], [0.0, 1.0]]
        single[0, 0], single[1, 3] = [NEVER, 0.0], [0.0, -800.0]
    if far == "impossible":
        single[2, 5], single[0, 5] = [NEVER, NEVER], [-800.0, 0.0]
    by_step = lambda t: t[which] if which is not None else t
    logs = lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), NEVER)

    def in_logs(single, table, terms):
        sums = plain(linked, np.ones(6), total=lambda x: x)(single, by_step(table))
        return jnp.sum(xp.log_of_sum(sums.reshape(2, count) + terms, 0) * often)

    def new(single, moves, terms):
        told = (linked, often, which, moves if probable else None, None)
        return chains.log_sum_of_chains(in_logs, single, logs(moves), *told, terms)

    with jax.enable_x64(True):
        arrays = [jnp.asarray(a) for a in (single, moves, terms)]
        old = lambda single, moves, terms: in_logs(single, logs(moves), terms)
        (value, found), (expected, wanted) = (jax.jit(jax.value_and_grad(f, (0, 1, 2)))(*arrays) for f in (new, old))
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    for one, other in zip(found, wanted):
        np.testing.assert_allclose(one, other, atol=1e-11)


@pytest.mark.slow
def test_second_derivatives_and_many_points():
    rng = np.random.default_rng(4)
    linked, often = np.ones((4, 2), bool), np.ones(2)
    with jax.enable_x64(True):
        single, table = (jnp.asarray(rng.normal(size=s)) for s in ((5, 2, 3), (3, 3)))
        new = lambda s: chains.log_sum_of_chains(plain(linked, often), s, table, linked, often)
        old = lambda s: plain(linked, often)(s, table)
        for twice in (jax.hessian, lambda f: jax.jacrev(jax.grad(f)), lambda f: jax.jacfwd(jax.jacfwd(f))):
            found, wanted = jax.jit(lambda s, twice=twice: (twice(new)(s), twice(old)(s)))(single)
            np.testing.assert_allclose(found, wanted, atol=1e-12)
        far = jnp.asarray(one([[0, 0, 0], *[[-90.0, 0.0, 0.0]] * 10, [0.0, NEVER, NEVER]]))
        points = jnp.stack([jnp.zeros((12, 1, 3)), far])
        stay = jnp.asarray([[0.0, 0.0, NEVER], [NEVER, 0.0, NEVER], [NEVER, NEVER, 0.0]])
        linked, often = np.ones((11, 1), bool), np.ones(1)
        f = lambda s: chains.log_sum_of_chains(plain(linked, often), s, stay, linked, often)
        values, found = jax.vmap(jax.value_and_grad(f))(points)
        for value, g, s in zip(values, found, points):
            expected, wanted = jax.value_and_grad(plain(linked, often))(s, stay)
            np.testing.assert_allclose(value, expected, rtol=1e-13)
            np.testing.assert_allclose(g, wanted, atol=1e-12)


def test_few_are_summed_in_logarithms(monkeypatch):
    """With moves of probability 0 too, from which derivatives stay finite."""
    monkeypatch.undo()
    rng = np.random.default_rng(5)
    single, moves = rng.normal(size=(6, 2, 3)), np.array([[0.6, 0.4, 0.0], [0.0, 0.3, 0.7], [0.2, 0.0, 0.8]])
    linked, often = np.tile(np.arange(1, 6)[:, None] < np.array([6, 4]), 1), np.array([2.0, 1.0])
    assert single.size * 3 * 2 <= chains.LITTLE
    monkeypatch.setattr(chains, "_in_probabilities", None)  # which are not asked for
    with jax.enable_x64(True):
        f = lambda s, m: chains.log_sum_of_chains(plain(linked, often), s, xp.log(m), linked, often, None, m)
        value, found = jax.value_and_grad(f, (0, 1))(jnp.asarray(single), jnp.asarray(moves))
    with mpmath.workdps(60):
        logs = np.log(np.maximum(moves, 1e-320)) + np.where(moves > 0, 0.0, NEVER)
        expected, wanted = exact(single, logs, linked, often)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-12)
    np.testing.assert_allclose(np.asarray(found[1]) * moves, wanted[1], atol=1e-12)
    assert np.isfinite(found[1]).all()
