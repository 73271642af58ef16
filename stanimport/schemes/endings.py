"""Statements in which parameters may end the model: where they decide what runs, an error there rejects the draw.

What would come after them does not run then. A parameter that is sampled behind one has no site in such a draw, and
whoever takes the parameters from that trace, as Pyro does from its first, would do without it.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from typing import Any

from stanlib.types import INT, scalar_of

from ..ir import gprob, traversal
from ..ir.uses import depending, walk_statements


class Endings:
    """Tells whether parameters may end a model in one of its statements; analyses the model when it is first asked."""

    def __init__(self, model: Sequence[gprob.Stmt], functions: Sequence[gprob.FunDef]):
        self.model, self.functions = model, functions
        self._known: dict[int, bool] = {}  # by the identity of statements, which the model keeps

    @cached_property
    def _dynamic(self) -> set[str]:
        return depending(self.model, [s.name for s in self.model if isinstance(s, gprob.Sample)], _read)

    @cached_property
    def _calls(self) -> frozenset[str]:
        return _deciding(self.functions)

    def __call__(self, s: gprob.Stmt) -> bool:
        if id(s) not in self._known:
            self._known[id(s)] = any(_ends(inner, self._dynamic, self._calls) for inner in walk_statements((s,)))
        return self._known[id(s)]


def _deciding(functions: Sequence[gprob.FunDef]) -> frozenset[str]:
    """The functions in which arguments that are no ints may decide what runs, also in functions that they call."""
    found: frozenset[str] = frozenset()
    while True:
        before = found
        for f in functions:
            dynamic = depending(f.body, [p.name for p in f.parameters if scalar_of(p.type) != INT], _read)
            if any(_ends(s, dynamic, before) for s in walk_statements(f.body)):
                found |= {f.name}
        if found == before:
            return found


def _read(s: gprob.Stmt) -> set[str]:
    """The variables whose values, and not only sizes, a statement reads or changes in part."""
    return {n.name for n in _values(_own(s)) if isinstance(n, (gprob.Var, gprob.Place))}


def _own(s: gprob.Stmt) -> tuple[Any, ...]:
    """The parts of a statement that are no statements."""
    return tuple(c for c in traversal.children(s) if not isinstance(c, gprob.Stmt))


def _values(nodes: tuple[object, ...]) -> Iterator[object]:
    """The nodes in expressions whose values matter, and not only their sizes."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not (isinstance(node, gprob.Apply) and node.function.shape_only):
            stack += traversal.children(node)


def _mentions(nodes: tuple[object, ...], names: Set[str]) -> bool:
    return any(isinstance(n, (gprob.Var, gprob.Place)) and n.name in names for n in _values(nodes))


def _ends(s: gprob.Stmt, dynamic: Set[str], deciding: Set[str]) -> bool:
    """Whether parameters decide what runs in a statement itself: its branches, iterations and sizes."""
    if isinstance(s, (gprob.If, gprob.While)) and _mentions((s.condition,), dynamic):
        return True
    if isinstance(s, gprob.For) and _mentions((s.lower, s.upper), dynamic):
        return True
    return any(_decides(n, dynamic, deciding) for n in _values(_own(s)))


def _decides(node: object, dynamic: Set[str], deciding: Set[str]) -> bool:
    """Whether parameters decide what runs in a node itself, or how large something is."""
    if isinstance(node, gprob.Cond):
        return _mentions((node.condition,), dynamic)
    if isinstance(node, gprob.Logical):
        return _mentions((node.left,), dynamic)
    if isinstance(node, gprob.Sized):
        return _mentions((node,), dynamic)
    if isinstance(node, gprob.CallUser) and node.function in deciding:
        return _mentions(node.arguments, dynamic)
    if isinstance(node, (gprob.Apply, gprob.CallUser)):
        return any(a.type == INT and _mentions((a,), dynamic) for a in node.arguments)
    return False
