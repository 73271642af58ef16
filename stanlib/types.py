"""Stan's types without sizes, as the type checker and the signatures of library functions use them.

Source: Stan Reference Manual, "Data Types and Declarations". All types are frozen and compare by value.
"""
from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Union

from .dataclass import dataclass

# Whether a value may depend on parameters (True) or on data alone (False); for a tuple, one entry per item.
# stanc calls it the autodiff level.
Level = Union[bool, "tuple[Level, ...]"]


class Type:
    """Base class of all types."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Primitive(Type):
    """A type that is no array, tuple or function: int, real, complex, vectors and matrices, void."""

    name: str

    def __str__(self) -> str:
        return self.name


INT = Primitive("int")
REAL = Primitive("real")
COMPLEX = Primitive("complex")
VECTOR = Primitive("vector")
ROW_VECTOR = Primitive("row_vector")
MATRIX = Primitive("matrix")
COMPLEX_VECTOR = Primitive("complex_vector")
COMPLEX_ROW_VECTOR = Primitive("complex_row_vector")
COMPLEX_MATRIX = Primitive("complex_matrix")
VOID = Primitive("void")

PRIMITIVES: dict[str, Primitive] = {
    t.name: t
    for t in (
        INT, REAL, COMPLEX, VECTOR, ROW_VECTOR, MATRIX,
        COMPLEX_VECTOR, COMPLEX_ROW_VECTOR, COMPLEX_MATRIX,
    )
}  # fmt: skip
MATRIX_DIMS: dict[Type, int] = {
    VECTOR: 1, ROW_VECTOR: 1, MATRIX: 2, COMPLEX_VECTOR: 1, COMPLEX_ROW_VECTOR: 1, COMPLEX_MATRIX: 2,
}  # fmt: skip
TO_COMPLEX: dict[Type, Type] = {
    REAL: COMPLEX, INT: COMPLEX, VECTOR: COMPLEX_VECTOR, ROW_VECTOR: COMPLEX_ROW_VECTOR, MATRIX: COMPLEX_MATRIX,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Array(Type):
    """`array[,...] element` with `dims` array dimensions; `element` is never itself an array."""

    element: Type
    dims: int

    def __str__(self) -> str:
        return f"array[{',' * (self.dims - 1)}] {self.element}"


@dataclass(frozen=True, slots=True)
class Tuple(Type):
    """`tuple(...)` of at least one item."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        trailing = ", " if len(self.items) == 1 else ""
        return f"tuple({', '.join(map(str, self.items))}{trailing})"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function type; `data_only` is Stan's qualifier `data`."""

    type: Type
    data_only: bool = False

    def __str__(self) -> str:
        qualifier = "data " if self.data_only and not isinstance(self.type, Function) else ""
        return f"{qualifier}{self.type}"


@dataclass(frozen=True, slots=True)
class Function(Type):
    """The type of a function; `suffix` is what its name says of it: "", "lpdf", "lpmf", "lp", "rng", "jacobian"."""

    parameters: tuple[Parameter, ...]
    result: Type
    suffix: str = ""

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))}) => {self.result}"


def array(element: Type, dims: int) -> Type:
    """`element` with `dims` more array dimensions in front (none when dims is 0)."""
    if dims == 0:
        return element
    if isinstance(element, Array):
        return Array(element.element, element.dims + dims)
    return Array(element, dims)


def unwind(t: Type) -> tuple[Type, int]:
    """The element type and the number of array dimensions of a type."""
    return (t.element, t.dims) if isinstance(t, Array) else (t, 0)


def dimensions(t: Type) -> int:
    """How many axes the array that holds a value of this type has."""
    element, dims = unwind(t)
    return dims + (MATRIX_DIMS.get(element, 0) if isinstance(element, Primitive) else 0)


def scalar_of(t: Type) -> Type:
    """int, real or complex: what the innermost components of a value of this type are (a tuple stays itself)."""
    element, _ = unwind(t)
    if element in (VECTOR, ROW_VECTOR, MATRIX):
        return REAL
    if element in (COMPLEX_VECTOR, COMPLEX_ROW_VECTOR, COMPLEX_MATRIX):
        return COMPLEX
    return element


def is_discrete(t: Type) -> bool:
    """Whether a value holds integers only."""
    element, _ = unwind(t)
    if isinstance(element, Tuple):
        return all(map(is_discrete, element.items))
    return element == INT


def contains_int(t: Type) -> bool:
    """Whether a value holds any integer."""
    element, _ = unwind(t)
    if isinstance(element, Tuple):
        return any(map(contains_int, element.items))
    return element == INT


def is_complex(t: Type) -> bool:
    """Whether the components of a value are complex numbers."""
    return scalar_of(t) == COMPLEX


def is_scalar(t: Type) -> bool:
    """Whether the type is int or real (complex doesn't count, as in stanc)."""
    return t in (INT, REAL)


def ints_to_real(t: Type) -> Type:
    """The same container with real components where it held integers."""
    element, dims = unwind(t)
    return array(REAL, dims) if element == INT else t


def common_type(a: Type, b: Type) -> Type | None:
    """The least type to which values of both types can be promoted, or None."""
    if a == b:
        return a
    if isinstance(a, Array) and isinstance(b, Array):
        if a.dims != b.dims:
            return None
        element = common_type(a.element, b.element)
        return None if element is None else Array(element, a.dims)
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return _common_tuple(a, b)
    if {a, b} == {INT, REAL}:
        return REAL
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Primitive) and TO_COMPLEX.get(x) == y:
            return y
    return None


def _common_tuple(a: Tuple, b: Tuple) -> Type | None:
    if len(a.items) != len(b.items):
        return None
    items = [common_type(x, y) for x, y in zip(a.items, b.items)]
    return Tuple(tuple(i for i in items if i is not None)) if None not in items else None


@lru_cache(maxsize=8192)
def promotion_cost(to: Type, given: Type) -> int | None:
    """How many promotions turn a value of type `given` into one of type `to`; None if nothing does.

    int to real and real to complex count one each, int to complex two: the overload with the least sum wins.
    """
    if to == given:
        return 0
    if to == REAL and given == INT:
        return 1
    if to == COMPLEX and given == INT:
        return 2
    if isinstance(given, Primitive) and TO_COMPLEX.get(given) == to:
        return 1
    if isinstance(to, Array) and isinstance(given, Array) and to.dims == given.dims:
        return promotion_cost(to.element, given.element)
    if isinstance(to, Tuple) and isinstance(given, Tuple) and len(to.items) == len(given.items):
        costs = [promotion_cost(t, g) for t, g in zip(to.items, given.items)]
        return sum(c for c in costs if c is not None) if None not in costs else None
    return None


def join_levels(levels: Iterable[Level]) -> Level:
    """The least level above all: a value depends on parameters when any part of it does."""
    out: Level = False
    for level in levels:
        out = _join(out, level)
    return out


def _join(a: Level, b: Level) -> Level:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(_join(x, y) for x, y in zip(a, b))
    if isinstance(a, tuple) or isinstance(b, tuple):
        items, other = (a, b) if isinstance(a, tuple) else (b, a)
        return tuple(_join(x, other) for x in items)  # type: ignore[union-attr]
    return a or b


def any_level(level: Level) -> bool:
    """Whether any part of a value may depend on parameters."""
    return any(map(any_level, level)) if isinstance(level, tuple) else level


def level_for(t: Type, level: Level) -> Level:
    """`level` in the form that the type asks for: one entry per item for a tuple."""
    element, _ = unwind(t)
    if not isinstance(element, Tuple):
        return any_level(level)
    parts: tuple[Any, ...] = level if isinstance(level, tuple) else (level,) * len(element.items)
    return tuple(level_for(i, p) for i, p in zip(element.items, parts))
