"""Loops inside of one another, and what can be told of the inner ones before the outermost begins."""
from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from ..ir import gprob, traversal
from ..ir.uses import assigned, counts, defines, walk_statements, writes

Stmts = tuple[gprob.Stmt, ...]


class Nest:
    """A traced loop, those inside of it around a place, and the definitions that stand between them.

    `inline` writes an expression in terms of what is known before the outermost loop and the loops' indices.
    """

    def __init__(
        self, static: Callable[[gprob.Expr], bool], assigned: Container[str], written: Container[str],
        declared: Container[str], loops: tuple[gprob.For, ...], definitions: Mapping[str, gprob.Expr],
    ):  # fmt: skip
        self.static, self.assigned, self.written, self.declared = static, assigned, written, declared
        self.loops, self.definitions = loops, dict(definitions)

    @classmethod
    def of(cls, loop: gprob.For, static: Callable[[gprob.Expr], bool]) -> Nest:
        """The nest whose outermost loop this is."""
        inner = {name for s in walk_statements(loop.body) for name in (*counts(s), *writes(s))}
        return cls(static, assigned(loop.body), inner, _defined(loop.body), (loop,), {})

    @property
    def indices(self) -> set[str]:
        return {loop.name for loop in self.loops}

    def inside(self, loop: gprob.For) -> Nest:
        loops = (*self.loops, loop)
        return Nest(self.static, self.assigned, self.written, self.declared, loops, self.definitions)

    def define(self, name: str, value: gprob.Expr) -> None:
        inlined = None if name in self.assigned else self.inline(value)
        if inlined is not None:
            self.definitions[name] = inlined

    def inline(self, e: gprob.Expr) -> gprob.Expr | None:
        """The expression over static variables and loop indices alone, or None."""
        indices, sized = self.indices, self._only_sized(e)
        failed = False

        def change(node: object) -> object:
            nonlocal failed
            if isinstance(node, gprob.Var) and node.name not in indices and id(node) not in sized:
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

    def _only_sized(self, e: gprob.Expr) -> set[int]:
        """The variables in an expression, by identity, of which it asks what is known whatever their values: sizes.

        An assignment does not change the size of a variable that is declared around the outermost loop.
        """
        changing, out = {*self.indices, *self.definitions}, set[int]()
        for n in (n for n in traversal.walk(e) if isinstance(n, gprob.Apply) and self.static(n)):
            inside = [v for v in traversal.walk(n) if isinstance(v, gprob.Var)]
            is_size = n.function.shape_only and isinstance(n.arguments[0], gprob.Var)
            fixed = self.declared if is_size else self.written
            if not any(v.name in changing or v.name in fixed for v in inside):
                out |= set(map(id, inside))
        return out


def _defined(body: Stmts) -> set[str]:
    """What comes into being inside of a loop, indices among it."""
    return {name for s in walk_statements(body) for name in (*counts(s), *defines(s))}
