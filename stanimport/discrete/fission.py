"""A loop whose statements set components of a container, and read them, as two loops: one that sets, one that reads.

`for (i in 1:R) { m[i, 1] = a; for (t in 2:T) m[i, t] = b * z[i, t - 1]; for (t in 1:T) z[i, t] ~ bernoulli(m[i, t]); }`
is a loop over the first two statements, and one over the last.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from ..ir import gprob, traversal, uses
from .parameters import Stmts

_WHOLE = (*uses.ESCAPES, gprob.Message)  # loops with these stay as they are


def fissioned(body: Stmts, tainted: Set[str]) -> Stmts:
    """The body with such loops, over containers that depend on discrete parameters and are set more than once."""
    writes = Counter(n for s in uses.walk_statements(body) for n in uses.writes(s))
    wanted = {
        s.name for s in body
        if isinstance(s, gprob.Declare) and s.site is None and s.name in tainted and writes[s.name] > 2 - bool(s.value)
    }  # fmt: skip
    return tuple(t for s in body for t in _apart(s, wanted)) if wanted else body


def _apart(s: gprob.Stmt, wanted: Set[str]) -> Iterator[gprob.Stmt]:
    """A statement, or the two loops that it is."""
    if not isinstance(s, gprob.For):
        yield s
        return
    s = replace(s, body=tuple(t for inner in s.body for t in _apart(inner, wanted)))
    set_ = [i for i, t in enumerate(s.body) if uses.written((t,)) & wanted]
    at = set_[-1] + 1 if set_ else 0
    first, second = s.body[:at], s.body[at:]
    if _reads(second) & uses.written(first) & wanted and _can_be_apart(s, first, second):
        yield replace(s, body=first)
        yield from _apart(replace(s, body=second), wanted)
    else:
        yield s


def _can_be_apart(loop: gprob.For, first: Stmts, second: Stmts) -> bool:
    """Whether all iterations of the first statements can come before all of the second ones."""
    if any(isinstance(t, _WHOLE) for t in uses.walk_statements(loop.body)):
        return False
    set_, read = uses.written(first), _reads(second)
    later = uses.written(second) - uses.declared(second)
    if uses.declared(first) & (read | later) or later & (_reads(first) | set_):
        return False
    if uses.names_in((loop.lower, loop.upper)) & (set_ | later):
        return False
    shared = set_ & read
    return all(_is_of_iteration(n, loop.name, first, second) for n in shared)


def _reads(body: Sequence[gprob.Stmt]) -> set[str]:
    return {n for s in uses.walk_statements(tuple(body)) for n in uses.reads(s)}


def _is_of_iteration(name: str, index: str, first: Stmts, second: Stmts) -> bool:
    """Whether an iteration touches no other components of a container than those at its own index, on one axis."""
    found: list[set[int]] = []
    for s in uses.walk_statements(first):
        if isinstance(s, gprob.Assign) and s.place.name == name:
            found.append(_axes(s.place.steps[0].indices if s.place.steps else (), index))
        elif name in uses.writes(s):
            return False
    reads = 0
    for node in traversal.walk((first, second)):
        if isinstance(node, gprob.Index) and isinstance(node.base, gprob.Var) and node.base.name == name:
            found.append(_axes(node.indices, index))
            reads += 1
    whole = sum(isinstance(n, gprob.Var) and n.name == name for n in traversal.walk((first, second)))
    return whole == reads and bool(set.intersection(*found))


def _axes(indices: Sequence[gprob.IndexExpr], name: str) -> set[int]:
    """The axes on which indices are a loop's own."""
    return {
        i for i, index in enumerate(indices)
        if isinstance(index, gprob.Single) and isinstance(index.value, gprob.Var) and index.value.name == name
    }  # fmt: skip
