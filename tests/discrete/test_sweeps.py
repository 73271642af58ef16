"""Sweeps along long and thin graphs, against eliminations in rounds."""
from __future__ import annotations

import numpy as np
import pytest

from stanlib.arrays import numpy as xp
from stanlib.discrete import compounds, elimination, order, sweeps
from stanlib.discrete.problem import Factor, Problem, Variable
from tests.discrete import rounds
from tests.discrete.rounds import steps_of

rng = np.random.default_rng(5)


def second_order(length, first=0):
    return [(first + t, first + t + 1, first + t + 2) for t in range(length - 2)]


def two_chains(length):
    along = [(c * length + t, c * length + t + 1) for c in (0, 1) for t in range(length - 1)]
    return along + [(t, length + t) for t in range(length)]


GRAPHS = {
    "second order": (30, second_order(30)),
    "two chains": (40, two_chains(20)),
    "several of different lengths": (58, second_order(20) + second_order(20, 20) + second_order(18, 40)),
    "a ladder with a bar across": (40, [*two_chains(20), (3, 25)]),
    "a chain with leaves": (40, [(t, t + 1) for t in range(19)] + [(t, 20 + t) for t in range(20)]),
}


def problem_of(name, kind=2):
    count, pairs = GRAPHS[name]
    factors = []
    for size in (1, 2, 3):
        scopes = np.array([s for s in pairs if len(s) == size] if size > 1 else [[e] for e in range(count)], int)
        if len(scopes):
            factors.append(Factor(f"of {size}", scopes, rng.normal(size=(len(scopes), *(kind,) * size))))
    variable = Variable("z", (count,), np.zeros(count, int), np.full(count, kind - 1), 0)
    return Problem(xp, (variable,), np.full(count, kind), tuple(factors))


@pytest.fixture(autouse=True)
def without_compounds(monkeypatch):
    order.Kept.plans.clear()
    monkeypatch.setattr(compounds, "SHORT", 10**9)
    yield
    order.Kept.plans.clear()


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_as_in_rounds(name, kind, monkeypatch):
    rounds.agree(problem_of(name, kind), sweeps.Sweep, monkeypatch)


def test_repetitions_are_one_block_and_components_alike_stand_side_by_side():
    first, second = steps_of(problem_of("several of different lengths"))
    assert {first.blocks[0][0].elements.shape[1], second.blocks[0][0].elements.shape[1]} == {1, 2}
    assert max(len(b[0].elements) for b in first.blocks) >= 15
    (two,) = steps_of(problem_of("two chains"))
    assert sum(len(b) for b in two.blocks) <= 12
    assert two.largest == 8  # an element, and one of each chain


def test_what_is_not_thin_goes_in_rounds():
    star = [(0, e) for e in range(1, 40)]
    scopes = [np.array(star)]
    plan = order.plan(np.full(40, 2), np.arange(40), scopes, 10**7)
    assert not any(isinstance(s, sweeps.Sweep) for s in plan.steps)
    assert plan.largest <= 2 * 2 * 39


@pytest.mark.slow
def test_gradients_where_steps_are_impossible(x64):
    import jax
    import jax.numpy as jnp

    from stanlib.arrays import jax as xj

    count, scopes = GRAPHS["second order"]
    never = np.zeros((2, 2, 2))
    never[1, 1, 1] = -np.inf
    variable = Variable("z", (count,), np.zeros(count, int), np.ones(count, int), 0)

    def total(x):
        table = jnp.asarray(never) + x[:8].reshape(2, 2, 2)
        single = Factor("single", np.arange(count)[:, None], x[8:].reshape(count, 2))
        factors = (single, Factor("links", np.array(scopes), table[None]))
        return elimination.log_sum(Problem(xj, (variable,), np.full(count, 2), factors))

    x = rng.normal(size=8 + 2 * count)
    slope = np.asarray(jax.grad(total)(jnp.asarray(x)))
    assert slope[7] == 0
    step = 1e-6 * np.eye(len(x))
    for i in (0, 3, 8, 40, 67):
        numeric = (total(jnp.asarray(x + step[i])) - total(jnp.asarray(x - step[i]))) / 2e-6
        np.testing.assert_allclose(slope[i], numeric, rtol=1e-6, atol=1e-8)
