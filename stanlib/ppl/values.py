"""What generated code does with values on any backend: declarations, literals, copies, tests of constraints."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import constraints as records
from ..arrays import differs_between_lanes, namespace
from ..constraints import reasons
from ..errors import StanDataError, StanFatalError, StanIndexError, StanReject, StanUnsupportedError
from ..lanes.calls import combine_events, lane_terms
from ..lanes.values import Lanes, agreed, first
from ..rejection import refuse, refuse_here

inf = np.inf
UNSET = None  # a variable that has no value yet and no size of its own
_LEAST_INT = -(2**31)


def _sizes(shape: Sequence[int]) -> tuple[int, ...]:
    """The sizes of a declaration; negative ones are none."""
    if all([type(n) is int and n >= 0 for n in shape]):  # a list: faster than a generator
        return tuple(shape)
    sizes = tuple(int(agreed(n)) for n in shape)
    if any(n < 0 for n in sizes):
        refuse(True, lambda: StanIndexError(f"a size is negative: {sizes}"))
    return tuple(max(n, 0) for n in sizes)


def unset(shape: Sequence[int], kind: str = "real") -> Any:
    """A declared variable without a value: NaN, for integers the least one.

    Raises:
        StanIndexError: if a size is negative.
    """
    sizes = _sizes(shape)
    if kind == "int":
        return np.full(sizes, _LEAST_INT, np.int64) if sizes else _LEAST_INT
    fill = complex(np.nan, np.nan) if kind == "complex" else np.nan
    return np.full(sizes, fill) if sizes else np.asarray(fill)[()]


def array(items: Sequence[Any]) -> Any:
    """`{a, b, ...}`: items along a new first axis."""
    if isinstance(items[0], tuple):
        return tuple(array([i[k] for i in items]) for k in range(len(items[0])))
    if differs_between_lanes(items):
        return combine_events(array, items)
    xp = namespace(items)
    shapes = {xp.shape(i) for i in items}
    if len(shapes) > 1:
        raise StanIndexError(f"the items of an array must be of one size, not {sorted(shapes)}")
    return xp.stack(list(xp.convert(items)))


def row(items: Sequence[object]) -> Any:
    """`[a, b, ...]`: a row vector, or a matrix of rows."""
    return array([float(i) if isinstance(i, int) else i for i in items]) if items else np.zeros(0)


def fit(value: Any, shape: Sequence[Any] | None, in_results: bool = False) -> Any:
    """The value assigned to a variable of declared sizes, which must be the value's.

    A tuple's sizes are those of its items; None are sizes that nobody has declared. The elements of an empty array
    have no sizes: those behind a size of 0 are the variable's. A local variable without elements takes a value of any
    size, as in Stan; one that stands in results does not: Stan fails as it writes them, or forgets the value.

    Raises:
        StanIndexError: naming both shapes.
    """
    if shape is None or _is_of_shape(value, shape):
        return value
    if isinstance(value, tuple):
        return tuple(fit(v, s, in_results) for v, s in zip(value, shape))
    declared = _sizes(shape)
    given = value.event if differs_between_lanes((value,)) else namespace((value,)).shape(value)
    if given == declared:
        return value
    if 0 in given and len(given) == len(declared) and given[: given.index(0) + 1] == declared[: given.index(0) + 1]:
        return namespace((value,)).reshape(value, declared)
    if 0 in declared and not in_results:
        return value
    raise StanIndexError(f"a value of shape {given} is assigned to a variable of shape {declared}")


def _is_of_shape(value: object, shape: Sequence[object]) -> bool:
    """Whether an array is of these sizes at first sight: lanes are looked at more closely."""
    return type(value) is not Lanes and all([type(n) is int for n in shape]) and getattr(value, "shape", None) == shape


def copy(value: Any) -> Any:
    """A value that can be changed in place without changing another variable."""
    if isinstance(value, tuple):
        return tuple(map(copy, value))
    if differs_between_lanes((value,)):
        return value.like(copy(value.data))
    if isinstance(value, np.ndarray):
        return np.array(value)
    return value.clone() if namespace((value,)).LIBRARY == "torch" else value


def replace_item(value: tuple[object, ...], number: int, item: object) -> tuple[Any, ...]:
    """A tuple with one item (from 1) replaced."""
    return (*value[: number - 1], item, *value[number:])


def real(value: Any) -> Any:
    """An array of integers as one of reals."""
    if differs_between_lanes((value,)):
        return value.like(namespace((value.data,)).real(value.data))
    return namespace((value,)).real(value)


def terms(function: Any, y: Any, *arguments: Any) -> Any:
    """A log distribution function of the library, one entry per observation instead of their sum."""
    method = function.name.rpartition("_")[2]
    if differs_between_lanes((y, *arguments)):
        return lane_terms(function, y, *arguments)
    if function.distribution is None or method not in function.distribution.methods:
        return function(y, *arguments)
    law = function.distribution
    law.check_sizes(namespace((y, *arguments)), function.name, (y, *arguments), law.texts[0])
    return law.checked_terms(method, (y, *arguments))


def satisfies(value: object, kind: str | None, bounds: dict[str, Any]) -> Any:
    """Whether a value satisfies a declared constraint; None if nothing is declared that can be tested."""
    xp = namespace((value, *bounds.values()))
    value, *limits = xp.convert([value, *bounds.values()])
    bounds = dict(zip(bounds, limits))
    if kind is not None:
        record = records.get(kind)
        return xp.all(record.check(xp, value, *record.sizes_of(xp.shape(value))))
    inside = None
    sides: dict[str, Callable[[Any], Any]] = {"lower": lambda b: value >= b, "upper": lambda b: value <= b}
    for name, holds in sides.items():
        if name in bounds:
            one = xp.all(xp.asarray(holds(bounds[name])))
            inside = one if inside is None else inside & one
    return inside


def require(name: str, value: object, kind: str | None = None, **bounds: object) -> None:
    """A transformed parameter must satisfy its declared constraint: a draw that does not is rejected.

    Raises:
        StanReject: where that does not depend on parameters.
    """
    inside = satisfies(value, kind, bounds)
    if inside is not None:
        refuse(inside == 0, lambda: violation(name, value, kind, bounds))


def verify(name: str, value: object, kind: str | None = None, **bounds: object) -> None:
    """Transformed data and generated quantities must satisfy their declared constraint.

    Raises:
        StanReject: naming the variable.
    """
    require(name, value, kind, **bounds)


def check_law(name: str, law: Any, shape: Sequence[int]) -> None:
    """A parameter's law must be that of one component, or of each by itself: Stan does not broadcast containers.

    Args:
        law: the backend's distribution, as the statement has it.
        shape: the parameter's.

    Raises:
        StanIndexError: naming both sizes.
    """
    own, declared = tuple(law.batch_shape), tuple(shape)[: len(shape) - law.event_dim]
    if own not in ((), declared):
        raise _other_sizes(name, declared, own)
    record = getattr(law, "record", None)
    if record is not None and record.argument_dims and record.event_shape is None:  # or it does not tell its size
        check_event(name, law, shape)


def check_event(name: str, law: Any, shape: Sequence[int]) -> None:
    """One observation of a parameter's law must have the sizes that the parameter is declared with.

    Args:
        law: the backend's distribution, for a variable of that shape.

    Raises:
        StanIndexError: naming both sizes.
    """
    event = tuple(law.event_shape)
    declared = tuple(shape)[len(shape) - len(event) :]
    if event != declared:
        raise _other_sizes(name, declared, event)


def _other_sizes(name: str, declared: Sequence[int], own: Sequence[int]) -> StanIndexError:
    shown = " and ".join(" x ".join(map(str, s)) for s in (declared, own))
    return StanIndexError(f"{name} and its law are of different sizes: {shown}")


def check_value(name: str, given: Sequence[int], declared: Sequence[int]) -> None:
    """The value of a parameter has the sizes that it is declared with, whoever gave it: Stan does not broadcast.

    Raises:
        StanDataError: naming both.
    """
    if tuple(given) != tuple(declared):
        raise StanDataError(f"{name} is declared with sizes {tuple(declared)}, its value has {tuple(given)}", name)


def check_computed(name: str, computed: object, given: object) -> None:
    """A transformed parameter is what the program computes: a value that a handler gives says the same.

    Draws hold transformed parameters beside parameters, rounded, perhaps, as files have them.

    Raises:
        StanUnsupportedError: for another value, which would stand in the trace and change nothing.
    """
    own, other = _known(computed), _known(given)
    if other is None or own is not None and _is_about(own, other):
        return
    told = f"{name} is a transformed parameter, which the program computes"
    raise StanUnsupportedError(f"{told}: no handler can give it another value; give its parameters theirs")


def _is_about(own: np.ndarray, other: np.ndarray) -> bool:
    """Whether a value is the other one but for rounding, where that is finite."""
    try:
        other = np.broadcast_to(other, np.shape(own))
    except ValueError:
        return False
    finite = np.isfinite(own)
    size = np.abs(own[finite]).max(initial=0.0)
    return bool(np.allclose(other[finite], own[finite], rtol=1e-3, atol=1e-3 * size))


def violation(name: str, value: object, kind: str | None, bounds: Mapping[str, object]) -> StanReject:
    """The error for a value that does not satisfy its declared constraint; it says why, as far as is known."""
    what = "within its bounds" if kind is None else records.get(kind).description
    given, limits = _known(value), {n: _known(b) for n, b in bounds.items()}
    reason = ""
    if given is not None and kind is not None:
        reason = reasons.of_kind(records.get(kind), given)
    elif given is not None and all(b is not None for b in limits.values()):
        reason = reasons.of_bounds(name, given, limits)
    return StanReject(f"{name} is {text(value)}, but must be {what}{f' ({reason})' if reason else ''}")


def _known(value: object) -> Any:
    """A value, in the first lane if it differs between lanes; None where it is not known yet."""
    one = first(value)
    return namespace((one,)).known(one)


def pieces(parts: Iterable[object]) -> Iterator[Any]:
    """What is printed, with the items of tuples in parentheses as parts of their own."""
    for part in parts:
        if not isinstance(part, tuple):
            yield part
            continue
        yield "("
        for i, item in enumerate(part):
            yield from (",", *pieces([item])) if i else pieces([item])
        yield ")"


def said(parts: Iterable[object]) -> str:
    """The text of a message."""
    return "".join(map(text, pieces(parts)))


def text(part: object) -> str:
    """A value as Stan prints it; a question mark where it is not known yet."""
    if isinstance(part, str):
        return part
    known = _known(part)
    return "?" if known is None else str(np.asarray(known).tolist()).replace(" ", "")


def reject(*parts: object) -> None:
    """`reject(...)`: the draw is rejected if parameters are the reason that it is reached.

    Raises:
        StanReject: with the program's message, else.
    """
    refuse_here(lambda: StanReject(said(parts)))


def fatal_error(*parts: object) -> None:
    """`fatal_error(...)`.

    Raises:
        StanFatalError: with the program's message.
    """
    raise StanFatalError(said(parts))
