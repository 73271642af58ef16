"""The generator of random programs: what it makes is the same each time, accepted by stanc, and shrinks."""

from __future__ import annotations

from .choices import Choices, numbered
from .program import program
from .shrinking import shrunk

NUMBERS = range(1000, 1040)


def test_a_number_names_one_program():
    assert program(numbered(3, 7)).text == program(numbered(3, 7)).text
    assert program(numbered(3, 7)).text != program(numbered(3, 8)).text


def test_recorded_choices_make_the_same_program():
    choices = numbered(3, 7)
    text = program(choices).text
    assert program(Choices(given=choices.taken)).text == text


def test_a_program_shrinks_to_what_matters():
    """The smallest program with a loop is a loop and what every program has."""
    number = next(n for n in NUMBERS if "for (" in program(numbered(3, n)).text)
    choices = numbered(3, number)
    before = program(choices).text
    after = program(Choices(given=shrunk(choices.taken, lambda p: "for (" in p.text, 3).taken)).text
    assert "for (" in after
    assert len(after) < len(before) / 2
