"""Local variables that data alone decide and that nothing changes once they are read: computed before all else.

Then they may stand in indices and bounds as transformed data do.
"""
from __future__ import annotations

from collections.abc import Set

from ..ir import gprob, uses
from .parameters import Stmts

_PLAIN = (gprob.Declare, gprob.Assign, gprob.For, gprob.ForEach, gprob.If)


def known_first(body: Stmts, static: Set[str]) -> tuple[Stmts, Stmts]:
    """The statements of a body that set such variables, and the others.

    Args:
        static: The variables that depend on data alone.
    """
    found = _settled(body, static)
    return tuple(s for s in body if _sets(s, found)), tuple(s for s in body if not _sets(s, found))


def _sets(s: gprob.Stmt, names: Set[str]) -> bool:
    return bool(uses.written((s,)) & names)


def _settled(body: Stmts, static: Set[str]) -> set[str]:
    """The variables of the body which only statements of their own set, from data, before any other reads them."""
    found = {s.name for s in body if isinstance(s, gprob.Declare) and s.site is None}
    while True:
        before = len(found)
        for s in body:
            if not _is_known(s, static | found) or not _outlive(s) <= found:  # it can't stand earlier in part
                found -= uses.written((s,))
        read: set[str] = set()
        for s in body:
            if _sets(s, found):
                found -= uses.written((s,)) & read
            else:
                read |= _read(s)
        if len(found) == before:
            return found


def _outlive(s: gprob.Stmt) -> set[str]:
    """The variables which a statement sets that are there after it."""
    return uses.written((s,)) - _inner(s)


def _inner(s: gprob.Stmt) -> set[str]:
    return uses.loop_indices((s,)) | {n for t in uses.walk_statements((s,)) if t is not s for n in uses.defines(t)}


def _read(s: gprob.Stmt) -> set[str]:
    return {n for t in uses.walk_statements((s,)) for n in uses.reads(t)}


def _is_known(s: gprob.Stmt, known: Set[str]) -> bool:
    """Whether a statement sets variables, and nothing but data decides what it does."""
    plain = all(isinstance(t, _PLAIN) for t in uses.walk_statements((s,)))
    return plain and _read(s) <= known | _inner(s)
