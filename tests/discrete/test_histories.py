"""Random programs about histories, the same ones every time: `python -m tests.discrete --histories` runs others."""
from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("jax", reason="JAX is not installed")

from tests.discrete.long import trial
from tests.discrete.mechanisms import ALL

SEEDS = (4, 5, 20, 26, 27, 93, 922022)  # which take all ways; the last one for several cases, and chains left over


@pytest.mark.slow
def test_sums_are_those_by_the_forward_algorithm():
    used = Counter[str]()
    wrong = {seed: found for seed in SEEDS if (found := trial(seed, used, ("numpyro",)))}
    assert wrong == {}
    assert [name for name in ALL if not used[name]] == []
