"""What the statements of one function body share while they become Python: names, effects, loops around."""
from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from stanlib.constraints import BOUNDS

from ..ir import gprob, traversal
from ..ir.fresh import Fresh
from ..ir.uses import assigns, defines
from .asty import Builder
from .effects import Effect, Effects
from .expressions import Expressions

Stmts = Sequence[gprob.Stmt]
Emit = Callable[["Context", Any, Builder], list[ast.stmt]]


class Context:
    """One function body on its way to Python.

    `emit` turns one statement into Python's, `effects` writes what becomes of increments of the target.
    """

    def __init__(self, expressions: Expressions, effects: Effects, fresh: Fresh, emit: Emit):
        self.expr, self.effects, self.fresh, self.emit = expressions, effects, fresh, emit
        self.names, self.lanes = expressions.names, expressions.lanes
        self.depth = 0  # of the blocks around
        self.draws = True  # whether anything in the outermost one takes random numbers
        self.told: dict[int, tuple[Stmts, tuple[set[str], dict[str, None]]]] = {}  # of bodies, by identity
        self.limits: list[ast.stmt] | None = None  # what must be computed before the outermost traced loop around

    def block(self, body: Stmts) -> list[ast.stmt]:
        """The Python statements of a body; temporary names are free again behind each of its outermost statements."""
        out: list[ast.stmt] = []
        if not self.depth:
            self.draws = any(self.expr.draws(n) for n in traversal.walk(tuple(body)))
        self.depth += 1
        for s in body:
            out += self.emit(self, s, Builder(s.span))
            if self.depth == 1:
                self.names.release()
        self.depth -= 1
        return out

    def before_loops(self, make: Callable[[], list[ast.stmt]]) -> list[ast.stmt]:
        """A traced loop, behind what must be computed before the outermost one."""
        if self.limits is not None:
            return make()
        self.limits = []
        made = make()
        out, self.limits = [*self.limits, *made], None
        return out

    def limit(self, most: gprob.Limit | None, b: Builder) -> list[ast.expr]:
        """The most iterations that a loop inside a traced one can have, where that is told."""
        if most is None:
            return []
        assert self.limits is not None
        name = self.names.temporary("most")
        self.limits.append(b.assign(name, self.expr(most)))
        return [b.name(name)]

    def shape(self, sized: gprob.Sized, b: Builder) -> ast.expr:
        return b.tuple_([self.expr(e) for e in sized.shape])

    def constraint(self, c: gprob.Constraint | None, b: Builder) -> tuple[str | None, dict[str, ast.expr]]:
        """The name of a constrained type, and bounds by keyword."""
        if c is None:
            return None, {}
        named = {n: self.expr(e) for n, e in c.arguments}
        return (None if c.kind == BOUNDS else c.kind), named

    def passed_on(self, terms: dict[Effect, str], b: Builder) -> list[ast.stmt]:
        """What a lifted body has collected goes on to whatever is around it."""
        out: list[ast.stmt] = []
        for effect, name in terms.items():
            out += self.effects.add(effect.with_term(b.name(name)), self, b)
        return out

    def with_random(
        self, nodes: object, index: ast.expr, make: Callable[[], list[ast.stmt]], b: Builder
    ) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """A lifted body with random numbers of its own where it draws any, and what must stand before its function."""
        outer = self.expr.random
        if not self.uses_random(nodes):
            return [], make()
        each, own = self.names.temporary("random"), self.names.temporary("random")
        self.expr.random = own
        made = [b.assign(own, b.call(f"{each}.at", index)), *make()]
        self.expr.random = outer
        return [b.assign(each, b.call(f"{outer}.split"))], made

    def uses_random(self, nodes: object) -> bool:
        return self.draws and any(self.expr.draws(node) for node in traversal.walk(nodes))

    def state(self, *bodies: Stmts) -> list[str]:
        """The variables that bodies assign and that live on outside of them, in the order of the first assignment."""
        told = list(map(self._told, bodies))
        own = {n for defined, _ in told for n in defined}
        return [n for n in dict.fromkeys(n for _, found in told for n in found) if n not in own]

    def _told(self, body: Stmts) -> tuple[set[str], dict[str, None]]:
        """What statements of a body define and assign; kept for bodies around, as in a chain of `else if`."""
        if id(body) not in self.told:
            own: set[str] = set()
            found: dict[str, None] = {}
            for s in body:
                own.update(defines(s))
                found.update(dict.fromkeys(assigns(s)))
                for defined, assigned in map(self._told, traversal.bodies(s)):
                    own.update(defined)
                    found.update(assigned)
            self.told[id(body)] = body, (own, found)
        return self.told[id(body)][1]

    def results(self, call: ast.expr, names: Sequence[str], b: Builder) -> list[ast.stmt]:
        return [b.assign(b.tuple_target(names), call)] if names else [b.run(call)]
