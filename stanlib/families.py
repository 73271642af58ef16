"""The sets and type variables of library signatures.

The dimensions that stanc gives its vectorised functions: up to seven array dimensions around int, real, vector,
row_vector and matrix. Source: Stan Functions Reference, "Vectorization", and the signatures that stanc lists.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator

from .types import (
    COMPLEX,
    COMPLEX_MATRIX,
    COMPLEX_ROW_VECTOR,
    COMPLEX_VECTOR,
    INT,
    MATRIX,
    REAL,
    ROW_VECTOR,
    TO_COMPLEX,
    VECTOR,
    Type,
    array,
    dimensions,
    unwind,
)  # fmt: skip

REAL_BASES = (REAL, VECTOR, ROW_VECTOR, MATRIX)
COMPLEX_BASES = (COMPLEX, COMPLEX_VECTOR, COMPLEX_ROW_VECTOR, COMPLEX_MATRIX)
BASES = (INT, *REAL_BASES, *COMPLEX_BASES)

_REALS = (REAL, array(REAL, 1), VECTOR, ROW_VECTOR)
_INTS = (INT, array(INT, 1))
_VECTORS = (VECTOR, array(VECTOR, 1), ROW_VECTOR, array(ROW_VECTOR, 1))

SETS: dict[str, tuple[Type, ...]] = {
    "reals": _REALS,
    "ints": _INTS,
    "vectors": _VECTORS,
    "numbers": (*_REALS, *_INTS),
}
RNG_SETS = SETS | {"reals": (*_REALS, *_INTS)}  # an rng's arguments needn't be promoted
# What `real_or_array` and `int_or_array` mean as the result of an rng: an array as soon as an argument is a container.
RNG_RESULTS = {"real_or_array": REAL, "int_or_array": INT}


def _deep(bases: tuple[Type, ...], least: int = 0, most: int = 7) -> list[Type]:
    return [array(b, d) for b in bases for d in range(least, most + 1)]


def _binary(scalars: tuple[Type, ...], bases: tuple[Type, ...]) -> list[tuple[Type, ...]]:
    """Two scalars, a container with a scalar on either side, or two containers of one type."""
    containers = _deep(bases)
    out: list[tuple[Type, ...]] = [(a, b) for a in scalars for b in scalars]
    out += [(c, c) for c in containers]
    out += [(c, s) for c in containers for s in scalars]
    out += [(s, c) for c in containers for s in scalars]
    return out


def _int_beside_real() -> list[tuple[Type, ...]]:
    """(int, real) pairs: either one an int beside anything, or an integer array of the container's shape."""
    containers = _deep((array(REAL, 1), VECTOR, ROW_VECTOR, MATRIX))
    out: list[tuple[Type, ...]] = [(array(INT, d), REAL) for d in range(8)]
    out += [(INT, c) for c in containers]
    out += [(array(INT, dimensions(c)), c) for c in containers]
    return out


def _int_pairs() -> list[tuple[Type, ...]]:
    arrays = _deep((INT,), 1)
    return [(INT, INT), *((a, INT) for a in arrays), *((INT, a) for a in arrays), *((a, a) for a in arrays)]


_VECTOR_TYPES = (VECTOR, ROW_VECTOR, COMPLEX_VECTOR, COMPLEX_ROW_VECTOR)
_REAL_CONTAINERS = (array(REAL, 1), VECTOR, ROW_VECTOR, MATRIX)
_NUMBER_CONTAINERS = (array(INT, 1), *_REAL_CONTAINERS)
_COMPLEX_CONTAINERS = (array(COMPLEX, 1), COMPLEX_VECTOR, COMPLEX_ROW_VECTOR, COMPLEX_MATRIX)


def _bounded(count: int) -> list[tuple[Type, ...]]:
    """A value and `count` bounds, each a scalar or of the value's own type (lower_bound_constrain and its like)."""
    out: list[tuple[Type, ...]] = [(REAL,) * (count + 1)]
    for c in _deep(_REAL_CONTAINERS):
        out += [(c, *bounds) for bounds in _choices(c, count)]
    return out


def _choices(c: Type, count: int) -> list[tuple[Type, ...]]:
    return [()] if count == 0 else [(b, *rest) for b in (c, REAL) for rest in _choices(c, count - 1)]


def _fused() -> list[tuple[Type, ...]]:
    out: list[tuple[Type, ...]] = [(REAL, REAL, REAL)]
    for c in (VECTOR, ROW_VECTOR, MATRIX):
        out += [(x, *rest) for x in (c, REAL) for rest in _choices(c, 2) if c in (x, *rest)]
    return out


# Type variables that go together, and every combination of types they can take. T: elementwise over numbers;
# C: over complex numbers; E: any type but tuples; A: an array; V, M: arrays of vectors or matrices. S: what has
# segments; P: what rep_array repeats; D, DV, DR: what has dimensions, in vectors and row vectors apart; G: what has
# elements to count; K: containers of reals; I, Q: integers and reals in arrays.
GROUPS: dict[tuple[str, ...], Callable[[], list[tuple[Type, ...]]]] = {
    ("T",): lambda: [(t,) for t in _deep((INT, *REAL_BASES))],
    ("C",): lambda: [(t,) for t in _deep(COMPLEX_BASES)],
    ("E",): lambda: [(t,) for t in _deep(BASES)],
    ("A",): lambda: [(t,) for t in _deep(BASES, 1)],
    ("V",): lambda: [(t,) for t in _deep((VECTOR,))],
    ("M",): lambda: [(t,) for t in _deep((MATRIX,))],
    ("I",): lambda: [(t,) for t in _deep((INT,))],
    ("Q",): lambda: [(t,) for t in _deep((REAL,))],
    ("S",): lambda: [*((v,) for v in _VECTOR_TYPES), *((t,) for t in _deep(BASES, 1, 3))],
    ("P",): lambda: [(t,) for t in _deep(BASES, 0, 2)],
    ("D",): lambda: [(t,) for t in (*_deep((INT, REAL, COMPLEX, MATRIX), 0, 8), *_deep((COMPLEX_MATRIX,), 1, 8))],
    ("DV",): lambda: [(t,) for t in (VECTOR, *_deep((VECTOR, COMPLEX_VECTOR), 1, 8))],
    ("DR",): lambda: [(t,) for t in (ROW_VECTOR, *_deep((ROW_VECTOR, COMPLEX_ROW_VECTOR), 1, 8))],
    ("G",): lambda: [*((t,) for t in (*_VECTOR_TYPES, MATRIX, COMPLEX_MATRIX)), *((t,) for t in _deep(BASES, 1, 9))],
    ("K",): lambda: [(t,) for t in _deep(_REAL_CONTAINERS)],
    ("T1", "T2"): lambda: _binary((INT, REAL), _NUMBER_CONTAINERS),
    ("X1", "X2"): lambda: _binary((REAL,), _REAL_CONTAINERS),
    ("C1", "C2"): lambda: _binary((COMPLEX,), _COMPLEX_CONTAINERS),
    ("I1", "I2"): _int_pairs,
    ("N", "X"): _int_beside_real,
    ("B", "B1"): lambda: _bounded(1),
    ("B", "B1", "B2"): lambda: _bounded(2),
    ("F1", "F2", "F3"): _fused,
}
VARIABLE_NAMES = {name for group in GROUPS for name in group}
# The variables of functions that work component by component, on containers of one type and scalars beside them.
COMPONENTWISE = {"T", "C", "T1", "T2", "X1", "X2", "C1", "C2", "I1", "I2", "N", "X", "F1", "F2", "F3"}


def _to_complex(t: Type) -> Type:
    element, dims = unwind(t)
    return array(TO_COMPLEX[element], dims)


def _to_real(t: Type) -> Type:
    element, dims = unwind(t)
    return array({c: r for r, c in TO_COMPLEX.items() if r != INT}[element], dims)


def _swap(a: Type, b: Type) -> Callable[[Type], Type]:
    def change(t: Type) -> Type:
        element, dims = unwind(t)
        return array(b if element == a else element, dims)

    return change


# Results that follow from a variable: what complex containers hold as reals, the matrix that a vector packs, ...
DERIVED: dict[str, tuple[str, Callable[[Type], Type]]] = {
    "RealOfC": ("C", _to_real),
    "ComplexOfK": ("K", _to_complex),
    "IntsOfQ": ("Q", _swap(REAL, INT)),
    "MatrixOfV": ("V", _swap(VECTOR, MATRIX)),
    "VectorOfM": ("M", _swap(MATRIX, VECTOR)),
}


def bindings(variables: tuple[str, ...]) -> Iterator[dict[str, Type]]:
    """Every assignment of types to the type variables of one signature."""
    if not variables:
        yield {}
        return
    for values in GROUPS[variables]():
        yield dict(zip(variables, values))


def largest(types: tuple[Type, ...]) -> Type:
    """The container among the arguments of an elementwise function: the one with the most axes."""
    best = types[0]
    for t in types[1:]:
        if dimensions(t) > dimensions(best) or dimensions(t) == dimensions(best) and unwind(best)[0] == INT:
            best = t
    return best
