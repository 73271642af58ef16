"""Tuples among a program's variables: `a` as one Python tuple, or as its items `a.1`, `a.2`."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stanlib.program import Variable


def leaves(variable: Variable, name: str = "") -> Iterator[str]:
    """The names of a variable's arrays: its own, or those of a tuple's items."""
    name = name or variable.name
    if not variable.items:
        yield name
    for i, item in enumerate(variable.items, 1):
        yield from leaves(item, f"{name}.{i}")


def pack(variable: Variable, arrays: Mapping[str, Any], name: str = "") -> Any:
    """A variable's value, from the arrays of its leaves; a complex one may be given by the sites of its parts."""
    name = name or variable.name
    if not variable.items:
        parts = f"{name}.real", f"{name}.imag"
        return arrays[name] if name in arrays or parts[0] not in arrays else arrays[parts[0]] + 1j * arrays[parts[1]]
    return tuple(pack(item, arrays, f"{name}.{i}") for i, item in enumerate(variable.items, 1))


def unpack(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of all leaves, from values among which are tuples."""
    out: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            out |= unpack({f"{name}.{i}": v for i, v in enumerate(value, 1)})
        else:
            out[name] = value
    return out


def leaf_names(variables: Sequence[Variable]) -> list[str]:
    return [name for v in variables for name in leaves(v)]
