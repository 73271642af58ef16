"""The ints of data that decide what expressions in loops are: `y[n]` and `n` in `poisson_lpmf(y[n] | lambda[n])`."""
from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from stanlib.types import INT

from ..ir import gprob, traversal, uses
from ..ir.calls import call
from ..ir.likeness import same

# Of a read of a container, an int that says what is read and the indices that say more of it, if there is one.
Number = Callable[[gprob.Index], tuple[gprob.Expr, tuple[gprob.IndexExpr, ...]] | None]


def nothing(e: gprob.Index) -> None:
    """What is told of containers of which nothing is known."""


def collect(
    node: Any, indices: Set[str], static: Set[str], keys: list[gprob.Expr], number: Number,
    guard: gprob.Expr | None = None,
) -> None:  # fmt: skip
    """Adds the ints of data in which indices of loops stand, and the indices that stand elsewhere.

    Args:
        number: what containers say.
        guard: what data have to say for the node to be evaluated.
    """
    key = isinstance(node, gprob.Var) and node.name in indices
    parts = node if isinstance(node, tuple) else traversal.children(node)
    if isinstance(node, gprob.Index) and uses.mentions(node, indices):
        if node.type == INT:
            key = uses.names_in(node) <= static | indices
        elif (found := number(node)) is not None:
            node, parts = found
            collect(parts, indices, static, keys, number, guard)
            key = True
    if key:
        node = _guarded(node, guard)
        keys += () if any(same(node, k) for k in keys) else (node,)
        return
    for c, own in _evaluated(node, indices | static, guard) or ((c, guard) for c in parts):
        collect(c, indices, static, keys, number, own)


def _guarded(key: gprob.Expr, guard: gprob.Expr | None) -> gprob.Expr:
    """An int where it is evaluated, else 0."""
    if guard is None or isinstance(key, gprob.Var):
        return key
    return gprob.Cond(INT, key.span, guard, key, gprob.int_const(0, key.span))


def _evaluated(
    node: object, known: Set[str], guard: gprob.Expr | None
) -> tuple[tuple[gprob.Expr, gprob.Expr | None], ...]:  # fmt: skip
    """The parts of what data alone choose from, with what they have to say for each; nothing for other nodes."""
    if not isinstance(node, (gprob.Cond, gprob.Logical)):
        return ()
    first = node.condition if isinstance(node, gprob.Cond) else node.left
    if not uses.names_in(first) <= known:
        return ()
    holds, fails = _both(guard, first), _both(guard, call("logical_negation", first.span, first))
    if isinstance(node, gprob.Cond):
        return (first, guard), (node.then, holds), (node.otherwise, fails)
    return (first, guard), (node.right, holds if node.operator == "&&" else fails)


def _both(guard: gprob.Expr | None, condition: gprob.Expr) -> gprob.Expr:
    return condition if guard is None else gprob.Logical(INT, condition.span, "&&", guard, condition)
