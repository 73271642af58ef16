"""What no backend that traces control flow knows, wherever a program gets: parameters, and what they decide.

Binding times tell what may depend on parameters. Here is what does: the variables that are unknown behind a statement
are those that got a value of unknown ones, or any value in a branch or `while` that unknown values decide.
"""
from __future__ import annotations

from collections.abc import Callable, Set

from ..ir import gprob, traversal
from ..ir.specialised import Specialised
from ..ir.uses import own_nodes, writes, written

Stmts = tuple[gprob.Stmt, ...]
Tell = Callable[[traversal.Node, Set[str]], None]
_SAME = (gprob.Promote, gprob.Fitted, gprob.Copied, gprob.Converted)  # values that are as known as another one


def of_model(made: Specialised) -> list[tuple[traversal.Node, Set[str]]]:
    """The nodes of what the model runs, in its functions too, each with the variables that are unknown there."""
    functions = {v.definition.name: v.definition for v in made.variants}
    found: list[tuple[traversal.Node, Set[str]]] = []
    seen = {("model", frozenset[str]())}
    waiting = [*seen]

    def tell(node: traversal.Node, unknown: Set[str]) -> None:
        found.append((node, unknown))
        if isinstance(node, gprob.CallUser) and node.function in functions:
            called = functions[node.function]
            given = (p.name for p, a in zip(called.parameters, node.arguments) if depends(a, unknown))
            asked = called.name, frozenset(given)
            if asked not in seen:
                seen.add(asked)
                waiting.append(asked)

    while waiting:
        name, unknown = waiting.pop()
        body = made.blocks[name] if name == "model" else functions[name].body
        _Walk(tell).block(body, set(unknown))
    return found


def depends(e: object, unknown: Set[str]) -> bool:
    """Whether a value is computed from unknown ones; not where it may as well be a constant, as an item of a tuple."""
    if isinstance(e, gprob.Var):
        return e.name in unknown
    if isinstance(e, gprob.Cond):
        return depends(e.condition, unknown) or depends(e.then, unknown) and depends(e.otherwise, unknown)
    if isinstance(e, gprob.Logical):
        return depends(e.left, unknown)
    if isinstance(e, gprob.Apply):
        return not e.function.shape_only and any(depends(a, unknown) for a in e.arguments)
    if isinstance(e, gprob.Index):
        chosen = (i.value for i in e.indices if isinstance(i, gprob.Single))
        return any(depends(part, unknown) for part in (e.base, *chosen))
    if isinstance(e, gprob.MakeArray):
        return any(depends(item, unknown) for item in e.items)
    return isinstance(e, _SAME) and depends(e.value, unknown)


class _Walk:
    """Tells every node of a body with what is unknown there."""

    def __init__(self, tell: Tell):
        self.tell = tell

    def block(self, body: Stmts, unknown: set[str]) -> set[str]:
        """What is unknown behind the statements, of what is unknown before."""
        for s in body:
            for node in own_nodes(s):
                self.tell(node, unknown)
            unknown = self._behind(s, unknown)
        return unknown

    def _behind(self, s: gprob.Stmt, unknown: set[str]) -> set[str]:
        """What is unknown behind a statement; it tells the nodes of those inside."""
        if isinstance(s, gprob.If):
            sides = [self.block(b, unknown) for b in traversal.bodies(s)]
            decided = written(s.then) | written(s.otherwise) if depends(s.condition, unknown) else set()
            return sides[0] & sides[1] | decided
        if isinstance(s, gprob.While) and depends(s.condition, unknown):
            self.block(s.body, unknown | written(s.body))
            return unknown | written(s.body)
        if inside := traversal.bodies(s):
            before = unknown - written(inside[0])  # which iterations before may have made known
            if isinstance(s, gprob.For) and not s.lanes and (depends(s.lower, unknown) or depends(s.upper, unknown)):
                before |= {s.name}  # which the backend counts
            return unknown & self.block(inside[0], before)
        return self._behind_leaf(s, unknown)

    def _behind_leaf(self, s: gprob.Stmt, unknown: set[str]) -> set[str]:
        """What is unknown behind a statement with no others inside."""
        if isinstance(s, (gprob.Sample, gprob.Param)):
            return unknown | {s.name}
        if isinstance(s, gprob.Assign) and s.place.steps:
            return unknown | self._spoilt(s.place, s.value, unknown)
        if isinstance(s, gprob.Accumulate):
            return unknown  # more of what is there
        value = s.value if isinstance(s, (gprob.Declare, gprob.Assign)) else None
        names = set(writes(s))
        return unknown | names if depends(value, unknown) else unknown - names

    @staticmethod
    def _spoilt(place: gprob.Place, value: gprob.Expr, unknown: Set[str]) -> Set[str]:
        """The array of which a part becomes unknown: an array is known as a whole or not at all, a tuple by its items.
        """
        if any(step.item for step in place.steps):
            return set()
        indices = (i for step in place.steps for i in step.indices)
        chosen = (i.value for i in indices if isinstance(i, gprob.Single))
        return {place.name} if any(depends(e, unknown) for e in (value, *chosen)) else set()
