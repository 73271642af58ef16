"""What depends on discrete parameters, and which functions add to the target."""
from __future__ import annotations

from collections.abc import Iterable

from ..ir import gprob, traversal, typed, uses
from .parameters import Stmts


def tainted(body: Stmts, start: Iterable[str]) -> set[str]:
    """The variables of a body that depend on others, by their values or by what decides whether they are set."""
    found = set(start)
    while True:
        before = len(found)
        _mark(body, found, False)
        if len(found) == before:
            return found


def _mark(body: Stmts, found: set[str], controlled: bool) -> None:
    for s in body:
        depends = controlled or bool(uses.reads(s) & found)
        if depends:
            found |= set(uses.writes(s))
            if isinstance(s, (gprob.For, gprob.ForEach)):
                found.add(s.name)
        for b in traversal.bodies(s):
            _mark(b, found, depends)


def adding_functions(program: typed.TypedProgram) -> set[str]:
    """The program's functions that add to the target, or call one that does."""
    found: set[str] = set()
    while True:
        before = len(found)
        for f in program.functions:
            for node in traversal.walk(f.body):
                if isinstance(node, (typed.Tilde, typed.Increment)):
                    found.add(f.name)
                elif isinstance(node, gprob.CallUser) and node.function in found:
                    found.add(f.name)
        if len(found) == before:
            return found
