"""Tuples among a program's variables: `a` as one Python tuple, or as its items `a.1`, `a.2`."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stanlib.arrays import numpy as xp
from stanlib.errors import StanDataError
from stanlib.given import is_by_items, listed
from stanlib.program import Variable


def leaves(variable: Variable, name: str = "") -> Iterator[str]:
    """The names of a variable's arrays: its own, or those of a tuple's items."""
    name = name or variable.name
    if not variable.items:
        yield name
    for i, item in enumerate(variable.items, 1):
        yield from leaves(item, f"{name}.{i}")


def axes(variables: Iterable[Variable]) -> dict[str, tuple[int, ...]]:
    """Of each leaf of a tuple, how many of its axes are those of arrays of each tuple that it lies in."""
    return {n: own for v in variables if v.items for n, own in _axes(v, v.name, ())}


def _axes(variable: Variable, name: str, outer: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    if not variable.items:
        yield name, outer
    for i, item in enumerate(variable.items, 1):
        yield from _axes(item, f"{name}.{i}", (*outer, array_axes(variable)))


def array_axes(variable: Variable) -> int:
    """Of how many dimensions an array is, 0 for what is none."""
    return variable.type.count(",", 0, variable.type.find("]")) + 1 if variable.type.startswith("array[") else 0


def pack(variable: Variable, arrays: Mapping[str, Any], name: str = "") -> Any:
    """A variable's value, from the arrays of its leaves; a complex one may be given by the sites of its parts."""
    name = name or variable.name
    if not variable.items:
        parts = f"{name}.real", f"{name}.imag"
        return arrays[name] if name in arrays or parts[0] not in arrays else arrays[parts[0]] + 1j * arrays[parts[1]]
    return tuple(pack(item, arrays, f"{name}.{i}") for i, item in enumerate(variable.items, 1))


def joined(arrays: Mapping[str, object]) -> dict[str, Any]:
    """The arrays of leaves, from those of sites: a complex number has a site for each of its parts."""
    out: dict[str, Any] = {}
    for name, value in arrays.items():
        whole = name.removesuffix(".real")
        if whole != name and f"{whole}.imag" in arrays:
            out[whole] = xp.complex(value, arrays[f"{whole}.imag"])
        elif not (name.endswith(".imag") and f"{name.removesuffix('.imag')}.real" in arrays):
            out[name] = value
    return out


def parted(arrays: Mapping[str, object], sites: Iterable[str]) -> dict[str, Any]:
    """The arrays of these sites, as far as there are some, from those of leaves."""
    out: dict[str, Any] = {}
    for site in sites:
        whole, _, part = site.rpartition(".")
        if site in arrays:
            out[site] = arrays[site]
        elif part in ("real", "imag") and whole in arrays:
            out[site] = getattr(np.asarray(arrays[whole]), part)
    return out


def unpack(values: Mapping[str, object]) -> dict[str, Any]:
    """The arrays of all leaves, from values among which are tuples."""
    out: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            out |= unpack({f"{name}.{i}": v for i, v in enumerate(value, 1)})
        else:
            out[name] = value
    return out


def given(variables: Sequence[Variable], values: Mapping[str, object]) -> dict[str, Any]:
    """The values of the leaves of variables, as people give them; other names as they are.

    A tuple may be a sequence of its items or CmdStan's `{"1": ..., "2": ...}`, an array of tuples a sequence of these,
    or a tuple of arrays, as `Fit.stan_variable` has it.

    Raises:
        StanDataError: for a tuple that has not as many items as were declared.
    """
    declared = {v.name: v for v in variables}
    out: dict[str, Any] = {}
    for name, value in values.items():
        out |= _spread(declared[name], name, value) if name in declared else {name: value}
    return out


def _spread(variable: Variable, name: str, value: object, outer: int = 0) -> dict[str, Any]:
    """The leaves of a variable, which lies in `outer` dimensions of arrays of tuples beside its own."""
    if not variable.items:
        return {name: value}
    dims, out = outer + array_axes(variable), dict[str, Any]()
    columns = _columns(variable, name, value, dims)
    for i, (item, column) in enumerate(zip(variable.items, columns), 1):
        out |= _spread(item, f"{name}.{i}", column, dims)
    return out


def _columns(variable: Variable, name: str, value: object, dims: int) -> list[object]:
    """The items of a tuple; of an array of tuples one nested list per item, or one array if it is given so."""
    value, count = listed(value), len(variable.items)
    if dims and isinstance(value, tuple) and is_by_items(variable.items, value):
        return list(value)
    if dims:
        if not isinstance(value, (list, tuple)):
            raise StanDataError(f"the value of {name} must be an array of tuples, not {type(value).__name__}", name)
        rows = [_columns(variable, name, v, dims - 1) for v in value]
        return [[row[i] for row in rows] for i in range(count)]
    if isinstance(value, Mapping):
        value = [value[k] for k in sorted(value, key=str) if str(k) in map(str, range(1, count + 1))]
    if not isinstance(value, (list, tuple)) or len(value) != count:
        raise StanDataError(f"the value of {name} must be a tuple of {count} items", name)
    return list(value)


def leaf_names(variables: Sequence[Variable]) -> list[str]:
    return [name for v in variables for name in leaves(v)]
