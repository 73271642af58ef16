"""Functions passed as arguments: what their parameters are given by the call that they are passed in."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from stanlib.types import is_discrete

from ..ir import gprob

IsDynamic = Callable[[object], bool]
Flags = tuple[bool, ...]


def dynamic_parameters(call: gprob.Apply, position: int, is_dynamic: IsDynamic) -> Flags:
    """Whether each parameter of the function at this position of a call of a higher-order function is dynamic.

    What the higher-order function itself provides (times, states) is dynamic where anything in the call is.
    """
    parameters = getattr(call.arguments[position].type, "parameters", ())
    given = _given(call, position)
    whole = is_dynamic(call) or _kind(call) == "laplace"  # whose derivatives are always traced
    own = tuple(whole and not is_discrete(p.type) for p in parameters[: len(parameters) - len(given)])
    return (*own, *(e is not None and is_dynamic(e) for e in given))


def deciding(call: gprob.Apply, measured_by: Callable[[str], frozenset[int]]) -> Iterator[gprob.Expr]:
    """The arguments of a call that decide shapes in the functions that they are passed on to; see `Functions`."""
    for position, argument in enumerate(call.arguments):
        if isinstance(argument, gprob.FunctionValue) and isinstance(argument.function, str):
            given = _given(call, position)
            count = len(getattr(argument.type, "parameters", ()))
            for e in (given[i - count] for i in measured_by(argument.function) if i >= count - len(given)):
                if e is not None:
                    yield e


def _kind(call: gprob.Apply) -> str | None:
    """By which rules a call passes arguments on to a function; None for calls with signatures of their own."""
    rules = call.function.variadic
    return None if rules is None else rules.kind


def _given(call: gprob.Apply, position: int) -> Sequence[gprob.Expr | None]:
    """What the last parameters of a function are given by a call, None for where a slice begins and ends."""
    if _kind(call) == "reduce_sum":
        _, sliced, _, *further = call.arguments
        return (sliced, None, None, *further)
    if _kind(call) == "laplace":
        return _items(call.arguments[position + 1])
    return call.arguments[slice(*call.function.passes)]


def _items(forwarded: gprob.Expr) -> tuple[gprob.Expr, ...]:
    """The items of a tuple of arguments; of one that is a variable, the whole for each."""
    while isinstance(forwarded, gprob.Promote):
        forwarded = forwarded.value
    if isinstance(forwarded, gprob.MakeTuple):
        return tuple(forwarded.items)
    count: Sequence[object] = getattr(forwarded.type, "items", ())
    return (forwarded,) * len(count)
