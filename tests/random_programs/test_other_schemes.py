"""Random programs by the schemes for log likelihoods and for draws: `other_schemes` tries others."""
from __future__ import annotations

import pytest

from . import other_schemes
from .other_schemes import tried

NUMBERS = range(300, 312)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["quick", "compositions"])
def test_log_densities_are_those_of_the_default_scheme(mode):
    found = [tried(3, number, mode) for number in NUMBERS]
    assert set(found) <= {"same", "refused", "not finite"}
    assert found.count("same") > len(NUMBERS) / 2


def test_a_scheme_that_differs_is_found(monkeypatch):
    def doubled(module, original=other_schemes.observing_apart):
        made = original(module)
        text = made.stan.source.replace("target += 0.3", "target += 0.6")
        return original(other_schemes.stanimport.loads(text))

    monkeypatch.setattr(other_schemes, "observing_apart", doubled)
    found = [tried(3, number, "compositions") for number in NUMBERS]
    assert any(what.startswith("pointwise: ") for what in found)
