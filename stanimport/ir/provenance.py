"""Of which data the values are that statements add to the target: of a density those of its outcome."""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from stanlib.types import INT

from . import gprob, traversal
from .uses import DENSITIES, TAILS, is_density_of, leaves, walk_statements


class Provenance:
    """Of which data values in a body are made, through its local variables.

    `data` are the variables whose values count. Sizes, indices and conditions make no value, nor do the parameters of
    a density.
    """

    def __init__(self, body: Sequence[gprob.Stmt], data: Set[str]):
        self.data = data
        self.values: dict[str, list[gprob.Expr]] = {}
        for s, _ in leaves(body):
            for name, value in _given(s):
                self.values.setdefault(name, []).append(value)
        for s in walk_statements(body):
            if isinstance(s, gprob.ForEach):
                self.values.setdefault(s.name, []).append(s.container)

    def of(self, e: gprob.Expr) -> set[str]:
        """The data that an expression is made of."""
        return {n.name for n in self.reached(e) if isinstance(n, gprob.Var) and n.name in self.data}

    def reached(self, e: gprob.Expr) -> Iterator[traversal.Node]:
        """The nodes that make the value of an expression, those of what was assigned to its variables too."""
        waiting: list[traversal.Node] = [e]
        seen: set[str] = set()
        while waiting:
            node = waiting.pop()
            yield node
            if isinstance(node, gprob.Var) and node.name in self.values and node.name not in seen:
                seen.add(node.name)
                waiting += self.values[node.name]
            waiting += _parts(node)

    def has_density(self, e: gprob.Expr) -> bool:
        """Whether a value is made of densities, and not of distribution functions alone."""
        return any(is_density_of(n) for n in self.reached(e))


def _given(s: gprob.Stmt) -> Iterator[tuple[str, gprob.Expr]]:
    """The variables to which a statement gives values, or values of parts, with these."""
    if isinstance(s, gprob.Declare) and s.value is not None:
        yield s.name, s.value
    elif isinstance(s, gprob.Assign):
        yield s.place.name, s.value
    elif isinstance(s, gprob.Unpack):
        yield from ((n.name, s.value) for n in traversal.walk(s.places) if isinstance(n, gprob.Place))
    elif isinstance(s, gprob.Bind) and s.name is not None:
        yield s.name, s.call


def _parts(node: traversal.Node) -> Sequence[traversal.Node]:
    """The nodes below one that make its value."""
    if isinstance(node, (gprob.Index, gprob.Item)):
        return (node.base,)
    if isinstance(node, gprob.Cond):
        return (node.then, node.otherwise)
    if is_density_of(node, (*DENSITIES, *TAILS)):
        return node.arguments[:1]
    if isinstance(node, gprob.Apply):
        if node.function.shape_only:
            return ()
        return [a for a in node.arguments if a.type != INT or node.type == INT]  # sizes and places, as in head(y, K)
    if isinstance(node, gprob.CallUser):
        return [a for a in node.arguments if a.type != INT]
    return traversal.children(node) if isinstance(node, gprob.Expr) else ()
