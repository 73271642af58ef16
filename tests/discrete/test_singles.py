"""Terms of single elements, looked up where they are asked for, beside all of them added up in NumPy."""
from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from stanlib.arrays import namespace
from stanlib.discrete.singles import Singles

COUNT, KIND = 12, 3


def _tables(r: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Places and tables of every kind: of all, one after the other, in any order, shared, and repeated ones."""
    everyone = np.arange(COUNT)
    places = [everyone, everyone[3:8], r.permutation(COUNT)[:5], everyone[::-1], r.integers(0, COUNT, 9)]
    found = [(at, r.normal(size=(len(at), KIND))) for at in places]
    return found + [(at, r.normal(size=(1, KIND))) for at in (everyone, everyone[2:4], np.array([5, 1, 5, 5]))]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", [np.asarray, jnp.asarray, torch.as_tensor], ids=["numpy", "jax", "torch"])
@pytest.mark.parametrize("seed", range(12))
def test_terms_are_those_added_up(make: Any, seed: int, x64: None) -> None:
    r = np.random.default_rng(seed)
    data = np.where(r.random((COUNT, KIND)) < 0.2, -np.inf, 0.0)
    single, expected = Singles(data), np.concatenate([data, np.zeros((4, KIND))])
    given = [t for t in _tables(r) if r.random() < 0.6]
    xp = namespace((make(np.zeros(1)),))
    for i, (at, table) in enumerate(given):
        is_data = r.random() < 0.2
        single.add(xp, at, table if is_data else make(table))
        np.add.at(expected, at, np.broadcast_to(table, (len(at), KIND)))
        if i == 1:  # asked for in between, as components are summed out one after the other
            np.testing.assert_allclose(np.asarray(single.of(xp, np.arange(COUNT))), expected[:COUNT], atol=1e-14)
    more = single.extended(4)
    own = r.normal(size=(4, KIND))
    single.add(xp, more, make(own))
    expected[more] += own
    padded = np.concatenate([expected, np.zeros((1, KIND))])  # that of -1
    for at in (np.arange(COUNT + 4), r.permutation(COUNT + 4), np.array([-1, -1, 4, 5, 6, -1]), np.array([7, -1, 2])):
        found = np.broadcast_to(np.asarray(single.of(xp, at)), (len(at), KIND))
        np.testing.assert_allclose(found, padded[at], atol=1e-14)
