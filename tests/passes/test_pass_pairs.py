"""Every pass has a program that shows what it does; densities and gradients are compared for all passes together."""
from __future__ import annotations

import pass_pairs
import pytest

from stanimport import pipeline


def test_every_pass_has_a_pair() -> None:
    assert set(pass_pairs.NAMES) == {p.name for p in pipeline.PASSES}


@pytest.mark.parametrize("name", pass_pairs.NAMES)
def test_what_a_pass_makes_of_a_program(name: str) -> None:
    before, after = pass_pairs.stages(name)
    model = [text.partition("model:")[2].rstrip() for text in (before, after)]
    assert model[0] != model[1]
    assert pass_pairs.shown(name) == (pass_pairs.FOLDER / f"{name}.txt").read_text()
