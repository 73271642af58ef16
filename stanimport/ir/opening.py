"""The statements of a function in place of a call of it."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from stanlib.types import dimensions

from . import gprob, traversal, uses
from .calls import call
from .fresh import Fresh
from .renaming import Stmts, renamed, with_names
from .traversal import substituted


def ends_once(f: gprob.FunDef, names: Fresh) -> gprob.FunDef | None:
    """The function with returns at the ends of its paths alone: what follows a branch that returns is the other branch.

    None where a loop is left by a return, and where a container is returned at several places.
    """
    body = _ending(f.body, names)
    if body is None:
        return None
    ends = [s for s in uses.walk_statements(body) if isinstance(s, gprob.Return)]
    several = len(ends) > 1 or not isinstance(body[-1], gprob.Return)
    if ends and ends[0].value is not None and several and dimensions(f.result) > 0:
        return None
    return replace(f, body=body)


def _ending(body: Stmts, names: Fresh) -> Stmts | None:
    for at, s in enumerate(body):
        if isinstance(s, gprob.Return):
            return body[: at + 1]
        if not any(isinstance(t, gprob.Return) for t in uses.walk_statements((s,))):
            continue
        branches = _branches(s, body[at + 1 :], names) if isinstance(s, gprob.If) else None
        return None if branches is None else (*body[:at], branches)
    return body


def _branches(s: gprob.If, rest: Stmts, names: Fresh) -> gprob.If | None:
    """A branch with all that follows it where it goes on."""
    then = s.then if uses.always_returns(s.then) else (*s.then, *rest)
    otherwise = s.otherwise if uses.always_returns(s.otherwise) else (*s.otherwise, *renamed(rest, names))
    ends = _ending(then, names), _ending(otherwise, names)
    return None if ends[0] is None or ends[1] is None else replace(s, then=ends[0], otherwise=ends[1])


def opened(
    s: gprob.Stmt, e: gprob.CallUser, f: gprob.FunDef, stays: Callable[[gprob.Expr], bool], names: Fresh
) -> Stmts:
    """A statement with what a function does in place of a call of it.

    Where paths through the function end apart, it stands at the end of each, or a variable takes the values of all.

    Args:
        f: the function, with returns at the ends of its paths alone.
        stays: whether an argument stands wherever the function reads its parameter; others become variables.
    """
    own = dict.fromkeys(n for t in uses.walk_statements(f.body) for n in (*uses.counts(t), *uses.defines(t)))
    body = with_names(f.body, {n: names.helper(n) for n in own})
    made: list[gprob.Stmt] = []
    given = {p.name: _argument(a, stays, made, names) for p, a in zip(f.parameters, e.arguments)}
    body = substituted(body, given)
    last = body[-1] if body else None
    if isinstance(last, gprob.Return) or not isinstance(s, gprob.Declare) and not traversal.bodies(s):
        return (*made, *_continued(body, lambda value: () if value is None else (with_value(s, e, value),)))
    result = gprob.Var(f.result, e.span, names.helper("result"))
    made.append(gprob.Declare(e.span, result.name, gprob.Sized(f.result)))

    def kept(value: gprob.Expr | None) -> Stmts:
        assert value is not None
        return (gprob.Assign(value.span, gprob.Place(result.name, result.type, value.span), value),)

    return (*made, *_continued(body, kept), with_value(s, e, result))


def with_value(s: gprob.Stmt, old: gprob.Expr, new: gprob.Expr) -> gprob.Stmt:
    """A statement with another expression in place of one of its own."""

    def change(e: gprob.Expr) -> gprob.Expr:
        if e is old:
            return new
        out: gprob.Expr = traversal.rewrite_parts(e, change)
        return out

    out: gprob.Stmt = traversal.rewrite_parts(s, change)
    return replace(out)


def _argument(a: gprob.Expr, stays: Callable[[gprob.Expr], bool], made: list[gprob.Stmt], names: Fresh) -> gprob.Expr:
    if stays(a):
        return a
    shape = (call("size", a.span, a),) if dimensions(a.type) == 1 else ()
    name = names.helper("argument")
    made.append(gprob.Declare(a.span, name, gprob.Sized(a.type, shape), None, a))
    return gprob.Var(a.type, a.span, name)


def _continued(body: Stmts, then: Callable[[gprob.Expr | None], Stmts]) -> Stmts:
    """The body with what comes then in place of returns at its ends."""
    if not body:
        return ()
    *first, last = body
    if isinstance(last, gprob.Return):
        return (*first, *then(last.value))
    if isinstance(last, gprob.If):
        last = replace(last, then=_continued(last.then, then), otherwise=_continued(last.otherwise, then))
    return (*first, last)


# --- calls -----------------------------------------------------------------------------------------------------------


def calls_in(s: gprob.Stmt) -> Iterator[gprob.CallUser]:
    """The calls in a statement that are evaluated in any case, once, before anything else happens."""
    if isinstance(s, gprob.If):
        yield from calls_of(s.condition)
    elif isinstance(s, gprob.For):
        yield from (e for bound in (s.lower, s.upper) for e in calls_of(bound))
    elif not traversal.bodies(s):
        yield from calls_of(s)


def calls_of(node: object) -> Iterator[gprob.CallUser]:
    """Those in a node."""
    if isinstance(node, gprob.CallUser):
        yield node
    for c in traversal.children(node):
        if not isinstance(node, (gprob.Cond, gprob.Logical)):
            yield from calls_of(c)


def choices_in(node: object) -> Iterator[gprob.Cond]:
    """The choices in a node that are made in any case."""
    if isinstance(node, gprob.Cond):
        yield node
    for c in traversal.children(node):
        if not isinstance(node, (gprob.Cond, gprob.Logical)):
            yield from choices_in(c)


def is_part(e: gprob.Expr) -> bool:
    """Whether an expression is a variable, a constant, or a part of one."""
    if isinstance(e, gprob.Promote):
        return is_part(e.value)
    return isinstance(e, (gprob.Var, gprob.Const)) or isinstance(e, gprob.Index) and is_part(e.base)
