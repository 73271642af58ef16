"""Statements with names of their own."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from . import gprob, traversal, uses
from .fresh import Fresh

Stmts = tuple[gprob.Stmt, ...]


def renamed(body: Stmts, names: Fresh) -> Stmts:
    """Statements whose own variables have names that nothing else has; they are local ones."""
    own = [n for s in uses.walk_statements(body) for n in (*uses.counts(s), *uses.defines(s))]
    return with_names(body, {n: names.helper(n) for n in dict.fromkeys(own)})


def with_names(body: Stmts, new: Mapping[str, str]) -> Stmts:
    """Statements with other names for some variables, which become local ones."""

    def change(node: object) -> object:
        if isinstance(node, gprob.Declare) and node.name in new:
            return replace(node, name=new[node.name], site=None, constraint=None)
        if isinstance(node, (gprob.Var, gprob.Place, gprob.For, gprob.ForEach)) and node.name in new:
            return replace(node, name=new[node.name])
        return node

    out: Stmts = traversal.rewrite(body, change)
    return out


def apart(body: Stmts, names: Fresh) -> Stmts:
    """A body in which no two loops have one index, and no two blocks inside of it a variable of one name."""
    seen = {s.name for s in body if isinstance(s, gprob.Declare)}
    return tuple(_apart(s, names, seen) for s in body)


def _apart(s: gprob.Stmt, names: Fresh, seen: set[str]) -> gprob.Stmt:
    def block(inner: Stmts) -> Stmts:
        inner = tuple(_apart(t, names, seen) for t in inner)
        return with_names(inner, _new((t.name for t in inner if isinstance(t, gprob.Declare)), names, seen))

    s = traversal.with_bodies(s, block)
    (out,) = with_names((s,), _new(uses.counts(s), names, seen))
    return out


def _new(own: Iterable[str], names: Fresh, seen: set[str]) -> dict[str, str]:
    """Other names for those of some variables that have been seen; all are seen from then on."""
    own = tuple(own)
    found = {n: names.helper(n) for n in own if n in seen}
    seen.update(own)
    return found
