"""What the attributes of an array on disk say of its numbers: that they are packed, and which of them stand for none.

Source: CF Conventions, sections 2.5.1 "Missing data" and 8.1 "Simple packing"; NetCDF User Guide, "Attribute
Conventions".
"""
from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from stanlib.errors import StanDataError

_PACKING = ("scale_factor", "add_offset")
_MISSING = ("_FillValue", "missing_value")
_DIMENSIONS = "_ARRAY_DIMENSIONS"  # of zarr's arrays that xarray has written: their fill value is that of NetCDF


def decoded(name: str, array: Any) -> Any:
    """The array as its attributes mean it: itself, if they say nothing of its numbers."""
    attributes = getattr(array, "attrs", None)
    if not isinstance(attributes, Mapping) or hasattr(array, "dims"):  # xarray has decoded its variables itself
        return array
    given = {n: attributes[n] for n in (*_PACKING, *_MISSING, "_Unsigned") if n in attributes}
    if _DIMENSIONS in attributes and getattr(array, "fill_value", None) is not None:
        given.setdefault("_FillValue", array.fill_value)
    return Decoded(name, array, given) if given else array


class Decoded:
    """A packed array on disk, or one with missing entries, as an array of its values.

    Attributes:
        shape, dtype, chunks: as of an array.
    """

    def __init__(self, name: str, array: Any, attributes: Mapping[str, Any]):
        self.name, self.array = name, array
        self.scale, self.offset = (_number(attributes.get(n)) for n in _PACKING)
        stored = np.dtype(array.dtype)
        is_unsigned = str(attributes.get("_Unsigned", "")).lower() == "true" and stored.kind == "i"
        self.stored = np.dtype(f"u{stored.itemsize}") if is_unsigned else stored
        self.missing = [m for n in _MISSING for m in _numbers(attributes.get(n), stored, self.stored)]
        self.shape, self.chunks = tuple(array.shape), getattr(array, "chunks", None)
        self.dtype = self.stored if self.scale is None and self.offset is None else np.dtype(np.float64)

    def __getitem__(self, index: Any) -> np.ndarray:
        """The values of a part.

        Raises:
            StanDataError: where entries are missing.
        """
        raw = np.asarray(self.array[index])
        raw = raw if raw.dtype == self.stored else raw.view(self.stored)
        if any((raw == m).any() for m in self.missing):
            raise StanDataError(f"{self.name} has missing entries", self.name)
        if self.scale is None and self.offset is None:
            return raw
        values = raw.astype(np.float64) * (1.0 if self.scale is None else self.scale)
        return values if self.offset is None else values + self.offset


def _number(value: object) -> float | None:
    return None if value is None else float(np.asarray(value).reshape(-1)[0])


def _numbers(value: object, stored: np.dtype, read: np.dtype) -> list[Any]:
    """The numbers that stand for none, as they are read; NaN is a number like any other."""
    if value is None or stored.kind not in "iuf":
        return []
    if isinstance(value, str):  # xarray's, of zarr's arrays
        value = struct.unpack("<d", base64.b64decode(value))[0]
    numbers = np.atleast_1d(np.asarray(value)).astype(stored).view(read)
    return [n for n in numbers if n == n]
