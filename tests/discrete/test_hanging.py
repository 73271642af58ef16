"""Elements that hang on others, and complete components, against sums over all joint assignments."""
from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from stanlib.arrays import numpy as xp
from stanlib.discrete import backward, chains, compounds, elimination, hanging, order
from stanlib.discrete.merged import components
from stanlib.discrete.possible import Possible
from stanlib.discrete.problem import Factor, Problem, Variable
from tests.discrete.rounds import steps_of

ASKED = np.where(np.arange(2) == np.minimum(*np.indices((2, 2)))[..., None], 0.0, -np.inf)


def of(factors, kinds, low=None, high=None, xp=xp):
    """A problem of variables of one length each, `kinds` by variable and element."""
    variables, first = [], 0
    for i, of_variable in enumerate(kinds):
        count = len(of_variable)
        lower = np.zeros(count, int) if low is None else low[first : first + count]
        upper = np.array(of_variable) - 1 if high is None else high[first : first + count]
        variables.append(Variable(f"z{i}", (count,), lower, upper, first))
        first += count
    return Problem(xp, tuple(variables), np.concatenate(kinds), tuple(factors))


def states_with_zeros(length, kind=2, low=None):
    """A chain, z, and for each of its states whether a count is a structural zero, of few different terms."""
    rng = np.random.default_rng(3)
    z, zero = np.arange(length), length + np.arange(length)
    counts = np.arange(length) % 3
    factors = [
        Factor("moves", np.stack([z[:-1], z[1:]], 1), rng.normal(size=(1, kind, kind))),
        Factor("zeros", np.stack([z, zero], 1), rng.normal(size=(1, kind, 2))),
        Factor("counts", np.stack([z, zero], 1), np.where(rng.random((3, kind, 2)) < 0.1, -np.inf, 0.3)[counts]),
        Factor("own", zero[:, None], rng.normal(size=(3, 2)), counts),
    ]
    return of(factors, [[kind] * length, [2] * length], low)


def skills(people, items=5):
    """Three skills of each person, a; who has the two that an item asks for, b, mostly answers as it should."""
    rng = np.random.default_rng(4)
    a = np.arange(3 * people).reshape(people, 3)
    b = a.size + np.arange(people * items).reshape(people, items)
    pairs = np.array([(0, 1), (1, 2), (0, 2)])[np.arange(items) % 3]
    scopes = np.concatenate([a[:, pairs], b[..., None]], axis=2).reshape(-1, 3)
    answers = rng.integers(0, 2, b.size) + 2 * np.tile(np.arange(items), people)
    factors = [
        Factor("has", a.reshape(-1, 1), rng.normal(size=(3, 2)), np.tile(np.arange(3), people)),
        Factor("asked", scopes, ASKED[None]),
        Factor("answers", b.reshape(-1, 1), rng.normal(size=(2 * items, 2)), answers),
    ]
    return of(factors, [[2] * a.size, [2] * b.size])


def tree(depth=4):
    rng = np.random.default_rng(5)
    count = 2**depth - 1
    scopes = np.array([((e - 1) // 2, e) for e in range(1, count)])
    factors = [Factor("of pairs", scopes, rng.normal(size=(len(scopes), 2, 2))),
               Factor("own", np.arange(count)[:, None], rng.normal(size=(count, 2)))]  # fmt: skip
    return of(factors, [[2] * count])


def of_two_lengths():
    """A hub of four values on which elements of two and of three hang, each in two factors."""
    rng = np.random.default_rng(6)
    hangs = np.arange(1, 7)
    factors = []
    for _ in range(2):
        factors.append(Factor("twos", np.stack([0 * hangs[:3], hangs[:3]], 1), rng.normal(size=(3, 4, 2))))
        factors.append(Factor("threes", np.stack([0 * hangs[3:], hangs[3:]], 1), rng.normal(size=(1, 4, 3))))
    return of(factors, [[4], [2] * 3, [3] * 3])


PROBLEMS = {
    "states with zeros": states_with_zeros(6),
    "some of which are known": states_with_zeros(6, 3, np.array([0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0])),
    "skills": skills(3, 3), "a tree": tree(), "of two lengths": of_two_lengths(),
}  # fmt: skip


def logs(problem):
    """The term of every joint assignment, and all assignments."""
    spans = [range(a, b + 1) for v in problem.variables for a, b in zip(v.lower.tolist(), v.upper.tolist())]
    all_ = np.array(list(itertools.product(*spans)))
    out = np.zeros(len(all_))
    for f in problem.factors:
        for place, scope in enumerate(f.elements):
            row = f.codes[place] if f.codes is not None else min(place, len(f.table) - 1)
            out += f.table[(row, *all_[:, scope].T)]
    return out, all_


@pytest.fixture(autouse=True)
def plans_anew():
    order.Kept.plans.clear()
    yield
    order.Kept.plans.clear()


def hung(problem):
    """The factors that are left, and the elements that are not, of a problem whose elements are all unknown."""
    left = np.ones(len(problem.kinds), bool)
    factors, summed = hanging.without_hanging(xp, Possible(problem), left, problem.factors, elimination.log_sum_exp)
    return factors, summed, np.flatnonzero(~left)


@pytest.mark.parametrize("name", PROBLEMS)
def test_sums_and_the_most_probable(name):
    problem = PROBLEMS[name]
    terms, all_ = logs(problem)
    np.testing.assert_allclose(elimination.log_sum(problem), np.logaddexp.reduce(terms), rtol=1e-13)
    np.testing.assert_allclose(elimination.log_max(problem), terms.max(), rtol=1e-13)
    np.testing.assert_array_equal(backward.most_probable(problem), all_[terms.argmax()])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["states with zeros", "some of which are known", "of two lengths"])
def test_draws(name):
    """The probabilities of the values of every element, and of those of neighbours in the order of elements."""
    problem = PROBLEMS[name]
    terms, all_ = logs(problem)
    weights = np.exp(terms - np.logaddexp.reduce(terms))
    rng, count = np.random.default_rng(11), 1500

    class Uniform:
        def uniform(self, shape):
            return rng.random(shape)

    draws = np.array([backward.drawn(problem, Uniform()) for _ in range(count)])
    one = lambda x, v: (x == v).astype(float)
    for i, kind in enumerate(problem.kinds):
        for v, u in itertools.product(range(kind), range(problem.kinds[i - 1])):
            expected = weights @ (one(all_[:, i], v) * one(all_[:, i - 1], u))
            found = np.mean(one(draws[:, i], v) * one(draws[:, i - 1], u))
            assert abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / count) + 1e-12


def test_those_of_the_same_terms_are_summed_out_once():
    factors, summed, gone = hung(states_with_zeros(30))
    np.testing.assert_array_equal(gone, 30 + np.arange(30))
    assert [s.table.shape for s in summed] == [(3, 2, 2)]
    left = next(f for f in factors if f.label == "zeros")
    assert left.table.shape == (3, 2) and left.elements.shape == (30, 1)
    np.testing.assert_array_equal(left.codes, left.codes[:3][np.arange(30) % 3])


def test_ends_of_chains_and_pairs_do_not_hang():
    rng = np.random.default_rng(7)
    chain = of([Factor("moves", np.stack([np.arange(5), np.arange(1, 6)], 1), rng.normal(size=(5, 2, 2)))], [[2] * 6])
    pairs = of([Factor("pairs", np.arange(6).reshape(3, 2), rng.normal(size=(3, 2, 2)))], [[2] * 6])
    for problem in (chain, pairs):
        assert not len(hung(problem)[2])


def test_with_what_hangs_summed_out_chains_stay_chains():
    steps = steps_of(of(hung(states_with_zeros(9))[0], [[2] * 9, [2] * 9]))
    assert any(isinstance(s, chains.Chains) and s.elements.shape == (1, 9) for s in steps)


def test_complete_components_are_one_element():
    problem = skills(7)
    found, _, _ = hung(problem)
    steps = steps_of(of(found, [[2] * 21, [2] * 35]))
    whole = [s for s in steps if isinstance(s, compounds.Compounds)]
    assert [(s.kind, s.count, len(s.links)) for s in whole] == [(8, 7, 0)]
    assert len(np.unique(components(21, [f.elements for f in found])[:21])) == 7


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", PROBLEMS)
def test_gradients(name, x64):
    """The gradient of the sum in each table is the expected number of times of each entry."""
    import jax
    import jax.numpy as jnp

    from stanlib.arrays import jax as xj

    problem = PROBLEMS[name]
    terms, all_ = logs(problem)
    weights = np.exp(terms - np.logaddexp.reduce(terms))

    def total(tables):
        factors = tuple(replace(f, table=t) for f, t in zip(problem.factors, tables))
        return elimination.log_sum(replace(problem, xp=xj, factors=factors))

    slopes = jax.grad(total)([jnp.asarray(f.table) for f in problem.factors])
    for f, slope in zip(problem.factors, slopes):
        expected = np.zeros(f.table.shape)
        for place, scope in enumerate(f.elements):
            row = f.codes[place] if f.codes is not None else min(place, len(f.table) - 1)
            np.add.at(expected, (row, *all_[:, scope].T), weights)
        np.testing.assert_allclose(slope, expected, atol=1e-12)
