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
