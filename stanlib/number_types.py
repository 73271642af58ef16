"""What the numbers of an array of any library are: "int", "real" or "complex", in Stan's words."""
from __future__ import annotations

from typing import Any

_KINDS = ("int", "real", "complex")  # each holds the ones before


def kind_of(array: Any) -> str:
    """What the numbers of an array are."""
    dtype = array.dtype
    if hasattr(dtype, "is_floating_point"):  # torch
        return "complex" if dtype.is_complex else "real" if dtype.is_floating_point else "int"
    return "int" if dtype.kind in "iub" else "complex" if dtype.kind == "c" else "real"


def holds(declared: str, kind: str) -> bool:
    """Whether numbers of a kind are ones of what is declared."""
    return _KINDS.index(kind) <= _KINDS.index(declared)
