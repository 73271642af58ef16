"""Linear recurrences along runs of places of one kind: each value is that of a step after the other."""
from __future__ import annotations

import numpy as np
import pytest

from stanlib.discrete import runs

COLUMNS = {
    "one kind": np.zeros((200, 1), int),
    "an end of its own": np.r_[np.zeros(99, int), 1][:, None],
    "three kinds": np.repeat([2, 0, 1], [5, 60, 35])[:, None],
    "columns": np.stack([np.repeat([0, 1, 2, 0], 25), np.repeat([1, 2], [99, 1]), np.repeat([2], 100)], axis=1),
}
GROWTH, ADDED = np.array([0.9, 1.05, 0.2]), np.array([0.3, 0.0, 2.0])


def steps(codes: np.ndarray, growth: np.ndarray, added: np.ndarray) -> np.ndarray:
    """r(t) = growth r(t + 1) + added by a step after the other, (length, columns)."""
    out = np.ones((len(codes) + 1, codes.shape[1]))
    for t in reversed(range(len(codes))):
        out[t] = growth[codes[t]] * out[t + 1] + added[codes[t]]
    return out[:-1]


def asked(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every place of every column."""
    places, column = (a.reshape(-1) for a in np.indices(codes.shape))
    return column, places


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", COLUMNS)
def test_values_are_those_of_steps(name):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    from stanlib.arrays import jax as xp

    codes = COLUMNS[name]
    column, places = asked(codes)
    made = runs.runs(codes, column, places)
    assert made is not None

    def total(growth, added):
        values, _ = made.values(xp, growth, added)
        return (values * np.cos(np.arange(len(values)))).sum(), values

    with jax.enable_x64(True):
        (_, values), slopes = jax.value_and_grad(total, (0, 1), has_aux=True)(GROWTH, ADDED)
    np.testing.assert_allclose(values, steps(codes, GROWTH, ADDED)[places, column], rtol=1e-12)
    weights = np.cos(np.arange(len(places)))
    for which, slope in enumerate(slopes):
        for kind in range(3):
            moved = []
            for h in (1e-6, -1e-6):
                given = [GROWTH.copy(), ADDED.copy()]
                given[which][kind] += h
                moved.append((steps(codes, *given)[places, column] * weights).sum())
            np.testing.assert_allclose(slope[kind], (moved[0] - moved[1]) / 2e-6, rtol=1e-5, atol=1e-5)


def test_powers_of_lanes_that_are_done_stay_finite():
    """Squares that the others still need would overflow: the derivatives of those that need none are not NaN."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    from stanlib.arrays import jax as xp

    def first(growth):
        to, plus = runs.power(xp, xp.concatenate([growth, np.array([0.5])]), np.array([1.0, 1.0]), np.array([3, 700]))
        return to[0] + plus[0]

    with jax.enable_x64(True):
        value, slope = jax.value_and_grad(first)(np.array([1e60]))
    np.testing.assert_allclose(value, 1e180, rtol=1e-12)
    np.testing.assert_allclose(slope, [3e120], rtol=1e-12)


def test_where_steps_are_as_fast():
    short, often = np.zeros((runs.SHORT - 1, 1), int), (np.arange(100) // 10 % 2)[:, None]
    assert runs.runs(short, *asked(short)) is None
    assert runs.runs(often, *asked(often)) is None


@pytest.mark.parametrize("name", COLUMNS)
def test_parts_of_columns(name):
    """Places by the run that they stand in, and how far its end is."""
    codes = COLUMNS[name]
    column, places = asked(codes)
    made = runs.runs(codes, column, places)
    assert made is not None
    assert (made.kinds[made.run, column] == codes[places, column]).all()
    ends = places + made.steps
    for c, t, end in zip(column, places, ends):
        assert (codes[t:end, c] == codes[t, c]).all() and (end == len(codes) or codes[end, c] != codes[t, c])
