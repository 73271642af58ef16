"""A call of every function of the library, at arguments that differ between the iterations of a loop."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stanlib import registry
from stanlib.errors import StanError
from stanlib.signatures import Overload
from stanlib.types import COMPLEX, INT, REAL, Tuple, Type, array, dimensions, is_scalar, scalar_of

LANES = 3
KINDS = {INT: "iub", REAL: "f", COMPLEX: "c"}
LAX_KINDS = {INT: "iub", REAL: "iubf", COMPLEX: "iubfc"}
OPTIONS = {"generate_laplace_options", "laplace_options_from"}  # of functions that take functions
BY_VALUE = {"csr_extract", "csr_extract_u", "csr_extract_v", "csr_extract_w"}  # values decide the shape of the result
DENSITIES = ("lpdf", "lpmf", "cdf", "lcdf", "lccdf")

Arguments = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Call:
    """A call of one overload at the arguments of a few iterations, and what the library gives for each of them.

    `item` is the item of the result that is looked at, from 1, 0 for the whole. `by_itself` is the position of an
    argument that may change while the others stay as in the first iteration, and the results then.
    """

    name: str
    function: registry.Function
    types: tuple[Type, ...]
    data_only: tuple[bool, ...]
    result: Type
    lanes: tuple[Arguments, ...]
    values: tuple[Any, ...]
    item: int = 0
    by_itself: tuple[int, tuple[Any, ...]] | None = None

    @property
    def of_vectors(self) -> bool:
        """Whether it is the second call of a function of numbers, that of vectors."""
        return self.name != self.function.symbol and not self.item

    def text(self, arguments: Sequence[str]) -> str:
        """The call in Stan."""
        f = self.function
        if f.distribution is not None and f.method in DENSITIES:
            call = f"{f.name}({arguments[0]} | {', '.join(arguments[1:])})"
        else:
            call = f"{f.name}({', '.join(arguments)})"
        return f"{call}.{self.item}" if self.item else call


def functions() -> list[registry.Function]:
    """The records that are functions of values alone, without random numbers, and whose names can stand in programs."""
    registry.load()
    named = [f for f in registry.SYMBOLS.values() if f.is_named and f.symbol not in OPTIONS]
    return [f for f in named if not f.raw and not f.random]


def calls(f: registry.Function) -> list[Call]:
    """The calls of a record; of one that takes scalars component by component, also one of vectors.

    Raises:
        ValueError: if it has no example that fits one of its signatures.
    """
    lanes = _lanes(f, _examples(f))
    made = _of_types(f.symbol, f, lanes)
    vectors = _vectors(f, made[0].types, lanes)
    return made + (_of_types(f"{f.symbol} of vectors", f, vectors) if vectors else [])


def value(f: registry.Function, arguments: Arguments) -> Any:
    """What the library gives in NumPy."""
    with np.errstate(all="ignore"):
        result = f(*arguments)
    return result[0] if f.effect else result


# --- arguments -------------------------------------------------------------------------------------------------------


def _examples(f: registry.Function) -> list[Arguments]:
    examples = [tuple(np.array(a) if isinstance(a, list) else a for a in e) for e in f.examples]
    if not examples and not f.signatures[0].arguments:
        examples = [()]
    usable = [e for e in examples if overload_of(f, e) is not None]
    if not usable:
        raise ValueError(f"{f.symbol} has no example that fits one of its signatures")
    return sorted(usable, key=lambda e: not _is_finite(value(f, e)))


def _lanes(f: registry.Function, examples: Sequence[Arguments]) -> tuple[Arguments, ...]:
    """Arguments that give different values, as far as the function takes others of the first one's shapes."""
    first = examples[0]
    found, values = [first], [value(f, first)]
    for candidate in itertools.chain(_changed(first), examples[1:]):
        got = _value_like(f, candidate, first, values[0])
        if got is not None and not any(_same(got, v) for v in values):
            found.append(candidate)
            values.append(got)
        if len(found) == LANES:
            break
    return tuple(found[i % len(found)] for i in range(LANES))


def _changed(first: Arguments) -> Iterator[Arguments]:
    """The arguments with all of them changed, then with one of them: scaled, turned around, or moved."""
    for change in (lambda x: _scaled(x, 0.93), lambda x: _scaled(x, 1.04), _turned, lambda x: _scaled(x, 1j), _moved):
        yield tuple(map(change, first))
        for k in range(len(first)):
            yield (*first[:k], change(first[k]), *first[k + 1 :])


def _scaled(x: Any, factor: complex) -> Any:
    return x * factor if np.asarray(x).dtype.kind in ("c" if factor == 1j else "fc") else x


def _turned(x: Any) -> Any:
    return x[::-1].copy() if np.ndim(x) else x


def _moved(x: Any) -> Any:
    return x + 2 if np.asarray(x).dtype.kind in "if" else x


def _value_like(f: registry.Function, arguments: Arguments, first: Arguments, wanted: Any) -> Any:
    """The value if the function takes the arguments and they are of the first one's shapes, as is the value."""
    if [np.shape(a) for a in arguments] != [np.shape(a) for a in first]:
        return None
    if [np.asarray(a).dtype.kind for a in arguments] != [np.asarray(a).dtype.kind for a in first]:
        return None
    if any(_is_hermitian(a) and not _is_hermitian(b) for a, b in zip(first, arguments)):
        return None
    got = value_or_none(lambda: value(f, arguments))
    if got is None:
        return None
    return got if _shape(got) == _shape(wanted) and _is_finite(got) >= _is_finite(wanted) else None


def value_or_none(call: Callable[[], Any]) -> Any:
    """What a call gives, None for arguments outside of its domain."""
    try:
        return call()
    except (StanError, ArithmeticError, ValueError):
        return None


def _vectors(f: registry.Function, types: Sequence[Type], lanes: Sequence[Arguments]) -> tuple[Arguments, ...]:
    """Of a function of scalars the arguments of two iterations as vectors, if it has such an overload."""
    if not types or not all(map(is_scalar, types)) or not (f.is_componentwise or f.reduction):
        return ()
    pairs = tuple(
        tuple(np.array([lanes[i][k], lanes[(i + 1) % LANES][k]]) for k in range(len(types))) for i in range(LANES)
    )
    return pairs if overload_of(f, pairs[0]) is not None else ()


# --- types -----------------------------------------------------------------------------------------------------------


def _of_types(name: str, f: registry.Function, lanes: tuple[Arguments, ...]) -> list[Call]:
    """The calls at some arguments, one for every item of a result that is a tuple."""
    overload = overload_of(f, lanes[0])
    assert overload is not None
    values = [value(f, a) for a in lanes]
    others = _one_changes(f, lanes, values[0])
    flags = tuple(p.data_only or f.symbol in BY_VALUE for p in overload.parameters)
    if not isinstance(overload.result, Tuple):
        return [Call(name, f, overload.types, flags, overload.result, lanes, tuple(values), by_itself=others)]
    return [
        Call(
            f"{name} {i}", f, overload.types, flags, t, lanes, tuple(v[i - 1] for v in values), i,
            None if others is None else (others[0], tuple(v[i - 1] for v in others[1])),
        )
        for i, t in enumerate(overload.result.items, 1)
    ]  # fmt: skip


def _one_changes(f: registry.Function, lanes: Sequence[Arguments], wanted: Any) -> tuple[int, tuple[Any, ...]] | None:
    first = lanes[0]
    for k in range(len(first)):
        got = [_value_like(f, (*first[:k], a[k], *first[k + 1 :]), first, wanted) for a in lanes]
        if all(g is not None for g in got) and not all(_same(g, wanted) for g in got):
            return k, tuple(got)
    return None


def overload_of(f: registry.Function, arguments: Arguments) -> Overload | None:
    """The first overload that takes values like these: integers as such if it can be."""
    for kinds in (KINDS, LAX_KINDS):
        for signature in f.signatures:
            if len(signature.arguments) == len(arguments):
                for o in signature.overloads:
                    if all(_fits(a, t, kinds) for a, t in zip(arguments, o.types)):
                        return o
    return None


def _fits(argument: Any, t: Type, kinds: dict[Type, str]) -> bool:
    if isinstance(t, Tuple) or isinstance(argument, tuple):
        return isinstance(t, Tuple) and isinstance(argument, tuple)
    return dimensions(t) == np.ndim(argument) and np.asarray(argument).dtype.kind in kinds.get(scalar_of(t), "")


def lifted(t: Type) -> Type:
    """The type of an array of one value per iteration."""
    return array(t, 1)


# --- values ----------------------------------------------------------------------------------------------------------


def _shape(x: Any) -> Any:
    return tuple(map(_shape, x)) if isinstance(x, tuple) else np.shape(x)


def _is_hermitian(x: Any) -> bool:
    return np.ndim(x) == 2 and np.array_equal(x, np.conj(np.transpose(x)))


def _is_finite(x: Any) -> bool:
    return all(map(_is_finite, x)) if isinstance(x, tuple) else bool(np.isfinite(x).all())


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return all(map(_same, a, b))
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc")
