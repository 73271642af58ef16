"""Vectors that operations are made of: one of their components, and how many there are."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from stanlib import registry
from stanlib.types import INT, REAL, dimensions, is_scalar, scalar_of

from ...ir import gprob
from ...ir.calls import apply
from .affine import difference, linear
from .parts import count_of, is_repeated


def count_in(e: gprob.Expr) -> gprob.Expr | None:
    """How many components a selected part has, as far as it can be told."""
    if isinstance(e, gprob.Index):
        ranges = [i for i in e.indices if isinstance(i, gprob.Range)]
        if len(ranges) == 1 and ranges[0].lower is not None and ranges[0].upper is not None and dimensions(e.type) == 1:
            return count_of(ranges[0])
        return None
    if isinstance(e, gprob.Promote):
        return count_in(e.value)
    if isinstance(e, gprob.Apply):
        if e.function.name in _PARTS:
            return e.arguments[-1]
        if is_turned(e):
            return count_in(e.arguments[0])
        if is_elementwise(e):
            return next((c for c in map(count_in, e.arguments) if c is not None), None)
    return None


def containers_in(parts: Sequence[gprob.Expr]) -> Iterator[gprob.Expr]:
    """The containers that operands are made of, component by component."""
    for e in parts:
        if isinstance(e, gprob.Promote):
            yield from containers_in((e.value,))
        elif is_turned(e):
            yield from containers_in((e.arguments[0],))
        elif isinstance(e, gprob.Apply) and is_elementwise(e) and not is_scalar(e.type):
            yield from containers_in(e.arguments)
        elif not is_scalar(e.type):
            yield e


def size_of(e: gprob.Expr) -> gprob.Expr:
    """The number of components of a container that is no operation."""
    known = e.arguments[1] if is_repeated(e) else count_in(e)
    if known is not None:
        return known
    if isinstance(e, gprob.Index) and dimensions(e.type) == 1:
        lists = [i.value for i in e.indices if isinstance(i, gprob.Multi)]
        if len(lists) == 1:
            return size_of(lists[0])
    return apply("num_elements", e)


def has_size(e: gprob.Expr, count: gprob.Expr) -> bool:
    """Whether a value certainly has as many components as that."""
    if is_scalar(e.type):
        return True
    if isinstance(e, gprob.Promote):
        return has_size(e.value, count)
    if is_turned(e):
        return has_size(e.arguments[0], count)
    if isinstance(e, gprob.Apply) and is_elementwise(e):
        return all(has_size(a, count) for a in e.arguments)
    own = e.arguments[1] if is_repeated(e) else count_in(e)
    return own is not None and difference(linear(own), linear(count)) == 0


def component(e: gprob.Expr, i: gprob.Expr) -> gprob.Expr | None:
    """The i-th component of a vector or array of numbers; a number is itself. None if it can't be told."""
    if is_scalar(e.type):
        return e
    if dimensions(e.type) != 1:
        return None
    if isinstance(e, gprob.Promote):
        inner = component(e.value, i)
        return None if inner is None else replace(e, type=scalar_of(e.type), value=inner)
    if isinstance(e, gprob.Index):
        return _of_selection(e, i)
    if isinstance(e, gprob.Var):
        return gprob.Index(scalar_of(e.type), e.span, e, (gprob.Single(i),))
    if is_repeated(e):
        return e.arguments[0]
    if is_turned(e):
        return component(e.arguments[0], i)
    if isinstance(e, gprob.Apply):
        if e.function.name in _PARTS:
            container, place = _PARTS[e.function.name](e.arguments, i)
            return gprob.Index(scalar_of(e.type), e.span, container, place)
        if is_elementwise(e):
            return _of_elementwise(e, i)
    return None


def _of_selection(e: gprob.Index, i: gprob.Expr) -> gprob.Expr:
    """The i-th component of a part of one dimension: i counts in its range or list, or behind single indices."""
    indices: list[gprob.IndexExpr] = []
    found = False
    for index in e.indices:
        if isinstance(index, gprob.Range):
            first = gprob.int_const(1, e.span) if index.lower is None else index.lower
            indices.append(gprob.Single(shifted(first, i)))
            found = True
        elif isinstance(index, gprob.Multi):
            indices.append(gprob.Single(gprob.Index(INT, e.span, index.value, (gprob.Single(i),))))
            found = True
        else:
            indices.append(index)
    if not found:
        indices.append(gprob.Single(i))
    return gprob.Index(scalar_of(e.type), e.span, e.base, tuple(indices))


def shifted(first: gprob.Expr, i: gprob.Expr) -> gprob.Expr:
    """first + i - 1."""
    if isinstance(first, gprob.Const) and first.value == 1:
        return i
    return apply("subtract", apply("add", first, i), gprob.int_const(1, i.span))


def is_elementwise(e: gprob.Apply) -> bool:
    """Whether a function of containers takes their components one by one."""
    if e.function.by_component:
        return True
    return e.function.is_componentwise and not e.function.random and scalar_of(e.type) == REAL


def is_turned(e: object) -> TypeGuard[gprob.Apply]:
    """Whether a vector is made a row, or a row a vector."""
    return isinstance(e, gprob.Apply) and e.function.name == "transpose" and dimensions(e.type) == 1


def _of_elementwise(e: gprob.Apply, i: gprob.Expr) -> gprob.Expr | None:
    """The operation on the i-th components; None where one can't be told, or the operation has no form for numbers."""
    elements = [component(a, i) for a in e.arguments]
    if any(x is None for x in elements):
        return None
    name, known = e.function.name, [x for x in elements if x is not None]
    promoted = [x if x.type == REAL else gprob.Promote(REAL, e.span, x) for x in known]
    for given in (promoted, known):  # some arguments are integers to a function
        if tuple(x.type for x in given) in registry.exact(name):
            return apply(name, *given)
    return None


def _segment(a: Sequence[gprob.Expr], i: gprob.Expr) -> tuple[gprob.Expr, tuple[gprob.IndexExpr, ...]]:
    return a[0], (gprob.Single(shifted(a[1], i)),)


def _head(a: Sequence[gprob.Expr], i: gprob.Expr) -> tuple[gprob.Expr, tuple[gprob.IndexExpr, ...]]:
    return a[0], (gprob.Single(i),)


def _tail(a: Sequence[gprob.Expr], i: gprob.Expr) -> tuple[gprob.Expr, tuple[gprob.IndexExpr, ...]]:
    size = apply("num_elements", a[0])
    return a[0], (gprob.Single(apply("add", apply("subtract", size, a[1]), i)),)


def _sub_col(a: Sequence[gprob.Expr], i: gprob.Expr) -> tuple[gprob.Expr, tuple[gprob.IndexExpr, ...]]:
    return a[0], (gprob.Single(shifted(a[1], i)), gprob.Single(a[2]))


def _sub_row(a: Sequence[gprob.Expr], i: gprob.Expr) -> tuple[gprob.Expr, tuple[gprob.IndexExpr, ...]]:
    return a[0], (gprob.Single(a[1]), gprob.Single(shifted(a[2], i)))


_PARTS = {"segment": _segment, "head": _head, "tail": _tail, "sub_col": _sub_col, "sub_row": _sub_row}
