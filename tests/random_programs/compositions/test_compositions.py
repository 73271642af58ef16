"""Random compositions against Stan: the same ones every time."""

from __future__ import annotations

import numpy as np
import pytest

from stanlib.random.numpy import NumpyRandom

from ..choices import Choices, numbered
from ..program import RandomProgram
from ..referee.walk import Walker
from ..workers import run
from . import TOPICS, program

SEED = 17
MORE = pytest.param(range(15, 30), marks=pytest.mark.slow)


@pytest.mark.parametrize("numbers", [range(15), MORE], ids=str)
def test_compositions_are_stans(numbers):
    """On both backends with all passes, and by another translation, in a process that stanli may take down."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    found = list(run(SEED, numbers, 1, "compositions"))
    assert [f for f in found if f.what not in ("same", "rejected")] == [] and len(found) == len(numbers)
    assert sum(f.what == "same" for f in found) > 0.8 * len(numbers)


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_has_programs(topic):
    assert all(program(numbered(SEED, n), [topic]).text for n in range(20))


def test_draws_of_simulators_are_the_same_by_every_seed():
    """So that they can be compared with another generator's."""
    made = [program(numbered(SEED, n), ["simulations"]) for n in range(12)]
    compared = [p for p in made if values(p, 1) is not None]
    assert len(compared) > 6
    assert [p.text for p in compared if values(p, 1) != values(p, 2)] == []


def values(made: RandomProgram, seed: int) -> dict[str, float] | None:
    """What a program computes at a point of zeros, statement by statement; None if something throws there."""
    walker = Walker(made.text, made.data)
    walker.random = NumpyRandom(np.random.default_rng(seed))
    outcome = walker.outcome(np.zeros(walker.size), "0")
    return None if outcome.rejected or outcome.throws_in_quantities else outcome.values


def test_a_number_names_one_composition():
    choices = numbered(SEED, 7)
    text = program(choices).text
    assert program(numbered(SEED, 7)).text == text == program(Choices(given=choices.taken)).text
    assert len({program(numbered(SEED, n)).text for n in range(20)}) == 20
