"""Rows of tables that stand some one after the other are taken without an index for each, and are the same."""
from __future__ import annotations

import numpy as np
import pytest

from stanlib.arrays import numpy as xp
from stanlib.discrete.rows import Run, rows, runs_of

NONE = -1
RUNS = {
    "none around": ([NONE, 3, 4, NONE, NONE], [Run(-1, 1, 1, 0), Run(3, 2, 1, 0), Run(-1, 2, 1, 0)]),
    "again and again": ([NONE, 0, 1, NONE, 2, 3], [Run(-1, 1, 2, 0), Run(0, 2, 2, 2)]),
    "parts of longer ones": ([0, 2, 3, 5, 7, 8], [Run(0, 1, 2, 5), Run(2, 2, 2, 5)]),
    "the last ones are not there": ([0, 4, NONE], [Run(0, 1, 1, 0), Run(4, 1, 1, 0), Run(-1, 1, 1, 0)]),
    "steps over the end": ([1, 2, NONE, 5, 6, NONE, 9, 10, NONE], None),
    "in any order": ([3, 1, 0, 2, 7, 5, 6, 4], None),
}


@pytest.mark.parametrize("name", RUNS)
def test_runs(name):
    index, expected = RUNS[name]
    found = runs_of(np.array(index), 11)
    assert found == (None if expected is None else tuple(expected))


def test_rows_are_those_of_indices():
    rng = np.random.default_rng(0)
    few = 0
    for _ in range(3000):
        size, step = rng.integers(2, 13), rng.integers(1, 7)
        runs = [(rng.integers(-1, step), rng.integers(1, 4)) for _ in range(rng.integers(1, 4))]
        one = [f + i if f >= 0 else NONE for f, width in runs for i in range(width)]
        index = np.array([e + step * t if e >= 0 else NONE for t in range(rng.integers(1, 4)) for e in one])
        index = np.where(index < size, index, NONE)
        table = rng.normal(size=(size, 2))
        few += runs_of(index, size) is not None
        np.testing.assert_array_equal(rows(xp, table, index), np.where(index[:, None] < 0, 0.0, table[index]))
    assert 500 < few < 3000
