"""What is known of a body: which values depend on data alone, and how its loops run."""
from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from . import gprob, traversal
from .gprob import Loop
from .uses import assigned, counts, walk_statements, writes


class Callees(Protocol):
    """What the analysis asks of user functions."""

    def is_random(self, key: str) -> bool:
        """Whether a function draws random numbers."""

    def shaped_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments that decide shapes or the bounds of loops in a function."""

    def is_dynamic(self, key: str, arguments: tuple[bool, ...], random_is_dynamic: bool) -> bool:
        """Whether the result of a call is dynamic, given which arguments are, and whether random numbers are."""


@dataclass
class BindingTimes:
    """The result for one body: dynamic variables, and how each loop (by identity) runs.

    `traces` says whether the backend traces control flow over dynamic values; else all loops run in Python. With
    `flat` the analysis asks what would be dynamic if the iterations of a loop were all alike to the backend.
    """

    callees: Callees
    traces: bool = True
    random_is_dynamic: bool = False
    flat: bool = False
    dynamic: set[str] = field(default_factory=set)
    loops: dict[int, Loop] = field(default_factory=dict)

    def is_dynamic(self, e: object) -> bool:
        """Whether an expression (or index) may depend on parameters."""
        if isinstance(e, gprob.Var):
            return e.name in self.dynamic
        if isinstance(e, gprob.Apply):
            if e.function.shape_only:
                return False
            return self.random_is_dynamic and e.function.random or any(map(self.is_dynamic, e.arguments))
        if isinstance(e, gprob.CallUser):
            flags = tuple(map(self.is_dynamic, e.arguments))
            return self.callees.is_dynamic(e.function, flags, self.random_is_dynamic)
        if isinstance(e, gprob.TargetValue):
            return True
        return any(map(self.is_dynamic, traversal.children(e)))

    def draws(self, node: object) -> bool:
        """Whether random numbers are drawn anywhere in an expression or statement."""
        for n in traversal.walk(node):
            if isinstance(n, gprob.Apply) and n.function.random:
                return True
            if isinstance(n, gprob.CallUser) and self.callees.is_random(n.function):
                return True
        return False

    def loop(self, s: gprob.For) -> Loop:
        return self.loops[id(s)]


class Nest:
    """A traced loop, those inside of it around a place, and the definitions that stand between them.

    `inline` writes an expression in terms of what is known before the outermost loop and the loops' indices.
    """

    def __init__(
        self, static: Callable[[gprob.Expr], bool], assigned: Container[str], written: Container[str],
        loops: tuple[gprob.For, ...], definitions: Mapping[str, gprob.Expr],
    ):  # fmt: skip
        self.static, self.assigned, self.written, self.loops = static, assigned, written, loops
        self.definitions = dict(definitions)

    @classmethod
    def of(cls, loop: gprob.For, static: Callable[[gprob.Expr], bool]) -> "Nest":
        """The nest whose outermost loop this is."""
        inner = {name for s in walk_statements(loop.body) for name in (*counts(s), *writes(s))}
        return cls(static, assigned(loop.body), inner, (loop,), {})

    def inside(self, loop: gprob.For) -> "Nest":
        return Nest(self.static, self.assigned, self.written, (*self.loops, loop), self.definitions)

    def define(self, name: str, value: gprob.Expr) -> None:
        inlined = None if name in self.assigned else self.inline(value)
        if inlined is not None:
            self.definitions[name] = inlined

    def inline(self, e: gprob.Expr) -> gprob.Expr | None:
        """The expression over static variables and loop indices alone, or None."""
        indices = {loop.name for loop in self.loops}
        failed = False

        def change(node: object) -> object:
            nonlocal failed
            if isinstance(node, gprob.Var) and node.name not in indices:
                if node.name in self.definitions:
                    return self.definitions[node.name]
                failed = failed or node.name in self.written or not self.static(node)
            elif isinstance(node, (gprob.CallUser, gprob.TargetValue)):
                failed = True
            elif isinstance(node, gprob.Apply):
                failed = failed or node.function.random
            return node

        made: gprob.Expr = traversal.rewrite(e, change)
        return None if failed else made
