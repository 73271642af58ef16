"""The names of rows and columns that data carry: pandas' indices, xarray's dimensions and coordinates.

Programs take numbers by their places, so that arrays whose names say that these are not the same places are refused.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stanlib.errors import StanDataError
from stanlib.metadata import Program

from .data import read_data

Label = tuple[str, list[object]]  # a dimension and its coordinates


def read(program: Program, data: object) -> dict[str, Any]:
    """The data, as `read_data` gives them. Raises StanDataError, also for names that don't go with each other."""
    verify_names(program, data)
    return read_data(data)


def verify_names(program: Program, data: object) -> None:
    """Verify that the names that data carry agree, as numbers are taken by their places.

    Raises:
        StanDataError: for arrays that have the same entries in different orders, and for one whose axes are swapped.
    """
    if carries_names(data):
        _verify_order(program, data)
        _verify_axes(program, data)


def carries_names(data: object) -> bool:
    """Whether arrays of data may each have names of their own, as pandas' series in a dict."""
    return isinstance(data, Mapping) and any(axes_of(value) for value in data.values())


def verify_beside(program: Program, data: object, name: str, size: str, value: object) -> None:
    """Verify the same of one number for each row of a size that is given beside the data. Raises StanDataError."""
    _verify_order(program, data, [(name, (size,), value)])


def _verify_order(
    program: Program, data: object, beside: Sequence[tuple[str, Sequence[str], object]] = ()
) -> None:  # fmt: skip
    """Verify that series along one size of the program have their entries in one order.

    Args:
        beside: what else there is, with its sizes.

    Raises:
        StanDataError: for two that have the same names in different orders: numbers are taken by their places.
    """
    seen: dict[tuple[str, str], tuple[str, list[object]]] = {}
    for name, shape, value in [*((v.name, v.shape, given(data, v.name)) for v in program.data), *beside]:
        for size, label in zip(shape, axes_of(value)):
            if label is None:
                continue
            first, names = seen.setdefault((size, label[0]), (name, label[1]))
            if differ_in_order(names, label[1]):
                raise StanDataError(f"{first} and {name} have the same {label[0]} in different orders, but are taken "
                                    "by their places: put them in one order", name)  # fmt: skip


def differ_in_order(names: Sequence[object], others: Sequence[object]) -> bool:
    """Whether names are the same but for their order."""
    return not are_equal(names, others) and sorted(map(repr, names)) == sorted(map(repr, others))


def are_equal(one: object, other: object) -> bool:
    """Whether names are the same; what is no number is the same as itself, which it does not equal."""
    return one == other or repr(one) == repr(other)


def _verify_axes(program: Program, data: object) -> None:
    """Verify that no array has the entries along one size that others have along another, and other ones there.

    Raises:
        StanDataError: for such an array, which is transposed: it has the right shape where there are as many of both.
    """
    labels = {v.name: [(s, label) for s, label in zip(v.shape, axes_of(given(data, v.name), True)) if label is not None]
              for v in program.data}  # fmt: skip
    for name, own in labels.items():
        for size, label in own:
            for other, there in ((n, s) for n, axes in labels.items() if n != name for s, at in axes if at == label):
                if any(s == there and at != label for s, at in own) and (size, label) not in labels[other]:
                    raise StanDataError(f"{name} has {label[0]} along {size}, and {other} along {there}: numbers are "
                                        "taken by their places, so its axes have to be swapped", name)  # fmt: skip


def given(data: Any, name: str) -> object:
    if isinstance(data, Mapping) or hasattr(data, "data_vars"):
        return data.get(name)
    columns = getattr(data, "columns", ())
    return data[name] if hasattr(data, "index") and name in columns else None


def axes_of(value: object, also_bare: bool = False) -> Sequence[Label | None]:
    """The label of each axis of what was given for a variable; None where it has none, or only a name."""
    if hasattr(value, "dims") and hasattr(value, "coords"):  # xarray
        bare = {str(d): (str(d), list[object]()) if also_bare else None for d in value.dims}
        return [(str(d), plain(value.coords[d].values)) if d in value.coords else bare[str(d)] for d in value.dims]
    indices = (getattr(value, "index", None), getattr(value, "columns", None))
    return [_of_index(i) for i in indices if i is not None and not callable(i)]


def _of_index(index: object) -> Label | None:
    """The label of a pandas index that has a name."""
    name = getattr(index, "name", None)
    return None if name is None or getattr(index, "nlevels", 1) > 1 else (str(name), plain(np.asarray(index)))


def plain(values: np.ndarray) -> list[object]:
    """Coordinates as Python's numbers and texts, which files can hold.

    Python has times of microseconds; of nanoseconds, as pandas has most, NumPy would make numbers.
    """
    if values.dtype.kind == "M":
        values = np.datetime_as_string(values, unit="auto")
    if values.dtype.kind == "m":
        values = values.astype("m8[us]")
    return [v if isinstance(v, (int, float, str)) else str(v) for v in values.tolist()]
