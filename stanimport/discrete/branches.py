"""Branches and steps to one value as values: `if (c) x = a; else x = b;` is `x = c ? a : b;`."""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from ..ir import gprob, traversal, uses
from ..ir.fresh import Fresh
from ..ir.likeness import same
from ..ir.unpacking import unpacked
from .components import flattened
from .parameters import Stmts

_LARGE = 400  # nodes of a value that does not take the place of a variable


def without_continue(body: Stmts) -> Stmts:
    """`if (c) { ...; continue; } rest` in a loop as `if (c) { ... } else { rest }`."""
    out: list[gprob.Stmt] = []
    for at, s in enumerate(body):
        s = traversal.with_bodies(s, without_continue)
        if isinstance(s, gprob.If) and not s.otherwise and s.then and isinstance(s.then[-1], gprob.Continue):
            if not any(isinstance(t, uses.BREAKS) for t in s.then[:-1]):
                rest_ = without_continue(body[at + 1 :])
                return (*out, replace(s, then=s.then[:-1], otherwise=rest_))
        out.append(s)
    return tuple(out)


def without_patterns(body: Stmts, names: Fresh) -> Stmts:
    """`(a, b) = value;` as single assignments."""
    parts = (unpacked(s, names) if isinstance(s, gprob.Unpack) else (s,) for s in body)
    return tuple(traversal.with_bodies(s, lambda b: without_patterns(b, names)) for part in parts for s in part)


def with_conditions(body: Stmts) -> Stmts:
    """`if (c) x = a; else x = b;` as `x = c ? a : b;`."""
    return tuple(_with_condition(traversal.with_bodies(s, with_conditions)) for s in body)


def _with_condition(s: gprob.Stmt) -> gprob.Stmt:
    if not isinstance(s, gprob.If) or len(s.then) != 1 or len(s.otherwise) != 1:
        return s
    a, b = s.then[0], s.otherwise[0]
    if not isinstance(a, gprob.Assign) or not isinstance(b, gprob.Assign) or not same(a.place, b.place):
        return s
    return replace(a, span=s.span, value=gprob.Cond(a.place.type, s.span, s.condition, a.value, b.value))


# --- several assignments to one place --------------------------------------------------------------------------------


def composed(body: Stmts, tainted: Set[str]) -> Stmts:
    """`x = a; x += b;` as `x = a + b;`, and `x = a; if (c) x = b;` as `x = c ? b : a;`, where x is in `tainted`."""
    out: list[gprob.Stmt] = []
    for s in body:
        s = traversal.with_bodies(s, lambda b: composed(b, tainted))
        for part in _one_by_one(s, tainted):
            part = _with_condition(part)
            found = _composed(out, part) if uses.written((part,)) & tainted else None
            if found is None:
                out.append(part)
            else:
                at, made = found
                del out[at]
                out.append(made)
    return tuple(out)


def _one_by_one(s: gprob.Stmt, tainted: Set[str]) -> Iterator[gprob.Stmt]:
    """A branch that assigns to several variables as branches that assign to one."""
    inner = list(uses.walk_statements((s,)))
    names = dict.fromkeys(t.place.name for t in inner if isinstance(t, gprob.Assign))
    if len(names) < 2 or not tainted & names.keys() or not all(_is_apart(t, names.keys()) for t in inner):
        yield s
        return
    for n in names:
        yield from _only_of(s, n)


def _is_apart(s: gprob.Stmt, names: Set[str]) -> bool:
    """Whether a statement is a branch, or assigns to one of the variables what the others have no part in."""
    if isinstance(s, gprob.If):
        return not uses.mentions(s.condition, names)
    return isinstance(s, gprob.Assign) and not uses.mentions((s.value, s.place.steps), names - {s.place.name})


def _only_of(s: gprob.Stmt, name: str) -> Iterator[gprob.Stmt]:
    """What a branch assigns to one variable."""
    if isinstance(s, gprob.If):
        inner = traversal.with_bodies(s, lambda b: tuple(x for t in b for x in _only_of(t, name)))
        if any(traversal.bodies(inner)):
            yield inner
    elif isinstance(s, gprob.Assign) and s.place.name == name:
        yield s


def _composed(before: Sequence[gprob.Stmt], s: gprob.Stmt) -> tuple[int, gprob.Stmt] | None:
    """Where the assignment stands that a statement continues, and both in one."""
    last = _change(s)
    if last is None:
        return None
    between: set[str] = set()
    for at in reversed(range(len(before))):
        first = before[at]
        if last.place.name in uses.written((first,)):
            return None if (made := _joined(first, last, s, between)) is None else (at, made)
        inner = list(uses.walk_statements((first,)))
        if any(last.place.name in uses.reads(t) or isinstance(t, uses.ESCAPES) for t in inner):
            return None
        between |= uses.written((first,))
    return None


def _change(s: gprob.Stmt) -> gprob.Assign | None:
    """The assignment that a statement is, or does under a condition."""
    if isinstance(s, gprob.If) and len(s.then) == 1 and not s.otherwise:
        s = s.then[0]
    elif isinstance(s, gprob.If) and len(s.otherwise) == 1 and not s.then:
        s = s.otherwise[0]
    return s if isinstance(s, gprob.Assign) else None


def _joined(first: gprob.Stmt, last: gprob.Assign, s: gprob.Stmt, between: Set[str]) -> gprob.Stmt | None:
    """`first` with the value after `s`, which does `last`; None if `between` changes what it needs, for one."""
    if isinstance(first, gprob.Declare):
        if first.value is None or last.place.steps or first.site is not None:
            return None
    elif not isinstance(first, gprob.Assign) or not same(first.place, last.place):
        return None
    assert first.value is not None
    if uses.names_in((first.value, *_expressions(last.place))) & between:
        return None
    now, read = first.value, flattened_read(last.place)

    def earlier(e: gprob.Expr) -> gprob.Expr:
        if same(e, read):
            return now
        out: gprob.Expr = traversal.rewrite_parts(e, earlier)
        return out

    value = earlier(last.value)
    if isinstance(s, gprob.If):
        arms = (value, now) if s.then else (now, value)
        value = gprob.Cond(last.place.type, s.span, earlier(s.condition), *arms)
    if uses.mentions(value, {last.place.name}) or sum(1 for _ in traversal.walk(value)) > _LARGE:
        return None
    return replace(first, span=s.span, value=value)


def _expressions(place: gprob.Place) -> tuple[gprob.Step, ...]:
    return place.steps


def flattened_read(place: gprob.Place) -> gprob.Expr:
    """The value that a place holds, with all indices in one."""
    e = place.read()
    return flattened(e) if isinstance(e, gprob.Index) else e
