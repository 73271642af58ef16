"""Components whose elements are put together as compounds, against eliminations in rounds."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stanlib.arrays import numpy as xp
from stanlib.discrete import cases, chains, compounds, elimination, order, sweeps
from stanlib.discrete.problem import Factor, Problem, Variable
from tests.discrete import rounds
from tests.discrete.rounds import steps_of
from tests.discrete.test_sweeps import second_order, two_chains

OR = np.where(np.arange(2) == np.maximum(*np.indices((2, 2)))[..., None], 0.0, -np.inf)
GRAPHS = {
    "second order": (9, second_order(9)),
    "two chains": (16, two_chains(8)),
    "several of different lengths": (29, second_order(10) + second_order(8, 10) + second_order(11, 18)),
    "a chain with leaves": (20, [(t, t + 1) for t in range(9)] + [(t, 10 + t) for t in range(10)]),
    "a chain, and others": (29, two_chains(6) + [(12 + t, 13 + t) for t in range(9)] + second_order(7, 22)),
}
# the same, with others that stand with elements all along
AROUND = {
    "one with one chain": (17, [*two_chains(8), *((t, 16) for t in range(8))]),
    "one with both, in threes too": (17, [*two_chains(8), *((t, t + 8, 16) for t in range(8)), (0, 16)]),
    "two": (18, [*two_chains(8), *((t, 16) for t in range(8)), *((t, 17) for t in range(8, 16))]),
    "two that stand together": (18, [*two_chains(8), *((t, t + 8, 16) for t in range(8)), *((t, 17) for t in range(8)),
                                     (16, 17)]),
    "one each, of different lengths": (31, [
        *two_chains(8), *((a + 16, b + 16) for a, b in two_chains(6)), *((t, 28) for t in range(16)),
        *((t, 29) for t in range(16, 28)), (29, 30)]),
}  # fmt: skip
WITH_KINDS = [(name, kind) for name in GRAPHS for kind in (2, 3)] + [(name, 2) for name in AROUND]


def problem_of(name, kind):
    rng = np.random.default_rng(kind)
    count, pairs = (GRAPHS | AROUND)[name]
    factors = []
    for size in (1, 2, 3):
        scopes = np.array([s for s in pairs if len(s) == size] if size > 1 else [[e] for e in range(count)], int)
        if len(scopes):
            factors.append(Factor(f"of {size}", scopes, rng.normal(size=(len(scopes), *(kind,) * size))))
    return of(factors, count, kind)


def of(factors, count, kind=2, xp=xp):
    variable = Variable("z", (count,), np.zeros(count, int), np.full(count, kind - 1), 0)
    return Problem(xp, (variable,), np.full(count, kind), tuple(factors))


def ever(animals, occasions, xp=xp, x=None):
    """Whether animals are there, z, and have been, up to all occasions but the last; some are known to be there."""
    rng = np.random.default_rng(7)
    z = np.arange(animals * occasions).reshape(animals, occasions)
    been = z.size + np.arange(animals * (occasions - 1)).reshape(animals, occasions - 1)
    x = rng.normal(size=8 + z.size) if x is None else x
    seen = np.where(rng.random((z.size, 1)) < 0.2, [-np.inf, 0.0], 0.0)
    first = np.where(np.eye(2) > 0, 0.0, -np.inf)
    moves = np.stack([z[:, :-1], z[:, 1:], been], -1).reshape(-1, 3)
    count = np.stack([z[:, 1:-1], been[:, :-1], been[:, 1:]], -1).reshape(-1, 3)
    factors = [
        Factor("seen", z.reshape(-1, 1), seen), Factor("own", z.reshape(-1, 1), x[8:, None] * np.array([[0.0, 1.0]])),
        Factor("moves", moves, x[:8].reshape(1, 2, 2, 2)), Factor("count", count, OR[None]),
        Factor("first", np.stack([z[:, 0], been[:, 0]], -1), first[None]),
    ]  # fmt: skip
    return of(factors, z.size + been.size, xp=xp)


@pytest.fixture(autouse=True)
def plans_anew():
    order.Kept.plans.clear()
    yield
    order.Kept.plans.clear()


@pytest.mark.parametrize(("name", "kind"), WITH_KINDS)
def test_as_in_rounds(name, kind, monkeypatch):
    rounds.agree(problem_of(name, kind), compounds.Compounds, monkeypatch)


@pytest.mark.parametrize("name", AROUND)
def test_with_others_around_they_are_chains_by_cases(name):
    """Each of which closes with what stands around it, if that stands with nothing else."""
    steps = steps_of(problem_of(name, 2))
    found = [s for s in steps if isinstance(s, cases.Cases)]
    assert sum(s.members.size for s in found) == sum(s.count for s in steps if isinstance(s, compounds.Compounds))
    assert not any(isinstance(s, sweeps.Sweep) for s in steps)
    together = {"one with one chain": [True], "one with both, in threes too": [True], "two": [True]}
    assert [s.closing for s in found] == together.get(name, [False])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("impossible", [False, True])
@pytest.mark.parametrize("name", AROUND)
def test_gradients_with_others_around(name, impossible, x64, monkeypatch):
    import jax
    from interpreted import traced

    from stanlib.arrays import jax as xj

    made = problem_of(name, 2)
    count = len(made.kinds)
    low = np.zeros(count, int)
    low[16 : 16 + impossible] = 1  # one of those around can have but one value

    def total(*tables):
        factors = tuple(replace(f, table=t) for f, t in zip(made.factors, tables))
        variable = Variable("z", (count,), low, np.ones(count, int), 0)
        return elimination.log_sum(Problem(xj, (variable,), made.kinds, factors))

    tables = [np.asarray(f.table) for f in made.factors]
    both = lambda given: jax.value_and_grad(total, tuple(range(len(given))))(*given)
    value, slopes = traced(both, tables)
    rounds.from_now_on(monkeypatch)
    monkeypatch.setattr(chains, "SHORT", 10**9)
    expected, wanted = traced(both, tables)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    for slope, one in zip(slopes, wanted):
        np.testing.assert_allclose(slope, one, atol=1e-12)


def test_what_data_exclude_is_no_state(monkeypatch):
    problem = ever(5, 7)
    found, along = (next(s for s in steps_of(problem) if isinstance(s, kind))
                    for kind in (compounds.Compounds, chains.Chains))  # fmt: skip
    assert found.kind == 3  # not there yet, there, gone
    assert along.elements.shape == (5, 7)
    rounds.agree(problem, compounds.Compounds, monkeypatch)


def items(people, orders):
    """Three skills of each of the people, and whether they have the first two, and all three, in some order."""
    rng = np.random.default_rng(3)
    first = 3 * np.arange(people)[:, None]
    skills = np.stack([first[i, 0] + np.roll(np.arange(3), orders[i % len(orders)]) for i in range(people)])
    two, all_ = (3 * people + i * people + np.arange(people) for i in range(2))
    and_ = np.where(np.arange(2) == np.minimum(*np.indices((2, 2)))[..., None], 0.0, -np.inf)[None]
    sorted_ = lambda rows: np.stack([np.sort(r) for r in rows])
    factors = [
        Factor("skills", skills.reshape(-1, 1), rng.normal(size=(3 * people, 2))),
        Factor("two", two[:, None], rng.normal(size=(people, 2))),
        Factor("all", all_[:, None], rng.normal(size=(people, 2))),
        Factor("pairs", sorted_(skills[:, 1:]), rng.normal(size=(people, 2, 2))),
        Factor("both", sorted_(np.stack([*skills.T[:2], two], 1)), and_),
        Factor("the third", sorted_(np.stack([skills[:, 2], two, all_], 1)), and_),
    ]  # fmt: skip
    return of(factors, 5 * people)


@pytest.mark.parametrize("orders", [(0,), (0, 1, 2)])
def test_what_others_make_of_them_is_in_the_states(orders, monkeypatch):
    problem = items(12, orders)
    steps = steps_of(problem)
    found = [s for s in steps if isinstance(s, compounds.Compounds)]
    assert [s.count for s in found] == [12] and found[0].kind < 16  # of 32
    assert len(steps) == 2  # these, and their sums
    rounds.agree(problem, compounds.Compounds, monkeypatch)


def test_what_is_not_thin_is_left_alone():
    star = [(0, e) for e in range(1, 40)]
    wide = [(a + 8 * t, b + 8 * (t + 1)) for t in range(5) for a in range(8) for b in range(8)]
    for count, scopes in ((40, star), (48, wide)):
        steps = order.plan(np.full(count, 2), np.arange(count), [np.array(scopes)], 10**7).steps
        assert not any(isinstance(s, compounds.Compounds) for s in steps)


@pytest.mark.slow
def test_gradients_where_states_are_impossible(x64, monkeypatch):
    import jax
    import jax.numpy as jnp

    from stanlib.arrays import jax as xj

    total = lambda x: elimination.log_sum(ever(4, 6, xj, x))
    x = jnp.asarray(np.random.default_rng(8).normal(size=8 + 24))
    value, slope = jax.value_and_grad(total)(x)
    rounds.from_now_on(monkeypatch)
    expected, wanted = jax.value_and_grad(total)(x)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(slope, wanted, atol=1e-12)
    assert np.abs(wanted).max() > 0.1
