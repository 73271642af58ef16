"""Components of containers: `(a + mu[z])[i]` as `a[i] + mu[z[i]]`, so that the term of an element reads that alone."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from stanlib import registry
from stanlib.types import INT, MATRIX, REAL, ROW_VECTOR, VECTOR, Array, Type, array, dimensions

from ..ir import gprob
from ..ir.calls import call
from ..ir.likeness import same

Sizes = Mapping[str, gprob.Sized]


def component_type(t: Type) -> Type:
    """The type of `x[i]`."""
    if isinstance(t, Array):
        return array(t.element, t.dims - 1)
    return ROW_VECTOR if t == MATRIX else REAL


def is_container(t: Type) -> bool:
    return isinstance(t, Array) or t in (VECTOR, ROW_VECTOR, MATRIX)


def component(e: gprob.Expr, i: gprob.Expr) -> gprob.Expr:
    """`e[i]`, with the index moved to where it selects least."""
    made = _RULES.get(type(e), _other)(e, i)
    return made if made is not None else _other(e, i)


def _other(e: gprob.Expr, i: gprob.Expr) -> gprob.Expr:
    return gprob.Index(component_type(e.type), e.span, e, (gprob.Single(i),))


def _of_index(e: gprob.Index, i: gprob.Expr) -> gprob.Expr:
    """`x[j, 3:5][i]` as `x[j, i + 2]`: i goes into the first index that selects several, or behind all."""
    indices = list(e.indices)
    for at, index in enumerate(indices):
        if isinstance(index, gprob.Multi):
            indices[at] = gprob.Single(component(index.value, i))
            break
        if isinstance(index, gprob.Range):
            indices[at] = gprob.Single(_shifted(index, i))
            break
    else:
        indices.append(gprob.Single(i))
    return gprob.Index(component_type(e.type), e.span, e.base, tuple(indices))


def _shifted(index: gprob.Range, i: gprob.Expr) -> gprob.Expr:
    """The place of component i of a range."""
    if index.lower is not None and isinstance(i, gprob.Apply) and same(i, component_at(index.lower, i.arguments[0])):
        return i.arguments[0]
    if index.lower is None or isinstance(index.lower, gprob.Const) and index.lower.value == 1:
        return i
    if isinstance(index.lower, gprob.Const) and isinstance(index.lower.value, int):
        return call("add", i.span, i, gprob.int_const(index.lower.value - 1, i.span))
    return call("subtract", i.span, call("add", i.span, i, index.lower), gprob.int_const(1, i.span))


def component_at(lower: gprob.Expr, place: gprob.Expr) -> gprob.Expr:
    """The number of the component of a range that stands at a place: `place - (lower - 1)`."""
    one = gprob.int_const(1, place.span)
    return call("subtract", place.span, place, call("subtract", place.span, lower, one))


def _of_apply(e: gprob.Apply, i: gprob.Expr) -> gprob.Expr | None:
    """`f(a, b)[i]` as `f(a[i], b[i])`, or what a conversion or repetition has there; None of other functions."""
    name = e.function.name
    if e.function.repeats:
        return e.arguments[0]
    if is_flat_table(e):
        return _of_table(e.arguments[0], i)
    if name in ("to_vector", "to_row_vector", "to_array_1d") and dimensions(e.arguments[0].type) == 1:
        inner = component(e.arguments[0], i)
        return inner if inner.type == component_type(e.type) else gprob.Promote(REAL, e.span, inner)
    if name == "transpose" and e.type in (VECTOR, ROW_VECTOR):
        return component(e.arguments[0], i)
    if name == "rows_dot_product":
        return call("dot_product", e.span, *(component(a, i) for a in e.arguments))
    if not is_by_component(e):
        return None
    parts = tuple(component(a, i) if is_container(a.type) else a for a in e.arguments)
    found = registry.exact(name).get(tuple(p.type for p in parts))
    if found is None or found[1].result != component_type(e.type):
        return None
    return gprob.Apply(found[1].result, e.span, found[0], parts)


def is_flat_table(e: gprob.Apply) -> bool:
    """Whether it is `to_array_1d` of a variable that is an array with two axes of numbers."""
    of = e.arguments[0] if e.function.name == "to_array_1d" else None
    return isinstance(of, gprob.Var) and isinstance(of.type, Array) and of.type.dims == dimensions(of.type) == 2


def _of_table(table: gprob.Expr, i: gprob.Expr) -> gprob.Expr:
    """`to_array_1d(x)[i]`, which goes through the rows of x."""
    span, one = i.span, gprob.int_const(1, i.span)
    row = gprob.Index(component_type(table.type), span, table, (gprob.Single(one),))
    length, before = call("size", span, row), call("subtract", span, i, one)
    places = (call("add", span, call(f, span, before, length), one) for f in ("divide", "modulus"))
    return gprob.Index(component_type(row.type), span, table, tuple(gprob.Single(p) for p in places))


def is_by_component(e: gprob.Apply) -> bool:
    containers = [a for a in e.arguments if is_container(a.type)]
    if len({dimensions(a.type) for a in containers}) != 1 or dimensions(e.type) != dimensions(containers[0].type):
        return False
    return e.function.by_component or e.function.is_componentwise


def _of_promote(e: gprob.Promote, i: gprob.Expr) -> gprob.Expr:
    return gprob.Promote(component_type(e.type), e.span, component(e.value, i))


def _of_cond(e: gprob.Cond, i: gprob.Expr) -> gprob.Expr:
    return replace(e, type=component_type(e.type), then=component(e.then, i), otherwise=component(e.otherwise, i))


def _of_items(e: gprob.MakeArray | gprob.MakeRow, i: gprob.Expr) -> gprob.Expr | None:
    if not isinstance(i, gprob.Const) or not isinstance(i.value, int) or not 1 <= i.value <= len(e.items):
        return None
    item, t = e.items[i.value - 1], component_type(e.type)
    if item.type == INT and t == REAL:
        return gprob.Promote(REAL, e.span, item)
    return item if item.type == t else None


_RULES: dict[type, Callable[..., gprob.Expr | None]] = {
    gprob.Index: _of_index, gprob.Apply: _of_apply, gprob.Promote: _of_promote, gprob.Cond: _of_cond,
    gprob.MakeArray: _of_items, gprob.MakeRow: _of_items,
}  # fmt: skip


def size(e: gprob.Expr, sizes: Sizes) -> gprob.Expr | None:
    """The number of components of a container, from declarations and not from its value; None if they don't tell."""
    if isinstance(e, gprob.Var):
        return sizes[e.name].shape[0] if e.name in sizes else None
    if isinstance(e, gprob.Index):
        return _size_of_index(e, sizes)
    if isinstance(e, gprob.Promote):
        return size(e.value, sizes)
    if isinstance(e, (gprob.MakeArray, gprob.MakeRow)):
        return gprob.int_const(len(e.items), e.span)
    if isinstance(e, gprob.Cond):
        then, otherwise = size(e.then, sizes), size(e.otherwise, sizes)
        if then is None or otherwise is None or same(then, otherwise):
            return then and otherwise
        return gprob.Cond(INT, e.span, e.condition, then, otherwise)
    return _size_of_apply(e, sizes) if isinstance(e, gprob.Apply) else None


def _size_of_apply(e: gprob.Apply, sizes: Sizes) -> gprob.Expr | None:
    """The number of components of what a function returns, by those of its arguments."""
    if e.function.name == "transpose" and e.type in (VECTOR, ROW_VECTOR):
        return size(e.arguments[0], sizes)
    if e.function.name in ("rep_vector", "rep_row_vector") or e.function.name == "rep_array":
        return e.arguments[1]
    if e.function.name in ("to_vector", "to_row_vector", "to_array_1d") and dimensions(e.arguments[0].type) == 1:
        return size(e.arguments[0], sizes)
    if is_flat_table(e):
        axes = [_declared(e.arguments[0], axis, sizes) for axis in (0, 1)]
        return None if axes[0] is None or axes[1] is None else call("multiply", e.span, axes[0], axes[1])
    if is_by_component(e) or e.function.name == "rows_dot_product":
        return next((s for a in e.arguments if is_container(a.type) and (s := size(a, sizes)) is not None), None)
    return None


def not_negative(count: gprob.Expr) -> gprob.Expr:
    """A number of components: that of `x[3:1]` is 0, not the difference of the bounds."""
    if isinstance(count, (gprob.Var, gprob.Const)):
        return count
    return call("max", count.span, count, gprob.int_const(0, count.span))


def _size_of_index(e: gprob.Index, sizes: Sizes) -> gprob.Expr | None:
    """The number of components on the first axis that is left, by indices and declarations; None if they don't tell."""
    for at, index in enumerate(e.indices):
        if isinstance(index, gprob.Multi):
            return size(index.value, sizes)
        if isinstance(index, gprob.Range):
            upper = index.upper
            if upper is None:
                upper = _declared(e.base, at, sizes)
            if upper is None or index.lower is None:
                return upper
            return call("add", e.span, call("subtract", e.span, upper, index.lower), gprob.int_const(1, e.span))
    return _declared(e.base, len(e.indices), sizes)


def _declared(base: gprob.Expr, axis: int, sizes: Sizes) -> gprob.Expr | None:
    if isinstance(base, gprob.Var) and base.name in sizes and axis < len(sizes[base.name].shape):
        return sizes[base.name].shape[axis]
    return None


def flattened(e: gprob.Index) -> gprob.Index:
    """`x[i][j]` as `x[i, j]`, where the first indices are single ones."""
    while isinstance(e.base, gprob.Index) and all(isinstance(i, gprob.Single) for i in e.base.indices):
        e = replace(e, base=e.base.base, indices=(*e.base.indices, *e.indices))
    return e


def plain(e: object) -> Any:
    """`x[i][j]` as `x[i, j]`, `x[3:5][i]` as `x[i + 2]` and `segment(x, 3, 2)` as `x[3:4]`; other nodes as they are."""
    if isinstance(e, gprob.Apply) and e.function.name in _PARTS:
        return gprob.Index(e.type, e.span, e.arguments[0], _PARTS[e.function.name](*e.arguments[1:]))
    if not isinstance(e, gprob.Index):
        return e
    e = flattened(e)
    first, *others = e.indices
    several = isinstance(e.base, gprob.Index) and any(isinstance(i, (gprob.Multi, gprob.Range)) for i in e.base.indices)
    if not several or not isinstance(first, gprob.Single):
        return e
    one = component(e.base, first.value)
    if not others:
        return one
    return flattened(replace(e, base=one, indices=tuple(others)))



def _of_segment(first: gprob.Expr, count: gprob.Expr) -> tuple[gprob.IndexExpr, ...]:
    last = call("subtract", count.span, call("add", count.span, first, count), gprob.int_const(1, count.span))
    return (gprob.Range(first, last),)


# Functions that return a part of their first argument, as the indices of that part.
_PARTS: dict[str, Callable[..., tuple[gprob.IndexExpr, ...]]] = {
    "segment": _of_segment,
    "head": lambda n: (gprob.Range(gprob.int_const(1, n.span), n),),
    "row": lambda i: (gprob.Single(i),),
    "col": lambda j: (gprob.ALL, gprob.Single(j)),
}
