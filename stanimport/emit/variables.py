"""Variables: declarations, and assignments to them and to parts of them."""
from __future__ import annotations

import ast
from collections.abc import Sequence

from ..ir import gprob
from .asty import Builder
from .context import Context


def declare(st: Context, s: gprob.Declare, b: Builder) -> list[ast.stmt]:
    assert s.value is not None
    return [b.assign(st.names[s.name], st.expr(s.value))]


def assign(st: Context, s: gprob.Assign, b: Builder) -> list[ast.stmt]:
    """An assignment: of the whole, in place where the array is nobody else's, or of a copy with the part replaced."""
    name, value = st.names[s.place.name], st.expr(s.value)
    if not s.place.steps:
        return [b.assign(name, value)]
    shared = {} if s.over is None else {"over": b.name(st.names[s.over])}
    if s.reached is not None:
        shared["reached"] = st.expr(s.reached)
    if s.in_place:
        indices = [st.expr.one_index(i, b) for p in s.place.steps for i in p.indices]
        return [b.run(b.call("ppl.assign_in_place", b.name(name), value, *indices, **shared))]
    return [b.assign(name, _updated(st, b.name(name), s.place.steps, value, b, shared))]


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
