"""Declarations move into the loop that alone uses them: a variable of every iteration is none that it carries on."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...middle import gprob
from .accesses import of_statement, written
from .affine import mentions
from .private import is_private

Stmts = tuple[gprob.Stmt, ...]


def run(body: Sequence[gprob.Stmt], sizes: Mapping[str, gprob.Sized]) -> Stmts:
    """The body with declarations as far inside as they can stand."""
    block = list(body)
    for s in body:
        if isinstance(s, gprob.Declare) and s.value is None and s.site is None:
            _sink(s, block, sizes)
    return tuple(_inside(s, sizes) for s in block)


def _sink(declaration: gprob.Declare, block: list[gprob.Stmt], sizes: Mapping[str, gprob.Sized]) -> None:
    """Move a declaration into the loop of a block that alone uses the variable, if it needs nothing from before."""
    users = [s for s in block if s is not declaration and _uses(s, declaration.name)]
    if len(users) != 1 or not isinstance(users[0], gprob.For):
        return
    loop = users[0]
    if mentions(declaration.sized, written(loop.body) | {loop.name}) or not is_private(
        loop.body, declaration.name, sizes, lasting=False
    ):
        return
    block[block.index(loop)] = replace(loop, body=(declaration, *loop.body))
    block.remove(declaration)


def _uses(s: gprob.Stmt, name: str) -> bool:
    return any(a.name == name for a in of_statement(s)) or any(
        isinstance(n, gprob.Deterministic) and n.name == name or isinstance(n, gprob.Check) and n.name == name
        for n in gprob.walk(s)
    )


def _inside(s: gprob.Stmt, sizes: Mapping[str, gprob.Sized]) -> gprob.Stmt:
    if isinstance(s, (gprob.For, gprob.While)):
        return replace(s, body=run(s.body, sizes))
    if isinstance(s, gprob.If):
        return replace(s, then=run(s.then, sizes), otherwise=run(s.otherwise, sizes))
    return s
