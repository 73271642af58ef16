"""Reading a program's data: conversion to arrays, and checks of names, types, shapes and declared constraints.

Messages name the variable, its declaration and position, and what was given. Source: Stan Reference Manual, "Data
Types and Declarations"; CmdStan Guide, "JSON Format for CmdStan".
"""
from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import constraints
from .arrays import numpy as xp
from .arrays import uses_jax
from .arrays.base import Real
from .batches import bounds_all_rows
from .checks import check_bounds
from .constraints import reasons
from .dataclass import dataclass
from .errors import StanDataError, StanIndexError
from .given import NoNumbersError, array_of, is_by_items, listed, verified

if TYPE_CHECKING:
    from .metadata import Program, Variable

INTEGER_LIMIT = 2**31
LARGE = 2**20  # numbers of an array from which on its memory is shared


@dataclass(frozen=True)
class Item:
    """An item of a tuple that is none itself: its sizes, constraint and bounds."""

    shape: tuple[int, ...]
    constraint: str | None
    bounds: dict[str, Any]


KINDS = 4  # of what stands for data that are to be predicted
_FAR = 100


@dataclass(frozen=True)
class StandIn:
    """Stands for data that are to be predicted: a value as declared, for every kind below KINDS another.

    The first two are of ordinary size; the third is as great, the last as small as declared, or far out.
    """

    kind: int

    def value(self, v: Variable, shape: tuple[int, ...], constraint: str | None, bounds: Mapping[str, Any]) -> Any:
        """The value for a variable that is no tuple."""
        if constraint is not None:
            record = constraints.get(constraint)
            inner = shape[len(shape) - record.event_dims :]
            sizes = inner if record.is_sized else ()
            free = record.free_shape(inner, *record.sizes_of(inner))
            steps = (0.1, 0.2, 3.0, -3.0)[self.kind] * np.ones((*shape[: len(shape) - record.event_dims], *free))
            return np.asarray(record.constrain(xp, steps, *sizes)[0])
        base = v.type.rpartition(" ")[2]
        low, high = (np.broadcast_to(bounds.get(n, d), shape) for n, d in (("lower", -np.inf), ("upper", np.inf)))
        at = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        value = (_whole if base == "int" else _inside)(low, high, at, self.kind)
        if base == "int":
            return int(value) if value.ndim == 0 else value.astype(np.int64)
        kind = np.complex128 if base.startswith("complex") else np.float64
        return kind(value) if value.ndim == 0 else value.astype(kind)


def _whole(low: Real, high: Real, at: Real, kind: int) -> Any:
    """Integers within bounds, different ones as far as these allow it."""
    steps = (at, at + 1, at + _FAR, at + _FAR)[kind]
    with np.errstate(invalid="ignore"):
        count = np.maximum(high - low + 1, 1)
        cycled = np.minimum(steps % count, steps)
        within = (cycled, cycled, np.where(np.isfinite(high), count - 1, steps), 0 * steps)[kind]
        below, unbounded = high - (kind != 2) * steps, -steps if kind == 3 else steps
        return np.where(np.isfinite(low), low + within, np.where(np.isfinite(high), below, unbounded))


def _inside(low: Real, high: Real, at: Any, kind: int) -> Any:
    """Different numbers within bounds."""
    steps = (0.25 * (at + 1) + 0.125 * (kind % 2)) * (1, 1, _FAR, 1 / _FAR)[kind]
    share = ((at + 1 + 0.5 * (kind % 2)) / (at.size + 2)) ** (1, 1, 1 / _FAR, _FAR)[kind]
    with np.errstate(invalid="ignore"):
        below, unbounded = high - (1 / steps if kind > 1 else steps), -steps * _FAR**2 if kind == 3 else steps
        open_above = np.where(np.isfinite(low), low + steps, np.where(np.isfinite(high), below, unbounded))
        return np.where(np.isfinite(low) & np.isfinite(high), low + share * (high - low), open_above)


class Reader:
    """The data of one call, read variable by variable in the order of their declarations."""

    def __init__(self, program: Program, given: Mapping[str, Any]):
        self.program, self.given = program, given
        self.variables = {v.name: v for v in program.data}

    def __call__(self, name: str, shape: Sequence[int] = (), constraint: str | None = None, **bounds: Real) -> Any:
        """The value of a variable, converted and checked.

        `shape` holds the declared sizes, `constraint` the name of a constrained type, `bounds` lower and upper.
        """
        v = self.variables[name]
        if name not in self.given:
            raise missing(self.program, self.given)
        sizes = tuple(int(n) for n in shape)
        if min(sizes, default=0) < 0:
            raise _error(self.program, v, f"has a negative size, {min(sizes)}")
        if isinstance(self.given[name], StandIn):
            return self.given[name].value(v, sizes, constraint, bounds)
        if self.given[name] is None:
            raise _error(self.program, v, "must hold numbers, not None, which module.model alone takes to draw it")
        value = _convert(self.program, v, v.type, self.given[name], sizes)
        check(self.program, v, value, constraint, **bounds)
        return value

    def tuple(self, name: str, *items: object) -> Any:
        """The value of a tuple: a tuple of arrays, and of such tuples. Each item is what `item` or `items` returned."""
        v = self.variables[name]
        if name not in self.given:
            raise missing(self.program, self.given)
        if isinstance(self.given[name], StandIn):
            raise missing(self.program, {n: g for n, g in self.given.items() if not isinstance(g, StandIn)})
        return _convert_tuple(self.program, v, self.given[name], items, 0)

    def item(self, shape: Sequence[int] = (), constraint: str | None = None, **bounds: object) -> Item:
        """How an item of a tuple is declared; the sizes of arrays of tuples come first in its shape."""
        return Item(tuple(int(n) for n in shape), constraint, bounds)

    def items(self, *items: object) -> Any:
        """How an item that is a tuple is declared."""
        return items


def missing(program: Program, given: Mapping[str, object]) -> StanDataError:
    """The error for data that lack variables; it names them all."""
    lacking = [v for v in program.data if v.name not in given]
    unknown = [n for n in given if n not in program.names("data")]
    if len(lacking) == 1:
        return _error(program, lacking[0], f"is missing from the data{_meant(lacking[0].name, unknown)}")
    lines = [f"`{v.declaration}`, line {v.line}{_meant(v.name, unknown)}" for v in lacking]
    names = f"{', '.join(v.name for v in lacking[:-1])} and {lacking[-1].name}"
    message = f"{names} are missing from the data: declared as {'; '.join(lines)} in {program.filename}"
    return StanDataError(message, lacking[0].name, program.filename, lacking[0].line)


def _meant(name: str, unknown: Sequence[str]) -> str:
    similar = _similar(name, unknown)
    return f" (was {similar!r} meant for it?)" if similar else ""


def _similar(name: str, unknown: Sequence[str]) -> str | None:
    """The unknown name that a missing one most resembles; names that differ in case alone come first."""
    same = [n for n in unknown if n.lower() == name.lower()]
    return next(iter(same or difflib.get_close_matches(name, unknown, n=1, cutoff=0.6)), None)


def _error(program: Program, v: Variable, problem: str) -> StanDataError:
    where = f"declared as `{v.declaration}` in {program.filename}, line {v.line}"
    return StanDataError(f"{v.name} {problem}: {where}", v.name, program.filename, v.line)


def _convert(program: Program, v: Variable, t: str, given: object, shape: tuple[int, ...]) -> Any:
    """The value of a variable, or of an item of a tuple, of type `t` and of its declared `shape`; tracers stay.

    Raises:
        StanDataError: for what is not made of numbers, and for another shape or type.
    """
    try:
        plain = verified(given)
        if is_traced(plain):
            return plain
        value = array_of(plain)
    except NoNumbersError as e:
        raise _error(program, v, str(e)) from None
    if "complex" in t and value.dtype.kind != "c" and value.shape == (*shape, 2):
        value = xp.complex(value[..., 0], value[..., 1])  # CmdStan's JSON: pairs of real and imaginary part
    if value.shape != shape:
        if value.size == 0 and 0 in shape:
            value = value.reshape(shape)
        else:
            raise _error(program, v, f"must have shape {_shown(shape)}, not {_shown(value.shape)}")
    base = t.rpartition(" ")[2]
    if base == "int":
        return _integers(program, v, value)
    return _complex(program, v, value) if base.startswith("complex") else _reals(program, v, value)


def _first_real(value: np.ndarray) -> str:
    """The first component that is no integer, with its indices; of wholly real ones, the first."""
    for bad in (~np.isfinite(value), value != np.floor(value)):
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            return f"[{','.join(str(i + 1) for i in at)}] is {value[at]}" if at else str(value[at])
    return str(value.flat[0])


def _integers(program: Program, v: Variable, value: np.ndarray) -> int | np.ndarray:
    """A Python int, or an int64 array of the same shape; an array without components may be one of reals.

    Raises:
        StanDataError: for reals, for other types, and for integers of more than 32 bits.
    """
    if value.dtype.kind == "f":
        if value.size == 0:
            value = value.astype(np.int64)
        else:
            raise _error(program, v, f"must be of type int, not real: {_first_real(value)}")
    if value.dtype.kind not in "iu":
        raise _error(program, v, f"must be of type int, not {value.dtype}")
    if value.size and (value.max() >= INTEGER_LIMIT or value.min() < -INTEGER_LIMIT):
        raise _error(program, v, "holds an integer of more than 32 bits")
    return int(value) if value.ndim == 0 else _owned(value, np.int64)


def _reals(program: Program, v: Variable, value: np.ndarray) -> object:
    if value.dtype.kind == "c":
        raise _error(program, v, "must be real, not complex")
    return np.float64(value) if value.ndim == 0 else _owned(value, np.float64)


def _owned(value: np.ndarray, dtype: Any) -> np.ndarray:
    """A copy, which stays as it is if what was given changes; of a large array of the type its memory, to be read."""
    if value.size < LARGE or value.dtype != dtype or not value.flags.c_contiguous or not value.flags.aligned:
        return np.array(value, dtype)
    view = value.view(np.ndarray)
    view.flags.writeable = False
    return view


def _complex(program: Program, v: Variable, value: np.ndarray) -> object:
    return np.complex128(value) if value.ndim == 0 else np.array(value, np.complex128)


def _convert_tuple(program: Program, v: Variable, given: Any, items: Sequence[Any], outer: int) -> object:
    """The items of a tuple that lies in `outer` dimensions of arrays of tuples, beside its own."""
    dims = outer + (v.type.count(",", 0, v.type.find("]")) + 1 if v.type.startswith("array[") else 0)
    columns = _columns(program, v, given, dims)
    out = []
    for i, (part, column, item) in enumerate(zip(v.items, columns, items)):
        named = replace(v, name=f"{v.name}.{i + 1}", type=part.type, items=part.items)
        if not isinstance(item, Item):
            out.append(_convert_tuple(program, named, column, item, dims))
            continue
        value = _convert(program, named, part.type, column, item.shape)
        check(program, named, value, item.constraint, **item.bounds)
        out.append(value)
    return tuple(out)


def _columns(program: Program, v: Variable, given: object, dims: int) -> list[object]:
    """The items of a tuple; of an array of tuples one nested list per item, or one array if it is given so."""
    given, count = listed(given), len(v.items)
    if dims and isinstance(given, tuple) and is_by_items(v.items, given):
        return list(given)
    if dims:
        if not isinstance(given, (list, tuple)):
            raise _error(program, v, f"must be an array of tuples, not {type(given).__name__}")
        rows = [_columns(program, v, g, dims - 1) for g in given]
        return [[row[i] for row in rows] for i in range(count)]
    if isinstance(given, Mapping):  # CmdStan's JSON: {"1": ..., "2": ...}
        by_number = {str(k): item for k, item in given.items()}
        missing = [str(i) for i in range(1, count + 1) if str(i) not in by_number]
        if missing or len(by_number) != count:
            raise _error(program, v, f"must have the items 1 to {count}, not {', '.join(by_number) or 'none'}")
        return [by_number[str(i + 1)] for i in range(count)]
    if not isinstance(given, (list, tuple)):
        raise _error(program, v, f"must be a tuple, not {type(given).__name__}")
    if len(given) != count:
        raise _error(program, v, f"must have {count} items, not {len(given)}")
    return list(given)


def check(program: Program, v: Variable, value: Any, constraint: str | None, **bounds: Any) -> None:
    """Raise StanDataError unless a value satisfies its declared constraint.

    Of a batch, a constraint by the number of all rows is taken as satisfied.
    """
    if is_traced(value) or bounds_all_rows(v.constraint):
        return
    try:
        check_bounds(v.name, np.shape(value), bounds)
    except StanIndexError as e:
        raise _error(program, v, f"does not fit its bounds: {e}") from None
    outside = reasons.of_bounds(v.name, value, bounds)
    if outside:
        raise _error(program, v, f"is out of bounds: {outside}")
    if constraint is not None:
        record = constraints.get(constraint)
        if not np.all(record.check(xp, value, *record.sizes_of(np.shape(value)))):
            reason = reasons.of_kind(record, value)
            raise _error(program, v, f"is not {record.description}{f' ({reason})' if reason else ''}")


def is_traced(value: object) -> bool:
    """Whether a value is known to JAX only while it traces."""
    if not uses_jax((value,)):
        return False
    from .arrays import named

    return not all(named("jax").is_concrete(x) for x in (value if isinstance(value, tuple) else (value,)))


def all_converted(variables: Iterable[Variable], made: Mapping[str, Any]) -> dict[str, Any]:
    """Values that a program computed, by name: those of some variables in the form of their declarations."""
    return {**made, **{v.name: as_converted(v, made[v.name]) for v in variables if v.name in made}}


def as_converted(v: Variable, value: object) -> Any:
    """A value that a program computed in the form of its declaration: reals are NumPy's, also where they are whole
    numbers, or those of JAX or PyTorch.
    """
    if v.items and isinstance(value, tuple):
        return tuple(map(as_converted, v.items, value))
    kind = _kind(v)
    numbers = (np.ndarray, np.generic)
    if kind == "i":
        return value
    if not isinstance(value, (int, float, complex, *numbers)):
        is_whole = any(k in str(getattr(value, "dtype", "")) for k in ("int", "bool"))
        return value * 1.0 if is_whole else value  # type: ignore[operator]
    if isinstance(value, numbers) and value.dtype.kind == kind:
        return value
    return np.asarray(value, np.float64 if kind == "f" else np.complex128)[()]


def _kind(v: Variable) -> str:
    """NumPy's letter for the kind of numbers that a variable holds."""
    return "i" if v.type.endswith("int") else "c" if "complex" in v.type else "f"


def is_converted(v: Variable, value: object) -> bool:
    """Whether a value has the form that `transformed_data` returns: an array of the variable's type, or a number."""
    if v.items and isinstance(value, tuple):
        return len(value) == len(v.items) and all(map(is_converted, v.items, value))
    kind = _kind(v)
    if type(value) is int:
        return kind == "i"
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind == kind and not isinstance(value, np.ma.MaskedArray)
    return hasattr(value, "dtype")


def _shown(shape: Sequence[int]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"
