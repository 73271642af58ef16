"""What data exclude is known before any density: which elements have but one possible value."""
from __future__ import annotations

import numpy as np

from stanlib.arrays import numpy as xp
from stanlib.discrete import elimination
from stanlib.discrete.possible import Possible, conditioned
from stanlib.discrete.problem import Factor, Problem, Variable
from tests.random_programs.referee.ours import translated

INF = np.inf


def problem(*factors, size=4, values=2):
    v = Variable("z", (size,), np.zeros(size, int), np.full(size, values - 1), 0)
    return Problem(xp, (v,), np.full(size, values), factors)


def of_pairs(table, *pairs):
    return Factor("pairs", np.array(pairs), np.array([table]))


NEVER_AGAIN = [[0.0, -INF], [-0.5, -0.9]]  # from 0 to 1 is impossible


def test_an_excluded_value_tells_of_those_before():
    seen = Factor("seen", np.array([[2]]), np.array([[-INF, 0.0]]))
    found = Possible(problem(of_pairs(NEVER_AGAIN, (0, 1), (1, 2), (2, 3)), seen))
    assert found.known.tolist() == [1, 1, 1, -1]


def test_factors_at_known_values_are_over_the_other_elements():
    seen = Factor("seen", np.array([[1]]), np.array([[-INF, 0.0]]))
    given = problem(of_pairs([[0.1, 0.2], [0.3, 0.4]], (0, 1), (1, 2), (2, 3)), seen)
    left = list(conditioned(xp, given.factors, Possible(given)))
    sizes = {tuple(f.elements.ravel()): np.asarray(f.table).ravel().tolist() for f in left if f.label == "pairs"}
    assert sizes == {(0,): [0.2, 0.4], (2,): [0.3, 0.4], (2, 3): [0.1, 0.2, 0.3, 0.4]}


def test_where_nothing_is_possible_nothing_is_known():
    none = Factor("none", np.array([[0]]), np.array([[-INF, -INF]]))
    given = problem(none)
    assert Possible(given).known.tolist() == [-1] * 4
    assert elimination.log_sum(given) == -INF


def test_what_was_seen_is_known_to_be_there(monkeypatch, x64):
    found = []

    class Spy(Possible):
        def __init__(self, given):
            super().__init__(given)
            found.append(self.known.tolist())

    monkeypatch.setattr(elimination, "Possible", Spy)
    text = """data { int R; int T; array[R, T] int y; } parameters { real<lower=0, upper=1> p;
      real<lower=0, upper=1> q; array[R, T] int<lower=0, upper=1> z; }
    model { for (i in 1:R) for (t in 1:T) { if (t > 1) z[i, t] ~ bernoulli(z[i, t - 1] * q);
      y[i, t] ~ bernoulli(z[i, t] * p); } }"""
    data = {"R": 2, "T": 4, "y": [[0, 0, 1, 0], [1, 0, 0, 0]]}
    from stanimport.inference.density.posterior import Posterior

    module = translated(text, "numpyro", "mixed")
    posterior = Posterior(module, module.transformed_data(**data))
    assert np.isfinite(posterior.log_density(np.zeros(posterior.size)))
    assert found[-1] == [1, 1, 1, -1, 1, -1, -1, -1]


def test_terms_of_known_elements_are_counted_once_and_leave_the_others():
    each = np.array([0, 0, 1, 1, 2, 2, 3, 3])[:, None]
    often = Factor("often", each, np.arange(16.0).reshape(8, 2))
    seen = Factor("seen", np.array([[0], [2]]), np.array([[0.0, -INF], [-INF, 0.0]]))
    left = list(conditioned(xp, problem(often, seen).factors, Possible(problem(often, seen))))
    assert sum(np.sum(f.table) for f in left if f.elements.shape[1] == 0) == (0 + 2) + (9 + 11)
    rest = {e: row for f in left if f.elements.shape[1] for (e,), row in zip(f.elements.tolist(), f.table.tolist())}
    assert rest == {1: [4.0 + 6.0, 5.0 + 7.0], 3: [12.0 + 14.0, 13.0 + 15.0]}
    total = np.log(np.exp(10.0) + np.exp(12)) + np.log(np.exp(26.0) + np.exp(28)) + 22
    np.testing.assert_allclose(elimination.log_sum(problem(often, seen)), total)
