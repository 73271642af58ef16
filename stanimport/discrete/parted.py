"""Terms that read elements in some iterations only, as data tell, apart from those of the others.

`x[n] ~ bernoulli(p);` of data beside elements is a term of an element in the iterations where `x[n]` is one, and a term
of none in all others: what doesn't depend on an element needs no table of all its values.
"""
from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Any

from ..ir import gprob, traversal, typed, uses
from ..ir.likeness import same
from .parameters import Stmts

_MOST = 3  # choices in one statement: each doubles it


def parted(body: Stmts, tainted: Set[str], static: Set[str]) -> Stmts:
    """The body with branches in place of choices by data between what depends on different discrete parameters."""
    return tuple(_parted(s, tainted, static, _MOST) for s in body)


def _parted(s: gprob.Stmt, tainted: Set[str], static: Set[str], most: int) -> gprob.Stmt:
    """The same of one statement, of which so many choices may be made."""
    if isinstance(s, gprob.For):
        inner = static | {s.name}
        return _outside(replace(s, body=parted(s.body, tainted, inner)), static)
    if not isinstance(s, (typed.Tilde, typed.Increment)):
        return traversal.with_bodies(s, lambda b: parted(b, tainted, static))
    choice = next((n for n in uses.own_nodes(s) if _decides(n, tainted, static)), None) if most else None
    if choice is None:
        return s
    assert isinstance(choice, gprob.Cond)
    sides = (_parted(_chosen(s, choice.condition, i), tainted, static, most - 1) for i in (0, 1))
    then, otherwise = sides
    return gprob.If(s.span, choice.condition, (then,), (otherwise,))


def _outside(loop: gprob.For, static: Set[str]) -> gprob.Stmt:
    """A loop of nothing but one branch by data that is the same in all iterations as a branch between loops."""
    branch = loop.body[0] if len(loop.body) == 1 else None
    if not isinstance(branch, gprob.If) or not uses.names_in(branch.condition) <= static - {loop.name}:
        return loop
    if not any(isinstance(t, (typed.Tilde, typed.Increment)) for t in uses.walk_statements(loop.body)):
        return loop
    sides = ((replace(loop, body=b),) if b else () for b in (branch.then, branch.otherwise))
    then, otherwise = sides
    return replace(branch, then=then, otherwise=otherwise)


def _decides(e: object, tainted: Set[str], static: Set[str]) -> bool:
    """Whether data choose between what depends on different discrete parameters."""
    if not isinstance(e, gprob.Cond) or not uses.names_in(e.condition) <= static:
        return False
    return uses.names_in(e.then) & tainted != uses.names_in(e.otherwise) & tainted


def _chosen(s: gprob.Stmt, condition: gprob.Expr, side: int) -> Any:
    """The statement with one side of all choices by a condition."""

    def change(e: object) -> object:
        if isinstance(e, gprob.Cond) and same(e.condition, condition):
            return (e.then, e.otherwise)[side]
        return e

    return traversal.rewrite(s, change)
