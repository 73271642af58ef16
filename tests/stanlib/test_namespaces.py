"""The array namespaces: each library has every primitive of the contract."""
from __future__ import annotations

import pytest

from stanlib import arrays
from stanlib.arrays import base


@pytest.mark.parametrize("library", ("numpy", "jax", "torch"))
def test_every_primitive_is_there(library):
    namespace = arrays.named(library)
    assert len(base.PRIMITIVES) > 150
    assert [name for name in base.PRIMITIVES if not hasattr(namespace, name)] == []
    assert namespace.LIBRARY == library


def test_values_of_torch_are_looked_at_where_nothing_is_traced():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    xp, positive = arrays.named("torch"), torch.tensor([1.0, 2.0])
    assert xp.holds(positive > 0) and not xp.holds(positive > 1) and xp.glance(positive[0]) == 1.0
    seen = []

    def looked_at(x):
        seen.append((xp.holds(x > 0), xp.glance(x)))
        return x

    torch.vmap(looked_at)(positive)
    torch.jit.trace(looked_at, positive[0], check_trace=False)
    assert seen and set(seen) == {(False, None)}
