"""Random nests of loops against the same evaluated statement by statement: the same ones every time."""
from __future__ import annotations

import pytest

from ..choices import Choices, numbered
from ..workers import run
from . import program

SEED = 71
MORE = pytest.param(range(22, 45), marks=pytest.mark.slow)


@pytest.mark.parametrize("numbers", [range(22), MORE], ids=str)
def test_nests_are_stans(numbers):
    """Each on both backends with all passes, and by another translation; of NumPyro most loops are scans."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    found = list(run(SEED, numbers, 1, "nests"))
    assert [f for f in found if f.what not in ("same", "rejected")] == [] and len(found) == len(numbers)
    assert sum(f.what == "same" for f in found) > 0.9 * len(numbers)


def test_a_number_names_one_nest():
    choices = numbered(SEED, 7)
    text = program(choices).text
    assert program(numbered(SEED, 7)).text == text == program(Choices(given=choices.taken)).text
    assert program(numbered(SEED, 8)).text != text


def test_nests_are_dense():
    """Of many there are loops three deep, bounds that loops around decide, and variables read behind inner loops."""
    texts = [program(numbered(SEED, n)).text for n in range(40)]
    assert sum(any(line.startswith("      for (") for line in t.splitlines()) for t in texts) > 15
    assert sum("break;" in t or "continue;" in t for t in texts) > 5
    assert sum(" in 1:n" in t for t in texts) > 10
