"""However a program says it, its discrete parameters are summed out to the same, with tables that are small."""
from __future__ import annotations

import pytest

from tests.discrete import styles_added  # noqa: F401 - adds to STYLES
from tests.discrete.styles import STYLES
from tests.discrete.trial import compared


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", STYLES)
def test_the_sum_over_all_assignments(name, monkeypatch):
    pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    monkeypatch.setenv("STANIMPORT_TABLE_LIMIT", str(STYLES[name].limit))
    assert compared(STYLES[name], 3, ("pyro", "numpyro")) == ""
