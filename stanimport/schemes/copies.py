"""Local variables that hold a part of the data, as that part where their densities are taken.

`vector[k] own = segment(y, first, k); own ~ multi_normal(m, S);` observes `y`, and is told to.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from functools import partial

from ..ir import gprob, traversal, typed
from ..ir.uses import is_density_of, is_tail, mentions, written
from .sites import root

Stmts = tuple[gprob.Stmt, ...]
Copies = Mapping[str, gprob.Expr]  # what local variables hold, by name


def without_copies(body: Stmts, data: Set[str], dynamic: Set[str]) -> Stmts:
    """The statements, whose densities are of the data themselves.

    Args:
        data: the variables from outside the body that parameters don't change.
        dynamic: those that parameters decide.
    """
    return _statements(body, {}, data, dynamic)


def _statements(body: Stmts, held: Copies, data: Set[str], dynamic: Set[str]) -> Stmts:
    return tuple(_block(body, held, data, dynamic))


def _block(body: Stmts, held: Copies, data: Set[str], dynamic: Set[str]) -> Iterator[gprob.Stmt]:
    """The statements of a block, in front of which variables hold what is known."""
    for s in body:
        if inside := traversal.bodies(s):
            kept = _without(held, written((s,)))  # a loop comes back after what it writes
            yield traversal.with_bodies(s, partial(_statements, held=kept, data=data, dynamic=dynamic))
        else:
            yield _of_data(s, held)
        held = _without(held, written((s,)))
        if not inside and isinstance(s, gprob.Declare) and s.value is not None and s.site is None:
            value = traversal.substituted(s.value, held)
            if root(value) in data and not mentions(value, dynamic):
                held = {**held, s.name: value}


def _without(held: Copies, changed: Set[str]) -> Copies:
    """What is still held after other values were assigned to some variables."""
    gone = {n for n, value in held.items() if n in changed or mentions(value, changed)}
    return {n: value for n, value in held.items() if n not in gone} if gone else held


def _of_data(s: gprob.Stmt, held: Copies) -> gprob.Stmt:
    """A statement whose densities are of what variables hold."""
    if not held:
        return s
    if isinstance(s, typed.Tilde):
        s = replace(s, value=traversal.substituted(s.value, held))
    return traversal.rewrite_parts(s, lambda e: traversal.rewrite(e, lambda n: _density_of_data(n, held)))


def _density_of_data(node: object, held: Copies) -> object:
    if not (is_density_of(node) or is_tail(node)):
        return node
    outcome, *others = node.arguments
    return replace(node, arguments=(traversal.substituted(outcome, held), *others))
