"""Fits of one model to many data sets in one zarr store: arrays of (fit, chain, draw, ...), as they are made."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib.errors import StanDataError
from stanlib.extras import require

from ..digests import data_of
from ..failures import Failure
from ..fits.fit import Fit
from ..fits.labels import of_data
from ..options import OptionError
from ..rows import named
from .identity import Identity

if TYPE_CHECKING:
    from stanlib.program import Module

FORMAT = "stanimport fits 2"
_TOGETHER = 64  # fits in one file of an array
_MADE, _FAILED = 1, 2
_OWN = ("step_size", "metric")
_DIMENSIONS = ("fit", "chain", "draw")


class Stack:
    """The store.

    Args:
        path: of its folder, new or of a run that is to go on.
        keys: of the data sets, in their order.
        program, settings: of the fits of a new store, as `identity.Identity` has them.
    """

    def __init__(self, path: Path, keys: Sequence[object], program: str, settings: str):
        require("zarr", extra="large")
        import zarr

        self.path, self.keys = path, [str(k) for k in keys]
        if len(set(self.keys)) < len(self.keys):
            raise OptionError(f"folder: two keys have the same text in {path}: {sorted(self.keys)}")
        with named(path):
            self.root = zarr.open_group(str(path), mode="a")
            if "done" not in self.root:
                self._begin(program, settings)
        if self.root.attrs.get("format") != FORMAT or self.root.attrs["keys"] != self.keys:
            raise OptionError(f"{path}: holds fits to other data sets: their keys or their number are not these")

    def _begin(self, program: str, settings: str) -> None:
        """Make what a new store has, or what one lacks for which there was no room. Raises OptionError, OSError."""
        if self.root.attrs.get("format") is None and any(True for _ in self.root.array_keys()):
            raise OptionError(f"{self.path}: is a zarr store of something else")
        self.root.attrs.update({"format": FORMAT, "keys": self.keys, "failures": {}, "program": program,
                                "settings": settings})  # fmt: skip
        if "data" not in self.root:
            self._array("data", (32,), np.uint8)
        self._array("done", (), np.uint8)

    def made(self) -> list[int]:
        """The places of the fits that it holds."""
        return [int(i) for i in np.flatnonzero(self.root["done"][:] == _MADE)]

    def identity(self, place: int) -> Identity:
        """What a fit that it holds is of."""
        attributes: Any = self.root.attrs
        data, seed = bytes(self.root["data"][place]).hex(), int(self.root["info/seed"][place])
        return Identity(attributes["program"], attributes["settings"], data, seed)

    def write(self, fits: Mapping[int, Fit]) -> None:
        """Keep fits by their places.

        Raises:
            OptionError: for fits whose arrays are not of the sizes of those before.
            OSError: naming the store, if it can't be written.
        """
        for places in _runs(sorted(fits)):
            with named(self.path):
                self._write(places, [fits[i] for i in places])

    def _write(self, places: Sequence[int], some: Sequence[Fit]) -> None:
        columns = [_columns(f) for f in some]
        if "names" not in self.root.attrs:
            self.root.attrs["names"] = list(columns[0])
        for name in columns[0]:
            self._put(name, places, [c[name] for c in columns])
        digests = [bytes.fromhex(data_of(f.program, f.data)) for f in some]
        self._put("data", places, [np.frombuffer(d, np.uint8) for d in digests])
        self.root["done"][places[0] : places[-1] + 1] = _MADE  # last: what is not finished does not count

    def _put(self, name: str, places: Sequence[int], values: Sequence[np.ndarray]) -> None:
        """Write one array of several fits to their places, which follow each other; the first fit's tells its shape.

        Raises:
            OptionError: for an array of another shape than in fits before.
        """
        shape = values[0].shape
        if name not in self.root:
            self._array(name, shape, values[0].dtype)
        array = self.root[name]  # opened once: that reads a file
        wanted = array.shape[1:]
        wrong = next((v.shape for v in values if v.shape != wanted), None)
        if wrong is not None:
            raise OptionError(f"{self.path}: {name} has the shape {wrong}, in other fits {wanted}: a zarr store holds "
                              "fits of one size; a folder holds any")  # fmt: skip
        array[places[0] : places[-1] + 1] = np.stack(values)

    def _array(self, name: str, shape: tuple[int, ...], dtype: object) -> None:
        count = len(self.keys)
        dims = [*_DIMENSIONS, *(f"{name}_dim_{i}" for i in range(len(shape)))][: 1 + len(shape)]
        if name.partition("/")[2] in _OWN and len(shape) > 1:
            dims = [*_DIMENSIONS[:2], *(f"{name}_dim_{i}" for i in range(len(shape) - 1))]
        self.root.create_array(name, shape=(count, *shape), chunks=(min(_TOGETHER, max(count, 1)), *shape), dtype=dtype,
                               compressors=None, dimension_names=dims)  # fmt: skip

    def fail(self, place: int, error: Exception) -> None:
        """Note why there is no fit. Raises OSError, naming the store, if that can't be written."""
        failures: Any = self.root.attrs["failures"]
        with named(self.path):
            self.root.attrs["failures"] = {**failures, self.keys[place]: [type(error).__name__, str(error)]}
            self.root["done"][place] = _FAILED

    def failures(self) -> dict[str, list[str]]:
        """By key, the type and the text of what went wrong with data sets that have no fit."""
        found: Any = self.root.attrs["failures"]
        done = self.root["done"][:]
        return {k: why for i, k in enumerate(self.keys) if (why := found.get(k)) and done[i] == _FAILED}

    def read(self, place: int) -> dict[str, np.ndarray]:
        """The arrays of a fit by name: "variables/mu", "stats/lp__", "info/metric"."""
        names: Any = self.root.attrs["names"]
        return {n: self.root[n][place] for n in names}


def _columns(fit: Fit) -> dict[str, np.ndarray]:
    out = {f"variables/{n}": np.asarray(v) for n, v in fit.variables.items()}
    out |= {f"stats/{n}": np.asarray(v) for n, v in fit.stats.items()}
    return out | {f"info/{n}": np.asarray(fit.info[n]) for n in _OWN} | {"info/seed": np.asarray(fit.seed)}


def _runs(places: Sequence[int]) -> list[list[int]]:
    """Places in a row, none of them in two files."""
    out: list[list[int]] = []
    for i in places:
        if out and out[-1][-1] == i - 1 and i % _TOGETHER:
            out[-1].append(i)
        else:
            out.append([i])
    return out


class StackedFits(Sequence["Fit | Failure"]):
    """The fits in a zarr store, each read when its place or its key is asked for; a `Failure` for one that failed.

    Attributes:
        failures: by key, the type and the text of what was raised.
    """

    def __init__(self, stack: Stack, module: Module, data_sets: Sequence[object], settings: Mapping[str, object]):
        self._stack, self._module, self._data, self._settings = stack, module, data_sets, dict(settings)
        self.failures, self._made = stack.failures(), set(stack.made())

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        place = self._stack.keys.index(str(at)) if isinstance(at, str) else range(len(self))[at]
        return self._fit(place) if place in self._made else self._failure(place)

    def _fit(self, place: int) -> Fit:
        """The fit at a place, from what the store holds of it and from its data."""
        from ..density.posterior import transformed_data
        from ..io.data import read_data

        held = self._stack.read(place)
        parts = {g: {n.partition("/")[2]: v for n, v in held.items() if n.startswith(f"{g}/")}
                 for g in ("variables", "stats", "info")}  # fmt: skip
        seed = int(parts["info"].pop("seed"))
        inputs = transformed_data(self._module, read_data(self._data[place]), seed)
        settings = {**self._settings, "seed": seed}
        fit = Fit(self._module.stan, "sample", parts["variables"], parts["stats"], inputs, settings, parts["info"],
                  self._module)  # fmt: skip
        fit.dims, fit.coords = of_data(self._module.stan, self._data[place])
        return fit

    def _failure(self, place: int) -> Failure:
        key = self._stack.keys[place]
        kind, text = self.failures.get(key, ["", "it was not reached"])
        return Failure(place, StanDataError(f"{kind}: {text}"), key)

    def dataset(self) -> Any:
        """All draws as one dataset of xarray with the dimensions fit, chain and draw, read as they are asked for."""
        require("xarray", extra="inference")
        import xarray

        whole = xarray.open_zarr(self._stack.path, group="variables", consolidated=False, chunks=None)
        return whole.assign_coords(fit=self._stack.keys)
