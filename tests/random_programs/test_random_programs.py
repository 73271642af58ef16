"""Random programs against Stan, the same ones every time: `python -m tests.random_programs` runs others."""
from __future__ import annotations

from dataclasses import replace

import pytest

from .choices import numbered
from .program import program
from .referee.ours import is_divided
from .trial import divided, rotation, trial
from .workers import run

SEED, EACH = 1, 200  # as many as share what compiles in a process
STARTS = range(20_000, 20_400, EACH)
BLOCKS = range(23, 35)


def some(*ranges):
    """The first of several ranges of numbers, and the others in the slow tests."""
    slow = [pytest.param(r, marks=pytest.mark.slow) for r in ranges[1:]]
    return pytest.mark.parametrize("numbers", [ranges[0], *slow], ids=str)


@pytest.mark.parametrize("start", STARTS)
def test_random_programs_are_stans(start):
    """Each by one of our translations, as in a long run: in a process of its own, which stanli may take down."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    found = list(run(SEED, range(start, start + EACH), 1, "quick"))
    assert [f for f in found if f.what not in ("same", "rejected")] == [] and len(found) == EACH


@some(range(1265, 1269), range(1269, 1272))  # in which no program takes stanli down
def test_several_translations_are_stans(numbers):
    """The default on both backends, and two others by turns."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    wrong = {}
    for number in numbers:
        verdict = trial(program(numbered(SEED, number)), list(rotation(number)), f"{SEED}-{number}")
        if verdict.what not in ("same", "rejected"):
            wrong[number] = (verdict.what, verdict.found, verdict.reason)
    assert wrong == {}


def test_densities_in_blocks_of_rows_are_stans():
    """Programs of data that can be divided into blocks: some of all, of which NumPyro computes two rows at a time."""
    wrong, divided_ones = {}, 0
    for number in BLOCKS:
        made, way = program(numbered(SEED, number)), replace(divided(f"{SEED}-{number}"), jit=False)
        if not is_divided(made.text, made.data, way.scheme):
            continue
        divided_ones += 1
        verdict = trial(made, [way], f"{SEED}-{number}")
        if verdict.found:
            wrong[number] = verdict.found
    assert wrong == {}
    assert divided_ones > len(BLOCKS) / 4


@some(range(3), range(3, 5))
def test_what_stan_rejects_is_rejected(numbers):
    """Programs whose indices may be out of range: minus infinity, or an error with a line, wherever Stan throws."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    wrong = {}
    for number in numbers:
        verdict = trial(program(numbered(SEED, number), wild=True), list(rotation(number)), f"{SEED}-{number}")
        if verdict.found:
            wrong[number] = verdict.found
    assert wrong == {}
