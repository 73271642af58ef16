"""Programs that went wrong once: what Stan computed, by the translations that differ most from each other."""
from __future__ import annotations

import pytest

from . import corpus
from .referee import ours
from .referee.outcome import differences
from .trial import PLAIN, Way

WAYS = (Way(), Way("pyro"), PLAIN, Way(scheme="comprehensive", without=PLAIN.without))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("name", corpus.NAMES)
def test_what_went_wrong_once_is_stans(name, way):
    if way.backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    program, points, expected = corpus.load(name)
    got = ours.outcomes(program.text, program.data, points, way.backend, way.scheme, way.without)
    assert differences(got, expected) == []
