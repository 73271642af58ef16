"""Functions passed as arguments: which of their parameters are dynamic, given the call that they are passed in."""
from __future__ import annotations

from collections.abc import Callable, Sequence

from stanlib.types import is_discrete

from ..ir import gprob

IsDynamic = Callable[[object], bool]
Flags = tuple[bool, ...]


def dynamic_parameters(call: gprob.Apply, position: int, is_dynamic: IsDynamic) -> Flags:
    """Whether each parameter of the function at this position of a call of a higher-order function is dynamic.

    What the higher-order function itself provides (times, states) is dynamic where anything in the call is.
    """
    parameters = getattr(call.arguments[position].type, "parameters", ())
    if _kind(call) == "reduce_sum":
        _, sliced, _, *further = call.arguments
        return (is_dynamic(sliced), False, False, *map(is_dynamic, further))
    flags = _forwarded(call, position, is_dynamic)
    whole = is_dynamic(call) or _kind(call) == "laplace"  # whose derivatives are always traced
    required = parameters[: len(parameters) - len(flags)]
    return (*(whole and not is_discrete(p.type) for p in required), *flags)


def _kind(call: gprob.Apply) -> str | None:
    """By which rules a call passes arguments on to a function; None for calls with signatures of their own."""
    rules = call.function.variadic
    return None if rules is None else rules.kind


def _forwarded(call: gprob.Apply, position: int, is_dynamic: IsDynamic) -> Flags:
    if _kind(call) == "laplace":
        return _items(call.arguments[position + 1], is_dynamic)
    return tuple(map(is_dynamic, call.arguments[slice(*call.function.passes)]))


def _items(forwarded: gprob.Expr, is_dynamic: IsDynamic) -> Flags:
    """The same of a tuple of arguments."""
    while isinstance(forwarded, gprob.Promote):
        forwarded = forwarded.value
    if isinstance(forwarded, gprob.MakeTuple):
        return tuple(map(is_dynamic, forwarded.items))
    count: Sequence[object] = getattr(forwarded.type, "items", ())
    return (is_dynamic(forwarded),) * len(count)
