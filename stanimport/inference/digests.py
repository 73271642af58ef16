"""What tells values, data and programs apart: digests."""
from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np


def digest_of(value: object) -> str:
    """A digest of all numbers of a value, with their shape and whether they are integers, reals or complex."""
    if isinstance(value, tuple):
        return hashlib.sha256("\0".join(map(digest_of, value)).encode()).hexdigest()
    array = np.asarray(value)
    array = array.astype({"i": np.int64, "u": np.int64, "b": np.int64, "c": np.complex128}.get(array.dtype.kind, float))
    told = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(told + np.ascontiguousarray(array).tobytes()).hexdigest()


def program_of(program: Any) -> str:
    """A digest of a program, as it was translated."""
    parts = (program.source, program.backend, program.scheme, *(part for pair in program.includes for part in pair))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def data_of(program: Any, inputs: Mapping[str, Any]) -> str:
    """A digest of the data of a program."""
    named = "\0".join(f"{v.name}={digest_of(inputs[v.name])}" for v in program.data)
    return hashlib.sha256(named.encode()).hexdigest()
