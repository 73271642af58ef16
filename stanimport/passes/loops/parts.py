"""Parts at places that differ between iterations, as ranges: `segment(v, i, n)` is `v[i:i + n - 1]`; and back again."""
from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any, TypeGuard

from stanlib.types import MATRIX, dimensions

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.uses import mentions
from ..binding_times import BindingTimes
from .affine import key, linear

Stmts = tuple[gprob.Stmt, ...]


def as_ranges(body: Sequence[gprob.Stmt], varying: set[str], times: BindingTimes) -> Stmts:
    """The body with calls that select a part at a varying place written as ranges of indices, if data tell the place.

    The bounds of a range that depend on parameters would not tell its size.
    """

    def change(node: object) -> object:
        made = as_range(node, varying)
        if made is node or any(map(times.is_dynamic, node.arguments[1:])):  # type: ignore[attr-defined]
            return node
        return node if times.draws(node) else made  # a range has the place twice

    out: Stmts = traversal.rewrite(tuple(body), change)
    return out


def as_range(node: object, varying: set[str]) -> Any:
    """A node, or a call that selects a part at a varying place as a range of indices."""
    if isinstance(node, gprob.Apply) and node.function.name in _RANGES and mentions(node.arguments[1:], varying):
        container, *numbers = node.arguments
        indices: tuple[gprob.IndexExpr, ...] = _RANGES[node.function.name](*numbers)
        return gprob.Index(node.type, node.span, container, indices)
    return node


def as_segments(body: Sequence[gprob.Stmt], varying: Set[str]) -> Stmts:
    """The body with ranges at a varying place written as segments, whose size is known wherever they begin.

    Those of which the size is no constant stay, as do those beside other indices.
    """
    out: Stmts = traversal.rewrite(tuple(body), lambda node: _as_segment(node, varying))
    return out


def _as_segment(node: object, varying: Set[str]) -> object:
    if not isinstance(node, gprob.Index) or len(node.indices) != 1 or not mentions(node.indices, varying):
        return node
    match node.indices[0]:
        case gprob.Range(lower=gprob.Expr() as lower, upper=gprob.Expr()) as part:
            count = count_of(part)
            if isinstance(count, gprob.Const) and isinstance(count.value, int) and count.value >= 1:
                return apply("segment", node.base, lower, count)
    return node


def _span(first: gprob.Expr, count: gprob.Expr) -> gprob.Range:
    end = apply("subtract", apply("add", first, count), gprob.int_const(1, first.span))
    return gprob.Range(first, end)


def _segment(first: gprob.Expr, count: gprob.Expr) -> tuple[gprob.IndexExpr, ...]:
    return (_span(first, count),)


def _sub_col(row: gprob.Expr, column: gprob.Expr, count: gprob.Expr) -> tuple[gprob.IndexExpr, ...]:
    return (_span(row, count), gprob.Single(column))


def _sub_row(row: gprob.Expr, column: gprob.Expr, count: gprob.Expr) -> tuple[gprob.IndexExpr, ...]:
    return (gprob.Single(row), _span(column, count))


def _block(
    row: gprob.Expr, column: gprob.Expr, rows: gprob.Expr, columns: gprob.Expr
) -> tuple[gprob.IndexExpr, ...]:
    return (_span(row, rows), _span(column, columns))


_RANGES: dict[str, Callable[..., tuple[gprob.IndexExpr, ...]]] = {
    "segment": _segment, "sub_col": _sub_col, "sub_row": _sub_row, "block": _block,
}  # fmt: skip

# Of the calls that select parts: which arguments are indices, how much is taken, and what tells how much there is.
STARTS = {
    "segment": [(1, 2, "size")], "sub_col": [(1, 3, "rows"), (2, 3, "cols")],
    "sub_row": [(1, 3, "rows"), (2, 3, "cols")],
    "block": [(1, 3, "rows"), (2, 4, "cols")],
}  # fmt: skip


def closed(node: object, varying: Set[str]) -> object:
    """A node, or a range that varies with both its ends: `v[1:n]` for `v[:n]`, `v[n:size(v)]` for `v[n:]`."""
    if isinstance(node, gprob.Range) and node.lower is None and node.upper is not None:
        return replace(node, lower=gprob.int_const(1, node.upper.span)) if mentions(node.upper, varying) else node
    if not isinstance(node, gprob.Index) or dimensions(node.type) != 1:
        return node
    sizes = ("rows", "cols") if node.base.type == MATRIX else ("size",)
    if len(node.indices) > len(sizes):
        return node
    ends = tuple(_with_end(i, node.base, size, varying) for i, size in zip(node.indices, sizes))
    return node if ends == node.indices else replace(node, indices=ends)


def _with_end(i: gprob.IndexExpr, base: gprob.Expr, size: str, varying: Set[str]) -> gprob.IndexExpr:
    if isinstance(i, gprob.Range) and i.lower is not None and i.upper is None and mentions(i.lower, varying):
        return replace(i, upper=apply(size, base))
    return i


def count_of(r: gprob.Range) -> gprob.Expr:
    """How many indices a range with both bounds has: n for `i:i + n - 1`."""
    assert r.lower is not None and r.upper is not None
    match r.upper:
        case gprob.Apply(function=outer, arguments=(gprob.Apply() as inner, gprob.Const(value=1))):
            if (outer.name, inner.function.name) == ("subtract", "add") and key(inner.arguments[0]) == key(r.lower):
                return inner.arguments[1]
    if isinstance(r.lower, gprob.Const) and r.lower.value == 1:
        return r.upper
    span = r.upper.span
    length = linear(r.upper).plus(linear(r.lower), -1)
    if length.is_constant:
        return gprob.int_const(length.constant + 1, span)
    return apply("add", apply("subtract", r.upper, r.lower), gprob.int_const(1, span))


def is_repeated(e: object) -> TypeGuard[gprob.Apply]:
    return isinstance(e, gprob.Apply) and e.function.repeats
