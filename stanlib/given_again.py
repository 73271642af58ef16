"""Data that a model is called with: what `transformed_data` returned is taken as it is, all else is checked first.

Raw data in NumPy's arrays look like those that were converted, but may be of wrong sizes, outside their domains, or of
types whose numbers wrap around. Tensors that were checked once, and have not been written to since, aren't checked
anew: a guide and a model, called one after the other, take the same batch.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays.base import Real
from .data import INTEGER_LIMIT, Reader, is_traced
from .given import NoNumbersError, array_of, plain_of

if TYPE_CHECKING:
    from .metadata import Program

_NATIVE = {np.dtype(t) for t in (np.int64, np.float64, np.complex128)}
_KEPT = {"int32", "int64", "float32", "float64", "complex64", "complex128"}  # of the arrays of JAX and PyTorch
_made: dict[int, tuple[weakref.ref[Any], Call]] = {}


class Call:
    """One call of `transformed_data`, or check of what a model is given: the program's text, and the data by name.

    `converted` are those of these numbers that a check has changed.
    """

    def __init__(self, program: Program, values: Mapping[str, object], converted: Mapping[str, object]):
        self.source, self.converted = program.source, dict(converted)
        found = {n: tuple(_arrays(v)) for n, v in values.items()}
        self.numbers = {n: values[n] for n, arrays in found.items() if not arrays}
        self.arrays = {n: tuple((weakref.ref(a), _version(a)) for a in arrays) for n, arrays in found.items() if arrays}

    def has(self, name: str, value: object) -> bool:
        """Whether this is what the data of that name were, and nobody has written to them since."""
        held = self.arrays.get(name)
        if held is None:
            return name in self.numbers and (value is self.numbers[name] or _is_same(value, self.numbers[name]))
        if len(held) == 1 and not isinstance(value, tuple):
            return held[0][0]() is value and held[0][1] == _version(value)
        arrays = tuple(_arrays(value))
        return len(arrays) == len(held) and all(r() is a and v == _version(a) for (r, v), a in zip(held, arrays))


def remember(program: Program, values: Mapping[str, object], converted: Mapping[str, object] = {}) -> None:
    """Note what `transformed_data` returned, or what was checked as it would be."""
    call = Call(program, values, converted)
    for array in (a for v in values.values() for a in _arrays(v)):
        _made[id(array)] = weakref.ref(array, partial(_forget, id(array))), call


def _version(array: Any) -> int:
    """How often a tensor was written to, which PyTorch counts but for those of its inference mode; of others 0."""
    return int(array._version) if hasattr(type(array), "_version") and not array.is_inference() else 0


def _forget(key: int, _: object) -> None:
    _made.pop(key, None)


def remembered(program: Program, values: Mapping[str, object]) -> dict[str, Any] | None:
    """The data as a model takes them, if they all come from one call for this program."""
    call = _call_of(values)
    if call is None or call.source != program.source or not all([call.has(n, v) for n, v in values.items()]):
        return None
    return {**values, **call.converted}


def _call_of(values: Mapping[str, object]) -> Call | None:
    """The latest call that had the first array that any had."""
    for value in values.values():
        array = next(_arrays(value), None) if isinstance(value, tuple) else value
        found = _made.get(id(array))
        if found is not None and found[0]() is array:
            return found[1]
    return None


def _is_same(one: object, other: object) -> bool:
    return type(one) is type(other) and bool(one == other or one != one and other != other)


def _arrays(value: object) -> Iterator[object]:
    """The arrays of NumPy, JAX and PyTorch in a value, of which each is known by its identity."""
    if isinstance(value, tuple):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, np.ndarray) or _is_foreign(value):
        yield value


def _is_foreign(value: object) -> bool:
    return hasattr(value, "device") and not isinstance(value, (np.ndarray, np.generic))


def checked(program: Program, run: Callable[..., object], given: dict[str, Any]) -> dict[str, Any]:
    """Data in the form of converted ones, checked as `transformed_data` checks them, and converted where they need it.

    Arrays of JAX and PyTorch stay what they are; so do all data if JAX traces some of them. Whole numbers in them may
    be reals where integers are declared; those of PyTorch, whose networks take nothing else, stay reals.

    Args:
        run: the generated function that reads the data.
        given: data and transformed data.

    Raises:
        StanDataError: for data that are not as declared.
    """
    if not program.data or any(map(is_traced, given.values())):
        return given
    reader = _AllData(program, given)
    try:
        run(reader)
    except _Complete:
        pass
    changed = {n: v for n, v in reader.read.items() if v is not given[n] and not _is_kept(given[n], v)}
    arrays = [a for v in (*given.values(), *changed.values()) for a in _arrays(v)]
    if all(_is_counted(a) for a in arrays) and not any(list(_arrays(given[n])) for n in changed):
        remember(program, given, changed)
    return given | changed


def _is_counted(array: object) -> bool:
    """Whether writing to an array is noticed, or impossible: not of NumPy's."""
    return _is_foreign(array) and not (hasattr(array, "is_inference") and array.is_inference())


def _is_kept(value: object, read: object) -> bool:
    """Whether data need not be converted to what was read of them; of JAX's reals that are integers they must be."""
    if isinstance(value, np.ndarray):
        return value.dtype in _NATIVE and value.dtype.isnative
    is_whole = isinstance(read, (int, np.ndarray)) and np.asarray(read).dtype.kind == "i"
    if is_whole and _kind(value).startswith("float") and not hasattr(value, "detach"):
        return False
    return _is_foreign(value) and _kind(value) in _KEPT


def _kind(value: object) -> str:
    """The name of the type of the numbers in an array."""
    return str(getattr(value, "dtype", "")).removeprefix("torch.")


def _counted(value: object) -> object:
    """Whole numbers in arrays of reals of JAX and PyTorch as integers: batches of pixels that networks take too."""
    if not _is_foreign(value) or not _kind(value).startswith("float"):
        return value
    numbers = array_of(value)
    is_whole = bool((np.isfinite(numbers) & (np.abs(numbers) < 2**31) & (numbers == np.floor(numbers))).all())
    return numbers.astype(np.int64) if is_whole else value


def _as_declared(base: str, given: Any, shape: tuple[int, ...], bounds: Mapping[str, object]) -> Any:
    """Numbers of a type and shape within bounds, as they are read; None for others, and where more has to be seen."""
    if type(given) is int:
        return given if base == "int" and not shape and _are_within(given, given, base, bounds) else None
    are_foreign = _is_foreign(given)
    if not shape or 0 in shape or not (are_foreign or type(given) is np.ndarray) or tuple(given.shape) != shape:
        return None
    try:
        array = _native(base, array_of(plain_of(given)), are_foreign)
    except NoNumbersError:
        return None
    return array if array is not None and _are_within(array.min(), array.max(), base, bounds) else None


def _native(base: str, array: np.ndarray, are_whole: bool) -> np.ndarray | None:
    """An array of Stan's reals or integers; `are_whole` tells whether reals may be integers."""
    kind = array.dtype.kind
    if base != "int":
        return np.asarray(array, np.float64) if kind == "f" and not base.startswith("complex") else None
    if kind == "i":
        return np.asarray(array, np.int64)
    with np.errstate(invalid="ignore"):
        whole = array.astype(np.int64) if kind == "f" and are_whole else None
    return whole if whole is not None and (whole == array).all() else None


def _are_within(least: Real, most: Real, base: str, bounds: Mapping[str, Any]) -> bool:
    """Whether numbers from the least to the most are of a type, and within bounds that are numbers themselves."""
    if base == "int" and not (-INTEGER_LIMIT <= least and most < INTEGER_LIMIT):
        return False
    if not all(isinstance(b, (int, float)) for b in bounds.values()):
        return False
    return bool(bounds.get("lower", least) <= least and most <= bounds.get("upper", most)) or not bounds


class _Complete(BaseException):
    """All data were read: transformed data need not be computed."""


class _AllData(Reader):
    """Checks what is as declared at first sight without a copy of it, and all else as data of users are."""

    def __init__(self, program: Program, given: Mapping[str, object]):
        self.as_given = dict(given)
        super().__init__(program, self.as_given)
        self.read: dict[str, Any] = {}

    def __call__(self, name: str, shape: Sequence[int] = (), constraint: str | None = None, **bounds: Real) -> Any:
        v, given = self.variables[name], self.given[name]
        base = v.type.rpartition(" ")[2]
        value = _as_declared(base, given, tuple(map(int, shape)), bounds) if constraint is None else None
        if value is None:
            self.as_given[name] = _counted(given) if base == "int" else given
            value = super().__call__(name, shape, constraint, **bounds)
        return self._noted(name, value)

    def tuple(self, name: str, *items: object) -> Any:
        return self._noted(name, super().tuple(name, *items))

    def _noted(self, name: str, value: object) -> object:
        self.read[name] = value
        if len(self.read) == len(self.variables):
            raise _Complete
        return value
