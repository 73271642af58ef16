"""Loops over the items of what depends on discrete parameters; variables that every iteration has for itself."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from stanlib.types import MATRIX

from ..ir import gprob, traversal, uses
from ..ir.fresh import Fresh
from ..ir.renaming import with_names
from .components import component, component_type, size
from .parameters import Stmts, variable


def without_items(body: Stmts, tainted: Set[str], sizes: Mapping[str, gprob.Sized], names: Fresh) -> Stmts:
    """`for (k in z) ...` as a loop over the indices of z, as is one over data whose body depends on z."""

    def changed(s: gprob.Stmt) -> gprob.Stmt:
        s = traversal.with_bodies(s, lambda b: tuple(map(changed, b)))
        return _by_index(s, sizes, names) if isinstance(s, gprob.ForEach) and _is_plain(s, tainted) else s

    return tuple(map(changed, body))


def _is_plain(s: gprob.ForEach, tainted: Set[str]) -> bool:
    if s.container.type == MATRIX or not (uses.mentions(s.container, tainted) or _depends(s.body, tainted)):
        return False
    return not uses.names_in(s.container) & uses.written(s.body)


def _depends(body: Stmts, tainted: Set[str]) -> bool:
    return any((uses.reads(s) | set(uses.writes(s))) & tainted for s in uses.walk_statements(body))


def _by_index(s: gprob.ForEach, sizes: Mapping[str, gprob.Sized], names: Fresh) -> gprob.Stmt:
    """The loop over indices, with the item as a local variable; the loop as it is where declarations tell no size."""
    count, t = size(s.container, sizes), component_type(s.container.type)
    if count is None or t != s.element:
        return s
    index = names.helper("n")
    item = component(s.container, variable(count.type, s.span, index))
    shape = _shape(s.container, sizes)
    if shape is None:
        return s
    one = gprob.Declare(s.span, s.name, gprob.Sized(t, shape), None, item)
    return gprob.For(s.span, index, gprob.int_const(1, s.span), count, (one, *s.body))


def _shape(e: gprob.Expr, sizes: Mapping[str, gprob.Sized]) -> tuple[gprob.Expr, ...] | None:
    """The shape of the items of a container."""
    if isinstance(e, gprob.Var) and e.name in sizes:
        return sizes[e.name].shape[1:]
    return () if isinstance(e, gprob.Index) and len(e.indices) == 1 else None


def sunk(body: Stmts, tainted: Set[str], names: Fresh) -> Stmts:
    """Declarations inside the loop that alone uses the variable, where it is set anew in every iteration.

    And inside a branch that alone uses it, on each side of it.
    """
    out = list(body)
    for s in body:
        if isinstance(s, gprob.Declare) and s.site is None and s.name in tainted:
            users = [i for i, t in enumerate(out) if t is not s and _uses(t, s.name)]
            loop = out[users[0]] if len(users) == 1 else None
            if isinstance(loop, gprob.For) and _is_own(loop, s):
                out[users[0]] = replace(loop, body=(replace(s, value=None), *loop.body))
                out = [t for t in out if t is not s]
            elif isinstance(loop, gprob.If) and not uses.names_in(s) & uses.written(_between(out, s, loop)):
                new = names.helper("branch")
                out[users[0]] = branch = _in_branches(loop, s, new)
                out = [t for t in out if t is not s or branch is loop]
                tainted = tainted | {new}
    return tuple(traversal.with_bodies(s, lambda b: sunk(b, tainted, names)) for s in out)


def _between(body: Sequence[gprob.Stmt], first: gprob.Stmt, last: gprob.Stmt) -> Stmts:
    at = [i for i, s in enumerate(body) if s is first or s is last]
    return tuple(body[at[0] + 1 : at[1]])


def _in_branches(s: gprob.If, declared: gprob.Declare, new: str) -> gprob.If:
    """A branch with a declaration at the beginning of each side that uses the variable; `new` is a name for the second.

    Or the branch as it is, where it reads the variable itself.
    """
    if uses.mentions(s.condition, {declared.name}):
        return s
    sides = [(declared, *b) if any(_uses(t, declared.name) for t in b) else b for b in (s.then, s.otherwise)]
    return replace(s, then=sides[0], otherwise=with_names(sides[1], {declared.name: new}))


def _uses(s: gprob.Stmt, name: str) -> bool:
    return any(name in uses.reads(t) or name in uses.writes(t) for t in uses.walk_statements((s,)))


def _is_own(loop: gprob.For, declared: gprob.Declare) -> bool:
    """Whether an iteration begins by giving the variable a value."""
    if uses.names_in(declared.sized) & (uses.written(loop.body) | {loop.name}):
        return False
    if declared.name in uses.names_in((loop.lower, loop.upper)):
        return False
    first = next(t for t in loop.body if _uses(t, declared.name))
    return isinstance(first, gprob.Assign) and not first.place.steps and not uses.mentions(first.value, {declared.name})


def within(body: Stmts) -> Iterator[tuple[gprob.Stmt, tuple[gprob.Stmt, ...]]]:
    """The statements of a body that have none inside, each with those around it."""
    for s in body:
        if not traversal.bodies(s):
            yield s, ()
        for b in traversal.bodies(s):
            for inner, path in within(b):
                yield inner, (s, *path)
