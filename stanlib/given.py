"""What users give as numbers, of whatever library, as arrays of NumPy's; what can't be numbers is refused.

Source: CmdStan Guide, "JSON Format for CmdStan"; CmdStanPy's `write_stan_json`, which writes truth values as 0 and 1.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_MISSING = {"NA", "N/A", "NONE", "NULL", "."}
_DEEPEST = 32  # as many dimensions as NumPy's arrays have in all its versions
_NO_NUMBERS: set[type] = {type(None), dict, set, frozenset, bytes, bytearray}  # of which NumPy makes some
# Text that stands for numbers, as CmdStan reads it.
TEXTS = {
    "Inf": math.inf, "Infinity": math.inf, "-Inf": -math.inf, "-Infinity": -math.inf, "NaN": math.nan,
}  # fmt: skip


class NoNumbersError(ValueError):
    """What was given is no array of numbers; the message says why, to follow a name."""


def numbers_of(given: object) -> np.ndarray:
    """What was given as an array of integers, reals or complex numbers.

    Raises:
        NoNumbersError: for anything else, for missing and masked entries, and for rows of different lengths.
    """
    return array_of(verified(given))


def verified(given: object) -> Any:
    """What was given, as `plain_of` has it, if NumPy would make nothing of it that it is not. Raises NoNumbersError."""
    plain = plain_of(given)
    _verify(plain)
    return plain


def array_of(plain: object) -> np.ndarray:
    """What was verified as an array: text in it that stands for numbers is read as such. Raises NoNumbersError."""
    try:
        value = np.asarray(plain)
        if value.dtype.kind in "USO":  # as numbers were given, not as NumPy would write them among text
            value = _of_objects(np.asarray(plain, object))
        value = value.astype(float) if value.dtype.kind == "O" else value  # integers of more than 64 bits
    except OverflowError:
        raise NoNumbersError("holds a number that is too large") from None
    except TypeError:
        raise NoNumbersError(f"must hold numbers, not {_sample(plain)}{_advice(plain)}") from None
    except ValueError:
        raise NoNumbersError("is ragged: its rows differ in length") from None
    if value.dtype.kind == "b":
        return value.astype(np.int64)
    if value.dtype.kind not in "iufc":
        raise NoNumbersError(f"must hold numbers, not {value.dtype}")
    return value


def plain_of(given: Any) -> Any:
    """A tensor, or a column, array or table of pandas, polars, xarray or pyarrow, as NumPy's; other values as they are.

    Raises:
        NoNumbersError: for what lacks entries, or is computed only later.
    """
    if hasattr(given, "detach"):
        return _of_tensor(given)
    if hasattr(given, "toarray"):
        raise NoNumbersError("must hold numbers, not a sparse array: give its .toarray()")
    if any(hasattr(given, n) for n in ("null_count", "collect_schema")) and not hasattr(given, "__len__"):
        raise NoNumbersError("must hold numbers, not what polars computes only later: give its .collect()")
    if _has_missing(given):
        raise NoNumbersError("has missing entries")
    if hasattr(given, "column_names") and hasattr(given, "to_pandas"):  # a table of pyarrow's
        return np.stack([np.asarray(c) for c in given.columns], axis=-1)
    if hasattr(given, "to_pylist"):  # pyarrow's other arrays, whose `to_numpy` has no truth values
        return np.asarray(given)
    return np.asarray(given.to_numpy()) if hasattr(given, "to_numpy") else given


def listed(given: object) -> object:
    """An array of objects, such as tuples, as nested lists; all else as it is."""
    return given.tolist() if isinstance(given, np.ndarray) and given.dtype == object else given


def is_by_items(items: Sequence[Any], given: object) -> bool:
    """Whether an array of tuples is given as one tuple of its items' arrays, in which form it is held.

    What the items are tells it from a tuple of tuples, which would be read in the other order.
    """
    return isinstance(given, tuple) and len(given) == len(items) and all(
        is_by_items(item.items, value) if item.items else isinstance(value, np.ndarray) and value.dtype != object
        for item, value in zip(items, given)
    )  # fmt: skip


def _of_tensor(tensor: Any) -> np.ndarray:
    try:
        value: np.ndarray = tensor.detach().cpu().numpy()
    except (TypeError, NotImplementedError, RuntimeError) as e:  # sparse ones, and types that NumPy does not have
        raise NoNumbersError(f"must hold numbers that NumPy has too: {str(e).partition('.')[0]}") from None
    return value


def _has_missing(value: Any) -> bool:
    """Whether a column lacks entries; what is not a number (NaN) in one of floating point numbers is there."""
    if hasattr(value, "null_count"):  # of pyarrow a number, of polars a method; a table has a count for each column
        count = value.null_count() if callable(value.null_count) else value.null_count
        return bool(np.any(count.to_numpy() if hasattr(count, "to_numpy") else count))
    if hasattr(value, "itercolumns"):  # pyarrow's tables
        return any(column.null_count for column in value.itercolumns())
    missing = getattr(value, "isna", None)  # pandas
    if missing is None:
        return False
    kinds = value.dtypes if hasattr(value, "columns") else [value.dtype]
    return not all(isinstance(kind, np.dtype) for kind in kinds) and bool(np.any(missing()))


def _verify(given: object) -> None:
    """Refuse what can't be numbers, where NumPy would make some of it."""
    row = [given]
    for _ in range(_DEEPEST):
        types = set(map(type, row))
        for wrong in _NO_NUMBERS & types:
            raise NoNumbersError(f"must hold numbers, not {'None' if wrong is type(None) else wrong.__name__}")
        arrays = (x for x in row if isinstance(x, np.ma.MaskedArray)) if any(hasattr(t, "mask") for t in types) else ()
        if any(np.ma.is_masked(x) for x in arrays):
            raise NoNumbersError("has entries that are masked")
        row = [x for inner in row if isinstance(inner, (list, tuple)) for x in inner] if types & {list, tuple} else []
        if not row:
            return
    raise NoNumbersError(f"is nested more than {_DEEPEST} deep")


def _of_objects(objects: np.ndarray) -> np.ndarray:
    """The numbers in an array of any objects; objects that are arrays or lists themselves are its rows."""
    items = objects.ravel().tolist()
    if items and all(isinstance(x, (list, tuple, np.ndarray)) for x in items):
        inner = np.stack([numbers_of(x) for x in items])
        return inner.reshape(*objects.shape, *inner.shape[1:])
    return np.array([_number(x) for x in items]).reshape(objects.shape)


def _number(x: Any) -> int | float | complex:
    """A number of an array that holds any objects. Raises TypeError."""
    if isinstance(x, str) and x in TEXTS:
        return TEXTS[x]
    if isinstance(x, (bool, np.bool_)):
        return int(x)
    if isinstance(x, (int, float, complex, np.number)):
        return x  # type: ignore[return-value]
    if type(x) in _NO_NUMBERS or isinstance(x, str):
        raise TypeError
    return float(x)


def _sample(given: object) -> str:
    """The first that is no number: itself, or its type where it has no short name."""
    for x in np.asarray(given, object).ravel().tolist():
        try:
            _number(x)
        except (TypeError, ValueError):
            told = repr(x)
            return told if len(told) < 50 and "\n" not in told and " at 0x" not in told else type(x).__name__
    return repr(given)


def _advice(given: object) -> str:
    """What to do with names of categories; nothing for numbers as text and for what is missing."""
    texts = {x for x in np.asarray(given, object).ravel().tolist() if isinstance(x, str)}
    if not texts or any(x in TEXTS or not x.strip() or x.strip().upper() in _MISSING or _is_number(x) for x in texts):
        return ""
    return ": number categories from 1, as pandas.factorize(x)[0] + 1 does"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
