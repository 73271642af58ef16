"""Terms that read containers are computed once for components of one origin: the sum over all assignments is the same.

The same programs, each term computed by itself, are the referee too; it is random programs' alone, as it is fast.
"""
from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from stanimport.discrete import origins
from stanlib.discrete import problem
from tests.discrete import containers
from tests.discrete.trial import compared
from tests.random_programs.referee import ours


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", containers.NAMED)
def test_the_sum_over_all_assignments(name):
    pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    assert compared(containers.NAMED[name], 3, ("pyro", "numpyro")) == ""


# how many rows the tables of terms have: of moves, (N, T - 1) places, and of observations, (N, T)
ROWS = {"by time alone": [2, 5], "by first": [3, 6], "set again": [4, 6], "by a row": [2, 4],
        "rows at once, the same": [2, 5]}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_tables(name):
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    found, count = [], problem.count_rows
    with mock.patch.object(problem, "count_rows", lambda codes: found.append(count(codes)) or found[-1]):
        densities(containers.NAMED[name], 0)
    assert found[:2] == ROWS[name]


def densities(style, seed):
    points = [np.random.default_rng(i).normal(size=9) * 0.7 for i in (seed, seed + 1)]
    ours.translated.cache_clear()
    found = ours.outcomes(style.text(), style.data, points, "pyro")
    return [(f.log_density, *f.gradient) if not f.rejected else f.rejected for f in found]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("seed", range(40))
def test_random_containers(seed):
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    assert difference(seed) == ""


def difference(seed):
    """What differs between a random program and itself with each term computed by itself; "" if nothing does."""
    style = containers.random_style(seed)
    found = densities(style, seed)
    with mock.patch.object(origins.Origins, "read", lambda *a: None):
        expected = densities(style, seed)
    if [isinstance(f, str) for f in found] == [isinstance(e, str) for e in expected]:
        pairs = [(f, e) for f, e in zip(found, expected) if not isinstance(f, str)]
        if all(np.allclose(f, e, rtol=1e-9, atol=1e-9, equal_nan=True) for f, e in pairs):
            return ""
    return f"{found}, not {expected}: {style.text()}"
