"""Elimination in rounds, one element after the other, as what other ways to sum are compared with."""
from __future__ import annotations

import numpy as np

from stanlib.discrete import backward, compounds, elimination, order, sweeps, wholes
from stanlib.discrete.possible import left_possible


def steps_of(problem):
    several = [f for f in problem.factors if f.elements.shape[1] > 1]
    scopes, tables = [f.elements for f in several], [left_possible(f) for f in several]
    return order.plan(problem.kinds, np.arange(len(problem.kinds)), scopes, 10**7, tables).steps


def from_now_on(monkeypatch):
    """Neither compounds, nor wholes, nor sweeps are found."""
    order.Kept.plans.clear()
    monkeypatch.setattr(compounds, "SHORT", 10**9)
    monkeypatch.setattr(wholes, "LEAST", 10**9)
    monkeypatch.setattr(sweeps, "LONG", 10**9)


def agree(problem, kind, monkeypatch):
    """Sums, maxima and modes by steps of a kind are those in rounds."""
    assert any(isinstance(s, kind) for s in steps_of(problem))
    found = elimination.log_sum(problem), elimination.log_max(problem), backward.most_probable(problem)
    from_now_on(monkeypatch)
    assert not any(isinstance(s, kind) for s in steps_of(problem))
    np.testing.assert_allclose(found[0], elimination.log_sum(problem), rtol=1e-12)
    np.testing.assert_allclose(found[1], elimination.log_max(problem), rtol=1e-12)
    np.testing.assert_array_equal(found[2], backward.most_probable(problem))
