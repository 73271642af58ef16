"""The groups of a container of ArviZ's: InferenceData before version 1, xarray's tree since then."""
from __future__ import annotations

from typing import Any


def groups_of(data: Any) -> set[str]:
    """Their names."""
    return set(data.children) if hasattr(data, "children") else set(data.groups())
