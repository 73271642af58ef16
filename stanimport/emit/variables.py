"""Variables: declarations, and assignments to them and to parts of them."""
from __future__ import annotations

import ast
from collections.abc import Sequence

from stanlib.types import COMPLEX, INT, Tuple, Type, is_scalar, scalar_of, unwind

from ..ir import gprob, traversal
from .asty import Builder
from .context import Context
from .tuples import in_array


def declare(st: Context, s: gprob.Declare, b: Builder) -> list[ast.stmt]:
    name = st.names[s.name]
    st.sizes[s.name] = s.sized
    if s.value is not None:
        return [b.assign(name, _owned(st, s.value, _fitted(st, s, b), s.name))]
    made = _unset(st, s.sized, b)
    if s.sized.shape and not s.sized.items and _begins_as_data(st, s.name, s.sized.type):
        made = b.call("ppl.tensor", made)
    return [b.assign(name, made)]


def _fitted(st: Context, s: gprob.Declare, b: Builder) -> ast.expr:
    """The initial value, checked against the declared sizes unless they are the value's own."""
    assert s.value is not None
    value = st.expr(s.value)
    if not s.sized.shape or s.sized.items:
        return value
    return b.call("ppl.fit", value, st.shape(s.sized, b))


def _unset(st: Context, sized: gprob.Sized, b: Builder) -> ast.expr:
    """What a variable holds before its first value: `ppl.unset` of its sizes, `ppl.UNSET` if a container has none."""
    element, dims = unwind(sized.type)
    if isinstance(element, Tuple) and sized.items:
        return b.tuple_([_unset(st, in_array(sized, i, dims), b) for i in sized.items])
    if not sized.shape and (dims or isinstance(element, Tuple) or _is_container(sized.type)):
        return b.dotted("ppl.UNSET")
    kind = scalar_of(sized.type)
    arguments = [st.shape(sized, b)]
    if kind in (INT, COMPLEX):
        arguments.append(b.const(str(kind)))
    return b.call("ppl.unset", *arguments)


def _owned(st: Context, value: gprob.Expr, made: ast.expr, name: str) -> ast.expr:
    """A copy, where an array that another variable may hold would else be changed in place.

    With PyTorch a tensor, where a variable that depends on parameters later begins as data.
    """
    if (st.lanes or not is_scalar(value.type)) and st.ownership.needs_copy(name, value):
        return Builder(value.span).call("ppl.copy", made)
    if _begins_as_data(st, name, value.type) and not st.expr.is_tensor(value):
        return Builder(value.span).call("ppl.tensor", made)
    return made


def _begins_as_data(st: Context, name: str, t: Type) -> bool:
    """Whether a value of data must be a tensor, as PyTorch's operators take those alone: what changes it may."""
    return name in st.times.dynamic and not st.expr.traces and scalar_of(t) != INT and _is_container(t)


def assign(st: Context, s: gprob.Assign, b: Builder) -> list[ast.stmt]:
    """An assignment: of the whole, in place where the array is nobody else's, or of a copy with the part replaced."""
    name, value = st.names[s.place.name], _owned(st, s.value, st.expr(s.value), s.place.name)
    if not s.place.steps:
        return [b.assign(name, _of_size(st, s.place.name, value, b))]
    shared = {} if s.over is None else {"over": b.name(st.names[s.over])}
    # what every lane has for itself gets an axis for them when assigned to: only what all share stays in place
    shared_by_all = not st.lanes or s.over == st.lanes[0]
    if s.place.name in st.ownership.changed and shared_by_all and not any(p.item for p in s.place.steps):
        indices = [st.expr.one_index(i, b) for p in s.place.steps for i in p.indices]
        return [b.run(b.call("ppl.assign_in_place", b.name(name), value, *indices, **shared))]
    return [b.assign(name, _updated(st, b.name(name), s.place.steps, value, b, shared))]


def _of_size(st: Context, name: str, value: ast.expr, b: Builder) -> ast.expr:
    """A value for a whole variable, checked against its declared sizes as far as these can't have changed."""
    sized = st.sizes.get(name)
    if sized is None or not sized.shape or sized.items:
        return value
    read = {n.name for n in traversal.walk(sized.shape) if isinstance(n, gprob.Var)}
    return value if read & st.assigned else b.call("ppl.fit", value, st.shape(sized, b))


def _updated(
    st: Context, base: ast.expr, steps: Sequence[gprob.Step], value: ast.expr, b: Builder,
    shared: dict[str, ast.expr] | None = None,
) -> ast.expr:  # fmt: skip
    """The container with the part that the steps select replaced."""
    step, *rest = steps
    if step.item:
        if rest:
            value = _updated(st, b.subscript(base, b.const(step.item - 1)), rest, value, b)
        return b.call("ppl.replace_item", base, b.const(step.item), value)
    indices = [st.expr.one_index(i, b) for i in step.indices]
    while rest and not rest[0].item:
        indices += [st.expr.one_index(i, b) for i in rest.pop(0).indices]
    if rest:
        value = _updated(st, b.call("ppl.at", base, *indices), rest, value, b)
    return b.call("ppl.assign", base, value, *indices, **(shared or {}))


def _is_container(t: Type) -> bool:
    element, dims = unwind(t)
    return dims > 0 or str(element) not in ("int", "real", "complex") and not isinstance(element, Tuple)
