"""Mutants of the project's models, the same ones every time, are Stan's: `python -m tests.mutants` tries others."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import grafts
from .__main__ import judged
from .mutants import as_program, mutant, way_of
from .mutation import MUTATIONS
from .published import programs, text_of

MODELS = Path(__file__).parents[2] / "models"
NAMES = ("arK", "dogs", "gaussian_mixture", "garch11", "hierarchical_index", "nested_loop", "poisson_glm", "ragged")
ARRAYS = """data { int N; vector[N] y; }
parameters { array[N] vector[2] x; }
model {
  for (n in 1:N) y[n] ~ normal(x[n][1], 1);
  for (m in 1:N) x[m] ~ normal(0, 1);
}
"""
RIGHT = ("same", "rejected", "stanli alone differs")


@pytest.fixture
def donors(monkeypatch):
    monkeypatch.setattr(grafts, "DONORS", sorted(MODELS.glob("*.stan")))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_mutants_are_stans(name, donors):
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    (data,) = (d for p, d in programs(MODELS, 10**6) if p.stem == name)
    text, wrong = text_of(MODELS / f"{name}.stan"), {}
    for seed in (f"{name}-0", f"{name}-1"):
        changed, _ = mutant(text, seed)
        verdict = judged(as_program(changed, data), way_of(seed), seed)
        if verdict.what not in RIGHT:
            wrong[seed] = (verdict.what, verdict.found, changed)
    assert wrong == {}


def test_every_mutation_changes_some_model(donors):
    """And the checker accepts what it makes of one."""
    import random

    from stanlib.errors import StanError

    from .view import View

    views, idle = [View(ARRAYS), *(View(text_of(MODELS / f"{n}.stan")) for n in NAMES)], []
    for name, change in MUTATIONS.items():
        for view, seed in ((v, s) for s in range(12) for v in views):
            try:
                edits = change(view, random.Random(seed))
                if edits and View(view.with_edits(edits)).text != view.text:
                    break
            except (StanError, AssertionError):
                continue
        else:
            idle.append(name)
    assert idle == []
