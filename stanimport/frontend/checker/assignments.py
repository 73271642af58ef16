"""Assignments: what may be written, and by what. Source: Stan Reference Manual, "Assignment statement"."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Union

from stanlib import registry
from stanlib.types import Level, Tuple, Type, is_scalar, join_levels, level_for

from ...ir import gprob
from .. import ast
from .basics import promote, unknown, verify_identifier
from .context import Context, Typed
from .explain import conversion
from .expressions import BINARY, apply_operator, expression, fits, index, indexed_type, tuple_item_type
from .scopes import level_of


class Target(NamedTuple):
    """A checked place, and whether what it holds may depend on parameters."""

    place: gprob.Place
    level: Level


# What may be meant by an assignment to a variable of a block.
_MEANT = {"parameters": "write ~ for its distribution, or declare another variable", "data": "declare another variable"}


def assignment(c: Context, s: ast.Assignment) -> gprob.Stmt:
    """Check `target operator value;`."""
    target = _targets(c, s.target)
    _verify_disjoint(c, s.target, target)
    value = expression(c, s.value)
    if isinstance(target, Target):
        return gprob.Assign(s.span, target.place, _assigned(c, s, target, value))
    if s.operator != "=" or not _unpackable(target, value.type):
        c.fail(f"{s.target.span.text} can't be assigned a {value.type}", value.span, code="assignment")
    to = _pattern_type(target)
    return gprob.Unpack(s.span, _places(target), promote(value, to).expr)


def _assigned(c: Context, s: ast.Assignment, target: Target, value: Typed) -> gprob.Expr:
    """What is stored, of the type of the place: the value, or with `+=` and its like the operator's result."""
    place = target.place
    if s.operator == "=":
        if s.target.span.text == s.value.span.text:
            c.diagnostics.warn("a variable is assigned to itself", s.span, code="self-assignment")
        if not fits(place.type, value):
            hint = conversion(place.type, value.type)
            c.fail(f"{s.target.span.text!r} is {place.type}, the value {value.type}", value.span, hint, "assignment")
        return promote(value, place.type).expr
    operator = s.operator[:-1]
    names = ("divide",) if operator == "/" else BINARY[operator]
    result = apply_operator(names, Typed(place.read(), target.level), value, s.span)
    elementwise = operator in (".*", "./") and is_scalar(place.type)
    if result is None or result.type != place.type or elementwise:
        c.fail(f"operator {s.operator} is not defined for {place.type} and {value.type}", value.span, code="operator")
    return result


def _targets(c: Context, e: ast.Expression) -> Union[Target, list[Any]]:
    """A place, or for a tuple pattern the list of its parts."""
    if isinstance(e, ast.TupleLiteral):
        return [_targets(c, i) for i in e.items]
    return _target(c, e)


def _target(c: Context, e: ast.Expression) -> Target:
    """A place that can be assigned to; every bracket and every tuple item behind the variable is one step."""
    if isinstance(e, ast.Variable):
        return _variable(c, e)
    assert isinstance(e, (ast.TupleItem, ast.Indexed))
    inner = _target(c, e.base)
    place = inner.place
    if isinstance(e, ast.TupleItem):
        t, level = tuple_item_type(c, place.type, inner.level, e)
        step = gprob.Step(t, item=e.number)
        return Target(gprob.Place(place.name, place.base, e.span, (*place.steps, step)), level)
    indices = [index(c, i) for i in e.indices]
    t = indexed_type(c, place.type, [i[0] for i in indices], e.span)
    if place.steps and any(not isinstance(i, gprob.Single) for i in place.steps[-1].indices):
        c.fail("what a multi-index selects can't be indexed and assigned to", e.span, "index once: x[idx, i]")
    level = level_for(t, join_levels([inner.level, *(i[1] for i in indices)]))
    step = gprob.Step(t, tuple(i[0] for i in indices))
    return Target(gprob.Place(place.name, place.base, e.span, (*place.steps, step)), level)


def _variable(c: Context, e: ast.Variable) -> Target:
    """The variable at the root of a place: no argument or loop variable, and of the current block if it is global."""
    name = e.name
    verify_identifier(c, name)
    v = c.scope.find(name.text)
    if v is None:
        if c.functions.find(name.text) or registry.is_known(name.text):
            c.fail(f"{name.text!r} is a function and can't be assigned to", name.span)
        unknown(c, name, f"declare it with its type: real {name.text} = ..., or vector[N] {name.text} = ...")
    if v.is_global and v.block != c.place.block:
        hint = _MEANT.get(v.block, "")
        c.fail(f"{name.text!r} of block {v.block!r} can't be assigned to in {c.place.block!r}", name.span, hint)
    if v.read_only:
        what = "the variable of a loop" if v.block != "functions" or c.place.loops else "an argument of a function"
        c.fail(f"{name.text!r} is {what} and can't be assigned to", name.span)
    return Target(gprob.Place(v.symbol, v.type, e.span), level_of(v, c.place))


def _unpackable(target: list[Any], t: Type) -> bool:
    """Whether a tuple's items fit the parts of a pattern."""
    if not isinstance(t, Tuple) or len(t.items) != len(target):
        return False
    for part, item in zip(target, t.items):
        if isinstance(part, Target):
            if not fits(part.place.type, Typed(gprob.Var(item, part.place.span, ""), True)):
                return False
        elif not _unpackable(part, item):
            return False
    return True


def _pattern_type(target: Union[Target, list[Any]]) -> Type:
    return target.place.type if isinstance(target, Target) else Tuple(tuple(map(_pattern_type, target)))


def _places(target: list[Any]) -> tuple[object, ...]:
    return tuple(t.place if isinstance(t, Target) else _places(t) for t in target)


def _verify_disjoint(c: Context, e: ast.Expression, target: Union[Target, list[Any]]) -> None:
    """One assignment can't write the same variable twice, nor read in an index what it writes."""
    if isinstance(target, Target):
        written = [_path(target.place)]
    else:
        written = [_path(t.place) for t in _flat(target)]
    for i, a in enumerate(written):
        for b in written[i + 1 :]:
            if a[: len(b)] == b[: len(a)]:
                c.fail(f"{a[0]!r} is assigned to twice in one statement", e.span)
    names = {p[0] for p in written}
    for v in _index_variables(e):
        found = c.scope.find(v.name.text)
        if found is not None and found.symbol in names:
            message = f"{v.name.text!r} is read in an index of the assignment that writes it"
            if c.strict or not isinstance(target, Target):
                c.fail(message, e.span)
            c.diagnostics.deprecate(message, e.span, "compute the index before")


def _flat(target: list[Any]) -> Iterator[Target]:
    for t in target:
        if isinstance(t, Target):
            yield t
        else:
            yield from _flat(t)


def _path(place: gprob.Place) -> tuple[object, ...]:
    """A place without its indices: variable and tuple items."""
    return (place.name, *(s.item for s in place.steps if s.item))


def _index_variables(e: ast.Expression) -> Iterator[ast.Variable]:
    if isinstance(e, ast.TupleLiteral):
        for i in e.items:
            yield from _index_variables(i)
    while isinstance(e, (ast.Indexed, ast.TupleItem)):
        if isinstance(e, ast.Indexed):
            for at in e.indices:
                yield from _variables(at)
        e = e.base


def _variables(node: ast.Node) -> Iterator[ast.Variable]:
    if isinstance(node, ast.Variable):
        yield node
    for child in ast.children(node):
        yield from _variables(child)


