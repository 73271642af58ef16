"""Elements of vectors as expressions: those of sums and ranges are sums of elements, and ranges' own."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stanlib import constraints
from stanlib.types import INT, REAL, Type, dimensions, is_scalar, scalar_of

from ..ir import gprob
from ..ir.calls import apply
from ..ir.fresh import Fresh
from ..source import Span

_COMPONENTWISE = {
    "add": "add", "subtract": "subtract", "minus": "minus", "multiply": "multiply", "divide": "divide",
    "elt_multiply": "multiply", "elt_divide": "divide",
}  # fmt: skip


def indices(e: gprob.Expr) -> Iterator[Any]:
    """All indices of a part of a variable."""
    while isinstance(e, gprob.Index):
        yield from e.indices
        e = e.base


def is_inside(e: gprob.Expr, whole: Type, c: gprob.Constraint) -> bool:
    """Whether an expression has parts of the values that a constraint is of, and not some of an array of these."""
    return len(list(indices(e))) > dimensions(whole) - constraints.get(c.kind).event_dims


def of_elements(c: gprob.Constraint, span: Span) -> gprob.Constraint | None:
    """The domain of single elements of an ordered vector."""
    lower, _ = constraints.get(c.kind).interval
    return None if lower is None else gprob.Constraint(constraints.BOUNDS, (("lower", gprob.Const(REAL, span, lower)),))


def loops_over_range(
    value: gprob.Expr, size: gprob.Expr | None, names: Fresh
) -> tuple[gprob.For, gprob.Expr, gprob.Expr] | None:
    """A loop over the elements of a range of a vector or one-dimensional array of reals, or of all of it.

    Returns:
        The loop without a body, the element, and its number in the range from 1; None for anything else.
    """
    if dimensions(value.type) != 1 or scalar_of(value.type) != REAL or size is None:
        return None
    span, one = value.span, gprob.int_const(1, value.span)
    index = gprob.Var(INT, span, names.helper("i"))
    if isinstance(value, gprob.Var):
        return gprob.For(span, index.name, one, size, ()), _single(value, index), index
    if not isinstance(value, gprob.Index) or len(value.indices) != 1 or dimensions(value.base.type) != 1:
        return None
    (r,) = value.indices
    if not isinstance(r, gprob.Range):
        return None
    lower, upper = r.lower or one, r.upper or size
    number = _apply("add", _apply("subtract", index, lower), one)
    return gprob.For(span, index.name, lower, upper, ()), _single(value.base, index), number


def element(e: gprob.Expr, number: gprob.Expr) -> gprob.Expr:
    """The element of a vector or one-dimensional array at a position from 1."""
    if isinstance(e, gprob.Index) and len(e.indices) == 1 and isinstance(r := e.indices[0], gprob.Range):
        one = gprob.int_const(1, e.span)
        shifted = number if r.lower is None else _apply("subtract", _apply("add", r.lower, number), one)
        return _single(e.base, shifted)
    if isinstance(e, gprob.Apply) and _is_componentwise(e):
        parts = [a if is_scalar(a.type) else element(a, number) for a in e.arguments]
        return _apply(_COMPONENTWISE[e.function.name], *parts)
    return _single(e, number)


def _is_componentwise(e: gprob.Apply) -> bool:
    if e.function.name not in _COMPONENTWISE or any(dimensions(a.type) > 1 for a in e.arguments):
        return False
    containers = sum(not is_scalar(a.type) for a in e.arguments)
    return containers == 1 or e.function.name in ("add", "subtract", "elt_multiply", "elt_divide")


def _single(e: gprob.Expr, index: gprob.Expr) -> gprob.Expr:
    return gprob.Index(scalar_of(e.type), e.span, e, (gprob.Single(index),))


def _apply(name: str, *arguments: gprob.Expr) -> gprob.Expr:
    """A call on numbers, integers among reals promoted."""
    result: Type = INT if all(a.type == INT for a in arguments) else REAL
    given = [a if a.type == result else gprob.Promote(result, a.span, a) for a in arguments]
    return apply(name, *given)
