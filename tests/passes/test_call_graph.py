"""Which functions call each other, beside SciPy's strongly connected components."""
from __future__ import annotations

import numpy as np
from scipy.sparse import csgraph, csr_array

from stanimport.passes import call_graph


def test_circles_are_strongly_connected_components():
    random = np.random.default_rng(0)
    for _ in range(200):
        n = int(random.integers(1, 9))
        links = random.random((n, n)) < random.uniform(0, 0.5)
        _, labels = csgraph.connected_components(csr_array(links), connection="strong")
        groups = [set(np.flatnonzero(labels == i).tolist()) for i in range(labels.max() + 1)]
        expected = [g for g in groups if len(g) > 1 or links[min(g), min(g)]]
        found = call_graph.circles({i: np.flatnonzero(row).tolist() for i, row in enumerate(links)})
        assert sorted(found, key=min) == sorted(expected, key=min)


def test_a_long_chain_of_calls_has_no_circle():
    assert call_graph.circles({i: [i + 1] for i in range(20_000)}) == []
    assert call_graph.circles({i: [(i + 1) % 20_000] for i in range(20_000)}) == [set(range(20_000))]
