"""Data that are read part by part: arrays in memory, memory maps, and arrays and tables on disk.

What is called an array here has `shape` and is read by slices: NumPy's arrays and memory maps, variables of zarr, h5py,
h5netcdf and xarray, and the columns of a parquet file.
"""
from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stanlib.errors import MissingLibraryError, StanDataError

from ...io.data import read_data, sizes_of
from ...io.files import readable
from .conventions import decoded

_TABLE = (".parquet", ".pq")
_NETCDF = (".nc", ".netcdf", ".nc4", ".cdf", ".h5", ".hdf5")
_MAPPED_FOR_ALL = ("r", "r+", "w+")  # modes of memory maps whose pages are the file's


def open_data(data: Any) -> dict[str, Any]:
    """The data by Stan names; of what is an array only its shape and type are looked at.

    Args:
        data: what `read_data` takes, where mappings and xarray's data sets may hold arrays on disk; or the path of a
            parquet or NetCDF or HDF5 file, of a zarr store (*.zarr), or of a folder of .npy files, each named after
            its variable, and of .parquet and .json files.

    Raises:
        StanDataError: for what can't be read.
        MissingLibraryError: without the library that reads it.
    """
    if isinstance(data, (str, os.PathLike)):
        return _open_path(Path(data))
    if hasattr(data, "data_vars"):
        arrays = {str(n): data[n].variable if _is_lazy(data[n]) else data[n].to_numpy() for n in data.data_vars}
        return sizes_of(data.sizes, [v.dims for v in data.data_vars.values()]) | arrays
    if isinstance(data, Mapping):
        apart = {str(n): decoded(str(n), v) for n, v in data.items() if is_array(v)}
        return read_data({n: v for n, v in data.items() if str(n) not in apart}) | apart
    return read_data(data)


def is_array(value: Any) -> bool:
    """Whether a value is read by slices, and has nothing to say of missing entries."""
    if isinstance(value, np.ndarray):
        return not isinstance(value, np.ma.MaskedArray) and value.dtype.kind != "O"
    known = hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "__getitem__")
    return known and not hasattr(value, "detach") and not hasattr(value, "iloc") and len(value.shape) > 0


def _is_lazy(variable: Any) -> bool:
    return bool(variable.ndim) and not getattr(variable.variable, "_in_memory", True)


def _open_path(path: Path) -> dict[str, Any]:
    """The data in a file or folder, by Stan names: arrays on disk, or for other suffixes what `read_data` makes of it.

    Raises:
        StanDataError: for what can't be read.
        MissingLibraryError: without the library that reads it.
    """
    suffix = path.suffix.lower()
    try:
        if suffix in _TABLE:
            return _parquet(path)
        if suffix == ".zarr":
            return _zarr(path)
        if suffix in _NETCDF:
            return _netcdf(path)
        if path.is_dir():
            return _folder(path)
    except StanDataError:
        raise
    except ImportError as e:
        raise MissingLibraryError(f"{path} can't be read: {e}: pip install 'stanimport[large]'") from None
    except Exception as e:  # the libraries that read it raise whatever they come upon in a damaged file
        raise StanDataError(f"{path}: can't be read: {type(e).__name__}: {e}") from e
    return read_data(path)


def _small(value: Any) -> Any:
    """A single number as such."""
    return value if value.shape else np.asarray(value[()])[()]


def _zarr(path: Path) -> dict[str, Any]:
    import zarr

    return {str(n): _small(decoded(str(n), v)) for n, v in zarr.open_group(str(path), mode="r").arrays()}


def _netcdf(path: Path) -> dict[str, Any]:
    import h5netcdf

    file = h5netcdf.File(readable(path), "r", phony_dims="sort")
    variables = {str(n): v for n, v in file.variables.items()}
    arrays = [v.dimensions for n, v in variables.items() if n not in file.dimensions]  # others are coordinates
    sizes = sizes_of({n: d.size for n, d in file.dimensions.items()}, arrays)
    return sizes | {n: _small(decoded(n, _Stored(file, v))) for n, v in variables.items()}


class _Stored:
    """A variable of a NetCDF file, which it keeps open."""

    def __init__(self, file: Any, variable: Any):
        self.file, self.variable = file, variable
        self.shape, self.dtype, self.chunks = tuple(variable.shape), variable.dtype, variable.chunks
        self.attrs = variable.attrs

    def __getitem__(self, index: Any) -> Any:
        return self.variable[index]


def _folder(path: Path) -> dict[str, Any]:
    """A folder of NumPy's files, mapped into memory, of parquet files, and JSON files of whatever is small.

    Raises:
        StanDataError: if there are none, and for a name that is in two of them.
    """
    made: dict[str, Any] = {}
    counts = set[int]()
    for file in sorted(path.iterdir()):
        found: dict[str, Any] = {}
        if file.suffix == ".npy":
            found = {file.stem: _mapped(file)}
        elif file.suffix == ".json":
            found = read_data(file)
        elif file.suffix in _TABLE:
            found = _open_path(file)
            if not is_array(found["N"]):  # a column's name
                counts.add(found.pop("N"))
        twice = min(found.keys() & made.keys(), default=None)
        if twice is not None:
            raise StanDataError(f"{path}: {twice} is there twice, in {file.name} too", twice)
        made |= found
    if not made:
        raise StanDataError(f"{path}: there are no data: no .npy, .parquet or .json files")
    return ({"N": counts.pop()} if len(counts) == 1 else {}) | made  # of tables of different lengths N is none's


def _mapped(file: Path) -> Any:
    """An array of a file of NumPy's, mapped into memory. Raises StanDataError."""
    try:
        return _small(np.load(file, mmap_mode="r"))
    except Exception as e:  # a damaged file may be anything, a pickle among others
        raise StanDataError(f"{file}: can't be read: {type(e).__name__}: {e}") from e


def _parquet(path: Path) -> dict[str, Any]:
    """A table's columns, and `N`, the number of its rows, unless there is a column of that name."""
    from pyarrow import parquet

    from .tables import Column

    file = parquet.ParquetFile(readable(path), memory_map=True)
    columns = {n: Column(file, n) for n in file.schema_arrow.names}
    return {"N": file.metadata.num_rows, **columns}


# --- reading ---------------------------------------------------------------------------------------------------------


def part(array: Any, axis: int, rows: slice) -> np.ndarray:
    """The rows of an array along an axis, in memory."""
    index = (slice(None),) * axis + (rows,) + (slice(None),) * (len(array.shape) - axis - 1)
    return np.asarray(array[index])


def selected(array: object, axis: int, rows: np.ndarray) -> np.ndarray:
    """Single rows of an array along an axis, in memory."""
    if isinstance(array, np.ndarray):
        return np.take(array, rows, axis=axis)
    return np.concatenate([part(array, axis, slice(int(r), int(r) + 1)) for r in rows], axis=axis)


def whole(value: Any) -> Any:
    """A value in memory."""
    return np.asarray(value[(slice(None),) * len(value.shape)]) if is_array(value) else value


def map_of(array: object) -> mmap.mmap | None:
    """The memory map that an array lies in; None for any other."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


def is_in_memory(array: object) -> bool:
    """Whether any of its rows can be read as fast as any other."""
    return isinstance(array, np.ndarray) and map_of(array) is None


def chunk_of(array: object, axis: int) -> int:
    """How many rows an array on disk stores together."""
    chunks = getattr(array, "chunks", None)
    if not isinstance(chunks, tuple) or len(chunks) <= axis:
        return 1
    return int(max(chunks[axis])) if isinstance(chunks[axis], tuple) else int(chunks[axis])


def releaser(array: object) -> Callable[[], object]:
    """What gives the pages of a memory map back that have been read, so that they don't count as the process's."""
    found, mode = map_of(array), _mode(array)
    if found is None or mode not in _MAPPED_FOR_ALL or not hasattr(mmap, "MADV_DONTNEED"):
        return lambda: None
    return lambda: found.madvise(mmap.MADV_DONTNEED)


def _mode(array: object) -> str:
    """The mode of the memory map that an array is a view of; "" if it can't be told."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return str(array.mode)
        array = array.base
    return ""
