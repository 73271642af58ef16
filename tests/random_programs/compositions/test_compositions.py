"""Random compositions against Stan: the same ones every time."""

from __future__ import annotations

import pytest

from ..choices import Choices, numbered
from ..workers import run
from . import TOPICS, program

SEED, COUNT = 17, 45


def test_compositions_are_stans():
    """On both backends with all passes, and by another translation, in a process that stanli may take down."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    found = list(run(SEED, range(COUNT), 1, "compositions"))
    assert [f for f in found if f.what not in ("same", "rejected")] == [] and len(found) == COUNT
    assert sum(f.what == "same" for f in found) > 0.8 * COUNT


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_has_programs(topic):
    assert all(program(numbered(SEED, n), [topic]).text for n in range(20))


def test_a_number_names_one_composition():
    choices = numbered(SEED, 7)
    text = program(choices).text
    assert program(numbered(SEED, 7)).text == text == program(Choices(given=choices.taken)).text
    assert len({program(numbered(SEED, n)).text for n in range(20)}) == 20
