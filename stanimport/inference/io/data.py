"""A program's data from wherever they are: dicts, JSON and R dump files, tables, xarray's data sets."""
from __future__ import annotations

import codecs
import errno
import gzip
import io
import json
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stanlib.errors import MissingLibraryError, StanDataError
from stanlib.given import TEXTS, NoNumbersError, listed, numbers_of, plain_of, verified

from ... import files
from .files import readable

__all__ = ["read_data"]
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
_LARGE_EXPONENT = re.compile(r"[eE]\+?0*[1-9][0-9][0-9]")
_DIGITS, _ZERO = str.maketrans("123456789", "0" * 9), "0"


def read_data(data: Any) -> dict[str, Any]:
    """The data as a dict from Stan names to values.

    Args:
        data: None, a mapping, an object with columns (a pandas or polars frame, an xarray data set), or the path of a
            JSON file, an R dump (.R, .Rdump, .data.R), a table (.csv) or a NetCDF file (.nc), the first three also
            compressed (.json.gz). A table, as a file or as a frame, also gives `N`, the number of its rows, unless it
            has a column of that name; a data set the lengths of its dimensions by their names, and `N`, the length of
            the first one where all arrays begin with it, unless variables have these names.

    Raises:
        StanDataError: if the file can't be read or holds no data.

    Examples:
        >>> stanimport.inference.read_data("models/coin.json")["flips"]
        20
    """
    if data is None:
        return {}
    if isinstance(data, str) and data.lstrip().startswith("{"):
        raise StanDataError("the data are JSON text, where a path is meant: give json.loads(text)")
    data = files.as_path(data)
    if isinstance(data, (str, os.PathLike)):
        return read_file(Path(data))
    if isinstance(data, Mapping) and not hasattr(data, "data_vars"):
        return {str(k): _values(v) for k, v in data.items()}
    if hasattr(data, "data_vars"):
        return _sizes_in(data) | {str(n): _values(data[n]) for n in data.data_vars}
    if hasattr(data, "_asdict"):
        return read_data(data._asdict())
    return _table({str(n): _values(data[n]) for n in _names_of_columns(data)}, len(data))


def _sizes_in(dataset: Any) -> dict[str, int]:
    return sizes_of(dataset.sizes, [v.dims for v in dataset.data_vars.values()])


def sizes_of(lengths: Mapping[object, int], arrays: Iterable[Sequence[object]]) -> dict[str, int]:
    """The lengths of a data set's dimensions by name, and `N`, the number of rows of what is a table.

    Args:
        lengths: of all dimensions, by name.
        arrays: the names of the dimensions of each variable.
    """
    first = {dims[0] for dims in arrays if dims}
    rows = {"N": int(lengths[first.pop()])} if len(first) == 1 else {}
    return rows | {str(d): int(n) for d, n in lengths.items()}


def _names_of_columns(table: Any) -> list[object]:
    """The names of the columns of a table of pandas, polars or pyarrow. Raises StanDataError."""
    if hasattr(table, "collect_schema") and not hasattr(table, "__len__"):
        raise StanDataError("the data are a lazy table, which has to be computed first: give its .collect()")
    if not hasattr(table, "columns"):
        raise StanDataError(f"the data must be a dict, a path or an object with columns, not {type(table).__name__}")
    names = list(table.column_names if hasattr(type(table), "column_names") else table.columns)
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise StanDataError(f"the data have two columns {twice!r}", str(twice))
    return names


def _table(columns: Mapping[str, object], rows: int) -> dict[str, object]:
    """The data in a table: its columns, and `N`, the number of its rows, unless that is a column."""
    return {"N": rows, **columns}


def _values(value: object) -> object:
    """The numbers of a column, an array of xarray, or a tensor; what has none stays as it is, for it may be unused."""
    try:
        return plain_of(value)
    except NoNumbersError:
        return value


def array_of(name: str, value: object) -> np.ndarray:
    """A value that was read as an array. Raises StanDataError where entries are missing, or masked."""
    try:
        return np.asarray(verified(value))
    except NoNumbersError as e:
        raise StanDataError(f"{name} {e}", name) from None


def read_file(path: Path) -> dict[str, Any]:
    """The data in a file, by its suffix. Raises StanDataError."""
    kind = (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()
    try:
        if kind in (".nc", ".netcdf"):
            return _read_netcdf(path)
        text = _text(files.read_bytes(path), path)
    except (OSError, EOFError, ValueError, zlib.error) as e:  # no text, or a path that can be none
        if isinstance(e, StanDataError):
            raise
        reason = e.strerror if isinstance(e, OSError) and e.strerror else e
        raise StanDataError(f"{path}: can't be read: {reason}") from None
    if kind == ".csv":
        return _read_table(text, path)
    if kind in (".r", ".rdump"):
        from .rdump import parse

        return parse(text, str(path))
    return _parse_json(text, path)


def _text(content: bytes, path: Path) -> str:
    """The text of a file: UTF-8, UTF-16 or UTF-32 with its mark, also compressed by gzip.

    Raises:
        StanDataError: for what is another format by its first bytes, and for text in no such encoding.
        OSError, EOFError: for compressed data that are damaged.
    """
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    known = next((what for start, what in _OTHERS.items() if content.startswith(start)), None)
    if known is not None:
        raise StanDataError(f"{path}: is {known}: read it in Python, and give its contents as a dict or a table")
    try:
        return content.decode(next((e for mark, e in _MARKS.items() if content.startswith(mark)), "utf-8"))
    except UnicodeDecodeError as e:
        line = content.count(b"\n", 0, e.start) + 1
        raise StanDataError(f"{path}: is no text in UTF-8: see byte {content[e.start]:#04x} in line {line}") from None


# How files begin: marks of encodings, and formats that are taken for data. R's and Python's are also compressed.
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
          codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip
_OTHERS = {b"PK\x03\x04": "a zip archive, as Excel's and NumPy's .npz files are", b"\x93NUMPY": "an array of NumPy's",
           b"PAR1": "a parquet file", b"\x89HDF": "an HDF5 or NetCDF file", b"ARROW1": "a feather file",
           b"RDX": "data that R saved", b"X\n": "an object that R saved", b"A\n": "an object that R saved",
           b"\x80\x02": "a pickle", b"\x80\x03": "a pickle", b"\x80\x04": "a pickle",
           b"\x80\x05": "a pickle"}  # fmt: skip


def _parse_json(text: str, path: Path) -> dict[str, Any]:
    """The data in a JSON object, by name.

    Raises:
        StanDataError: for text that is none, names that are there twice, and numbers beyond the range.
    """

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object, in which no name may stand twice."""
        made = dict(pairs)
        if len(made) != len(pairs):
            names = [n for n, _ in pairs]
            twice = next(n for n in names if names.count(n) > 1)
            raise StanDataError(f"{path}: {twice} is there twice", twice)
        return made

    try:
        # Infinities come from the names for them alone, so that a number beyond the range is none of them.
        data = json.loads(text, object_pairs_hook=members, parse_constant=str, **_guards(text))
    except StanDataError:
        raise
    except (ValueError, RecursionError) as e:
        reason = "it is nested too deeply" if isinstance(e, RecursionError) else e
        raise StanDataError(f"{path}: no readable JSON: {reason}") from None
    if not isinstance(data, dict):
        raise StanDataError(f"{path}: the data must be a JSON object, {{name: value, ...}}")
    return _with_words(data) if "true" in text or "false" in text else data


def _with_words(value: object) -> Any:
    """JSON's truth values as words, which are no numbers: CmdStan refuses them, where Python's are 0 and 1."""
    if isinstance(value, dict):
        return {name: _with_words(v) for name, v in value.items()}
    if isinstance(value, list):
        return [_with_words(v) for v in value]
    return json.dumps(value) if isinstance(value, bool) else value


def _guards(text: str) -> dict[str, Any]:
    """Converters that refuse numbers beyond the range, for a text in which there may be some."""
    def checked(convert: Callable[[str], object]) -> Callable[[str], Any]:
        def number(literal: str) -> Any:
            if math.isinf(float(literal)):
                raise ValueError(f"the number {_short(literal)} is too large")
            return convert(literal)

        return number

    return {"parse_float": checked(float), "parse_int": checked(int)} if _may_overflow(text) else {}


def _may_overflow(text: str) -> bool:
    """Whether any number of a JSON text may be larger than 1e308, by its exponent or by its digits."""
    return bool(_LARGE_EXPONENT.search(text)) or _ZERO * 200 in text.translate(_DIGITS)


def _short(text: str) -> str:
    return text if len(text) < 20 else f"{text[:10]}... of {len(text)} characters"


def _read_table(text: str, path: Path) -> dict[str, object]:
    """The table in a CSV file with a header."""
    import csv

    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as e:
        raise StanDataError(f"{path}: no readable table: {e}") from None
    while rows and not rows[-1]:
        rows.pop()
    if rows and len(rows[0]) > 1:  # else a blank line is an empty cell
        rows = [row for row in rows if row]
    if not rows or not rows[0] or any(len(r) != len(rows[0]) for r in rows[1:]):
        raise StanDataError(f"{path}: no readable table: its rows differ in length, or it has no header")
    names = [name.strip() for name in rows[0]]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise StanDataError(f"{path}: there are two columns {twice!r}", twice)
    columns = {n: [*map(_cell, column)] for n, (_, *column) in zip(names, zip(*rows))}
    return _table(columns, len(rows) - 1)


def _cell(text: str) -> float | int | str:
    """The number in a cell; what is none stays text, which no variable of a program can be."""
    text = text.strip()
    if text in TEXTS:
        return TEXTS[text]
    if not _NUMBER.fullmatch(text) or math.isinf(float(text)):
        return text
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _read_netcdf(path: Path) -> dict[str, object]:
    """The data in a NetCDF file, by name.

    Raises:
        FileNotFoundError: if there is none.
        MissingLibraryError: without xarray, or what it reads the file with.
        StanDataError: for a file that is damaged.
    """
    if not files.is_file(path):
        raise FileNotFoundError(errno.ENOENT, "there is no such file", str(path))
    try:
        import xarray

        with xarray.open_dataset(readable(path)) as dataset:
            return read_data(dataset.load())
    except ImportError as e:
        raise MissingLibraryError(f"NetCDF is read with xarray: pip install 'stanimport[inference]' ({e})") from None
    except StanDataError:
        raise
    except Exception as e:  # the libraries that read it raise whatever they come upon in a damaged file
        raise StanDataError(f"{path}: no readable NetCDF: {type(e).__name__}: {e}") from e


def write_json(data: Mapping[str, object], path: Path) -> None:
    """Write data as CmdStan's JSON, whole or not at all. Raises StanDataError for values that are no numbers."""
    from .files import atomically

    plain = {str(name): _plain(str(name), value) for name, value in data.items()}
    atomically(path, lambda place: place.write_text(json.dumps(plain), encoding="utf-8"))


def _plain(name: str, value: object) -> Any:
    """A value as JSON has it; text, which no variable can be, stays text. Raises StanDataError."""
    value = listed(value)
    if isinstance(value, tuple):
        value = {i: v for i, v in enumerate(value, 1)}
    if isinstance(value, Mapping):
        return {str(k): _plain(f"{name}.{k}", v) for k, v in value.items()}
    if isinstance(value, list) and any(isinstance(v, (list, tuple, Mapping, str)) for v in value):
        return [_plain(name, v) for v in value]
    if isinstance(value, str):
        return value
    try:
        array = numbers_of(value)
    except NoNumbersError as e:
        raise StanDataError(f"{name} {e}", name) from None
    return (np.stack([array.real, array.imag], axis=-1) if np.iscomplexobj(array) else array).tolist()
