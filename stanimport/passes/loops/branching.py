"""Variables that only the sides of a branch use are computed inside of them.

A loop runs each side of a branch for the iterations that take it; what is computed there is computed for those alone.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir import gprob, traversal
from ...ir.uses import mentions, written
from ..surroundings import Surroundings
from .accesses import of_statement

Stmts = tuple[gprob.Stmt, ...]


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with definitions in loops moved into the branches that use them."""
    return _block(body, False)


def _block(body: Sequence[gprob.Stmt], inside: bool) -> Stmts:
    """The same of a block; `inside` tells that a loop is around."""
    block = list(body)
    if inside:
        for s in body:
            if isinstance(s, gprob.Declare) and s.value is not None and s.site is None and _is_plain(s.value):
                _move(s, block)
    return tuple(_deeper(s, inside) for s in block)


def _deeper(s: gprob.Stmt, inside: bool) -> gprob.Stmt:
    if isinstance(s, gprob.For):
        return replace(s, body=_block(s.body, True))
    if isinstance(s, gprob.If):
        return replace(s, then=_block(s.then, inside), otherwise=_block(s.otherwise, inside))
    return s


def _move(definition: gprob.Declare, block: list[gprob.Stmt]) -> None:
    """Move a definition into the only statement that uses it, if that is a branch and all uses are on its sides."""
    users = [s for s in block if s is not definition and any(a.name == definition.name for a in of_statement(s))]
    if len(users) != 1 or not isinstance(users[0], gprob.If):
        return
    branch, name = users[0], definition.name
    between = block[block.index(definition) + 1 : block.index(branch)]
    changed = written(between) | written([branch])
    if mentions(branch.condition, {name}) or mentions(definition.value, changed) or name in written([branch]):
        return
    sides = [
        (definition, *side) if any(a.name == name for s in side for a in of_statement(s)) else side
        for side in (branch.then, branch.otherwise)
    ]
    block[block.index(branch)] = replace(branch, then=sides[0], otherwise=sides[1])
    block.remove(definition)


def _is_plain(e: gprob.Expr) -> bool:
    """Whether an expression can be computed twice, or not at all, without any difference."""
    for n in traversal.walk(e):
        if isinstance(n, (gprob.CallUser, gprob.TargetValue)):
            return False
        if isinstance(n, gprob.Apply) and (n.function.random or n.function.effect or n.function.raw):
            return False
    return True
