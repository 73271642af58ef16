"""Random programs against Stan, the same ones every time: `python -m tests.random_programs` runs others."""
from __future__ import annotations

import pytest

from .choices import numbered
from .program import program
from .trial import rotation, trial

SEED, FIRST, COUNT, EACH = 1, 1110, 72, 18  # in which no program takes stanli down
REJECTIONS = 12


@pytest.mark.parametrize("start", range(FIRST, FIRST + COUNT, EACH))
def test_random_programs_are_stans(start):
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    wrong = {}
    for number in range(start, start + EACH):
        verdict = trial(program(numbered(SEED, number)), list(rotation(number)), f"{SEED}-{number}")
        if verdict.what not in ("same", "rejected", "unrefereed"):
            wrong[number] = (verdict.what, verdict.found, verdict.reason)
    assert wrong == {}


def test_what_stan_rejects_is_rejected():
    """Programs whose indices may be out of range: minus infinity, or an error with a line, wherever Stan throws."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    wrong = {}
    for number in range(REJECTIONS):
        verdict = trial(program(numbered(SEED, number), wild=True), list(rotation(number)), f"{SEED}-{number}")
        if verdict.found:
            wrong[number] = verdict.found
    assert wrong == {}
