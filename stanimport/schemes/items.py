"""Parameters that are tuples as one parameter for each item, of the same site: so items can have laws of their own."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stanlib.types import Tuple, array, unwind

from ..ir import gprob, traversal
from ..ir.fresh import Fresh
from ..ir.uses import walk_statements

Stmts = tuple[gprob.Stmt, ...]


def taken_apart(model: Stmts, names: Fresh) -> Stmts:
    """The model without parameters that are tuples; an array of tuples that is read as a whole stays."""
    for name in [s.name for s in model if isinstance(s, gprob.Sample) and s.sized.items]:
        at, s = next((i, s) for i, s in enumerate(model) if isinstance(s, gprob.Sample) and s.name == name)
        parts, whole = _parts(s, names)
        made = (*model[:at], *parts, *_replaced(model[at + 1 :], {s.name: whole}))
        if not any(_is_array_of_tuples(e) for n in walk_statements(made) for e in traversal.walk(n)):
            model = made
    return model


def _parts(s: gprob.Sample, names: Fresh) -> tuple[list[gprob.Sample], gprob.MakeTuple]:
    """The parameters of all items, and the tuple of them; of an array of tuples that of arrays, of the array's type."""
    element, dims = unwind(s.sized.type)
    assert isinstance(element, Tuple)
    constraints = (None,) * len(s.sized.items) if s.constraint is None else s.constraint.items
    samples, values = list[gprob.Sample](), list[gprob.Expr]()
    for number, (item, constraint) in enumerate(zip(s.sized.items, constraints), start=1):
        sized = gprob.Sized(array(item.type, dims), (*s.sized.shape, *item.shape), item.items)
        one = replace(s, name=names.helper(s.name), site=f"{s.site}.{number}", sized=sized, constraint=constraint)
        if item.items:
            below, value = _parts(one, names)
            samples += below
            values.append(value)
        else:
            samples.append(one)
            values.append(gprob.Var(sized.type, s.span, one.name))
    return samples, gprob.MakeTuple(s.sized.type, s.span, tuple(values))


def _replaced(model: Stmts, wholes: Mapping[str, gprob.MakeTuple]) -> Stmts:
    """The statements, which read the tuple of the parts instead of the parameter, and of that what they need."""

    def change(node: object) -> object:
        if isinstance(node, gprob.Var) and node.name in wholes:
            return wholes[node.name]
        if isinstance(node, gprob.Item) and isinstance(node.base, gprob.MakeTuple):
            return node.base.items[node.number - 1]
        if isinstance(node, gprob.Index) and isinstance(node.base, gprob.MakeTuple):
            return _indexed(node, node.base)
        return node

    made: Stmts = traversal.rewrite(model, change)
    return made


def _indexed(e: gprob.Index, base: gprob.MakeTuple) -> gprob.MakeTuple:
    """What an index makes of an array of tuples, as a tuple of what it makes of the arrays of items."""
    element, dims = unwind(e.type)
    assert isinstance(element, Tuple)
    items: list[gprob.Expr] = []
    for t, item in zip(element.items, base.items):
        one = replace(e, type=array(t, dims), base=item)
        items.append(_indexed(one, item) if isinstance(item, gprob.MakeTuple) else one)
    return replace(base, type=e.type, items=tuple(items))


def _is_array_of_tuples(e: object) -> bool:
    return isinstance(e, gprob.MakeTuple) and not isinstance(e.type, Tuple)
