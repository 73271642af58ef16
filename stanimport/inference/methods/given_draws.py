"""Draws of parameters as other packages hold them: dicts of arrays, DataFrames, xarray, ArviZ."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from stanlib.errors import StanDataError
from stanlib.given import NoNumbersError, numbers_of

from .. import tuples
from ..fits.columns import arrays_of
from ..io.names import plain

Names = tuple[Mapping[str, Sequence[str]], Mapping[str, Sequence[object]]]  # dimensions, and their coordinates
_OF_DRAWS = ("chain", "draw", "sample")  # ArviZ's dimensions of draws


class _Labelled(Protocol):
    """An array of xarray's."""

    dims: tuple[str, ...]
    values: np.ndarray

    def transpose(self, *dims: str) -> _Labelled: ...


@runtime_checkable
class _Dataset(Protocol):
    """Arrays of xarray's, by name."""

    data_vars: Mapping[object, _Labelled]
    coords: Mapping[object, _Labelled]

    def __getitem__(self, name: object) -> _Labelled: ...


class _Column(Protocol):
    def to_numpy(self) -> np.ndarray: ...


@runtime_checkable
class _Frame(Protocol):
    """A table of pandas or polars."""

    columns: Sequence[object]

    def __getitem__(self, name: object) -> _Column: ...


def arrays(previous: object) -> dict[str, np.ndarray] | None:
    """The draws of the parameters, (chains, draws, ...) each; None for what holds none.

    Raises:
        StanDataError: for draws that are no numbers, and axes that are not told.
    """
    dataset = _dataset(previous)
    if dataset is not None:
        return {str(n): _in_order(str(n), dataset[n]) for n in dataset.data_vars}
    if isinstance(previous, Mapping):
        return {n: _numbers(n, v)[None] for n, v in tuples.unpack(dict(previous)).items()}
    return _of_columns(previous) if isinstance(previous, _Frame) else None


def names(previous: object) -> Names:
    """The dimensions of the draws' variables and their coordinates, where there are such."""
    dataset = _dataset(previous)
    if dataset is None:
        return {}, {}
    dims = {str(n): [a for a in dataset[n].dims if a not in _OF_DRAWS] for n in dataset.data_vars}
    return dims, {str(a): plain(at.values) for a, at in dataset.coords.items() if a not in _OF_DRAWS}


def _dataset(previous: object) -> _Dataset | None:
    """The draws that ArviZ or xarray holds; None if it is neither's."""
    group = getattr(previous, "posterior", None)  # of ArviZ, or xarray's tree of its groups; a column may be called so
    return next((g for g in (group, previous) if isinstance(g, _Dataset)), None)


def _of_columns(frame: _Frame) -> dict[str, np.ndarray]:
    """The draws in a DataFrame, whose rows are those of one chain."""
    names = {str(c): c for c in frame.columns if not str(c).endswith("__")}
    values = {n: _numbers(n, frame[c].to_numpy()) for n, c in names.items()}
    for name, column in values.items():
        if column.ndim != 1 or np.iscomplexobj(column):
            raise StanDataError(f"{name} must be one column of real numbers", name)
    return arrays_of([*names], np.stack([v.astype(float) for v in values.values()], axis=-1)[None]) if names else {}


def _numbers(name: str, given: object) -> np.ndarray:
    try:
        return numbers_of(given)
    except NoNumbersError as e:
        raise StanDataError(f"{name} {e}", name) from None


def _in_order(name: str, values: _Labelled) -> np.ndarray:
    """The draws of a variable, (chains, draws, ...), wherever xarray has its axes.

    ArviZ numbers those without names of their own, and `arviz.extract` puts all chains together, as samples.

    Raises:
        StanDataError: if it is not said which axes are those of chains and draws.
    """
    lead = ["sample"] if "sample" in values.dims else ["chain", "draw"]
    if not {*lead} <= {*values.dims}:
        raise StanDataError(f"draws of {name} need the dimensions chain and draw, or sample, not {values.dims}", name)
    axes = [a for a in values.dims if a not in lead]
    numbered = {i: f"{name}_dim_{i}" for i in range(len(axes)) if f"{name}_dim_{i}" in axes}
    others = iter([a for a in axes if a not in numbered.values()])
    ordered = values.transpose(*lead, *(numbered.get(i) or next(others) for i in range(len(axes)))).values
    return np.asarray(ordered if len(lead) == 2 else ordered[None])
