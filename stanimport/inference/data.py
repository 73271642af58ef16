"""A program's data from wherever they are: dicts, JSON and R dump files, tables, xarray's data sets."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stanlib.errors import StanDataError


def read_data(data: Any) -> dict[str, Any]:
    """The data as a dict from Stan names to values.

    Args:
        data: None, a mapping, an object with columns (a pandas or polars frame, an xarray data set), or the path of a
            JSON file, an R dump (.R, .Rdump, .data.R), a table (.csv) or a NetCDF file (.nc).

    Raises:
        StanDataError: if the file can't be read or holds no data.

    Examples:
        >>> stanimport.inference.read_data("models/coin.json")["flips"]
        20
    """
    if data is None:
        return {}
    if isinstance(data, (str, os.PathLike)):
        return read_file(Path(data))
    if isinstance(data, Mapping) and not hasattr(data, "data_vars"):
        return {str(k): _values(v) for k, v in data.items()}
    names = getattr(data, "data_vars", None)
    names = getattr(data, "columns", None) if names is None else names
    if names is None and hasattr(data, "_asdict"):
        return dict(data._asdict())
    if names is None:
        raise StanDataError(f"the data must be a dict, a path or an object with columns, not {type(data).__name__}")
    return {str(n): _values(data[n]) for n in names}


def _values(value: Any) -> Any:
    """The numbers of a column, an array of xarray, or a tensor; other values as they are."""
    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    if hasattr(value, "to_numpy"):
        return value.to_numpy()
    return value


def read_file(path: Path) -> dict[str, Any]:
    """The data in a file, by its suffix. Raises StanDataError."""
    try:
        if path.suffix.lower() == ".csv":
            return _read_table(path)
        if path.suffix.lower() in (".nc", ".netcdf"):
            return _read_netcdf(path)
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) and e.strerror else e
        raise StanDataError(f"{path}: can't be read: {reason}") from None
    if path.suffix.lower() in (".r", ".rdump"):
        from .rdump import parse

        return parse(text, str(path))
    return _parse_json(text, path)


def _parse_json(text: str, path: Path) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as e:
        raise StanDataError(f"{path}: no readable JSON: {e}") from None
    if not isinstance(data, dict):
        raise StanDataError(f"{path}: the data must be a JSON object, {{name: value, ...}}")
    return data


def _read_table(path: Path) -> dict[str, Any]:
    """The columns of a CSV file with a header, and N, the number of its rows, unless it is a column."""
    import csv

    with path.open(newline="", encoding="utf-8-sig") as f:
        rows = list(csv.reader(f))
    if not rows or not rows[0] or any(len(r) != len(rows[0]) for r in rows[1:]):
        raise StanDataError(f"{path}: no readable table: its rows differ in length, or it has no header")
    columns = {name.strip(): [_number(v, name, path) for v in column] for name, *column in zip(*rows)}
    return {"N": len(rows) - 1} | columns


def _number(text: str, name: str, path: Path) -> float | int:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    raise StanDataError(f"{path}: column {name} must hold numbers, not {text!r}", name)


def _read_netcdf(path: Path) -> dict[str, Any]:
    import xarray

    with xarray.open_dataset(path) as dataset:
        return read_data(dataset.load())


def write_json(data: Mapping[str, Any], path: Path) -> None:
    """Write data as CmdStan's JSON, whole or not at all."""
    from .files import atomically

    def write(place: Path) -> None:
        place.write_text(json.dumps({k: _plain(v) for k, v in data.items()}), encoding="utf-8")

    atomically(path, write)


def _plain(value: Any) -> Any:
    import numpy as np

    if isinstance(value, tuple):
        return {str(i + 1): _plain(v) for i, v in enumerate(value)}
    return np.asarray(value).tolist()
