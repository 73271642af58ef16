"""What statements read, assign and define: the one answer for all schemes, passes and targets.

A statement *defines* the variables that it brings into being, *assigns* those that it gives another value, *writes*
both, and *reads* those whose value it uses; the indices of loops are no variables, it *counts* them. What holds of a
statement itself leaves out the statements inside of it.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, TypeGuard

from stanlib.types import Type, dimensions, is_scalar

from . import gprob, traversal
from .fresh import stem

Stmts = Sequence[gprob.Stmt]
BREAKS = (gprob.Break, gprob.Continue)  # what ends an iteration before the end of its body
DENSITIES = ("_lpdf", "_lpmf")
TAILS = ("_lcdf", "_lccdf", "_cdf", "_ccdf")
ESCAPES = (*BREAKS, gprob.Return)  # what ends one, or the function around it


def walk_statements(body: Stmts) -> Iterator[gprob.Stmt]:
    """All statements of a body in the order of the text, nested ones included."""
    stack = list(reversed(body))
    while stack:
        s = stack.pop()
        yield s
        for inner in reversed(traversal.bodies(s)):
            stack += reversed(inner)


def outcomes(s: gprob.Factor) -> list[gprob.Expr]:
    """What the densities of an increment are those of: the library's, and the program's own."""
    return [*s.outcomes, *(n.arguments[0] for n in traversal.walk(s.value) if is_density_of(n))]


def is_density_of(n: object, kinds: tuple[str, ...] = DENSITIES) -> TypeGuard[gprob.Apply | gprob.CallUser]:
    """Whether a node is a call of a density, of the library or the program's own."""
    if isinstance(n, gprob.CallUser):
        return stem(n.function).endswith(kinds)
    return isinstance(n, gprob.Apply) and bool(n.function.distribution) and n.function.name.endswith(kinds)


def observation_dims(density: object) -> int:
    """The axes of one observation of a density: of the program's own, by its name, any container is several."""
    law = getattr(density, "distribution", None)
    return int(law.event_dims) if law else 0


def outcome_dims(s: gprob.Factor) -> int:
    """The axes of one observation of the densities of an increment: the least."""
    held = [s.outcome_dims] if s.outcomes else []
    return min((*held, *(observation_dims(n.function) for n in traversal.walk(s.value) if is_density_of(n))), default=0)


def is_of_several(s: gprob.Factor) -> bool:
    """Whether an increment holds a density of more than one observation: the sum of theirs."""
    own = ((n.arguments[0].type, observation_dims(n.function)) for n in traversal.walk(s.value) if is_density_of(n))
    held = ((y.type, s.outcome_dims) for y in s.outcomes)
    return not all(_is_one(t, dims) for t, dims in (*held, *own))


def _is_one(t: Type, dims: int) -> bool:
    """Whether an outcome is one observation of so many axes: a tuple has none."""
    return is_scalar(t) or 0 < dimensions(t) <= dims


def is_units(n: object) -> TypeGuard[gprob.Apply]:
    """Whether a node is what all units of discrete parameters add to the target, each by itself."""
    return isinstance(n, gprob.Apply) and n.function.name == "discrete_log_sums__"


def is_tail(n: object) -> TypeGuard[gprob.Apply | gprob.CallUser]:
    """Whether a node is a call of a distribution function."""
    return is_density_of(n, TAILS)


def leaves(
    body: Stmts, path: tuple[gprob.Stmt, ...] = ()
) -> Iterator[tuple[gprob.Stmt, tuple[gprob.Stmt, ...]]]:  # fmt: skip
    """The statements that hold no others, each with those around it, the outermost first."""
    stack = [(s, path) for s in reversed(body)]
    while stack:
        s, around = stack.pop()
        blocks = traversal.bodies(s)
        if not blocks:
            yield s, around
        for b in reversed(blocks):
            stack += [(t, (*around, s)) for t in reversed(b)]


def own_nodes(s: gprob.Stmt) -> Iterator[traversal.Node]:
    """The nodes in a statement, without the statements inside of it."""
    stack: list[traversal.Node] = [c for c in traversal.children(s) if not isinstance(c, gprob.Stmt)]
    while stack:
        node = stack.pop()
        yield node
        stack += traversal.children(node)


def sizes(node: object) -> Sequence[gprob.Expr]:
    """What of a node itself decides shapes: sizes, the bounds of a range, arguments of functions that are sizes."""
    if isinstance(node, gprob.Sized):
        return node.shape
    if isinstance(node, gprob.Range):
        return [b for b in (node.lower, node.upper) if b is not None]
    if isinstance(node, gprob.Apply):
        return [node.arguments[i] for i in node.function.shape_arguments]
    return ()


# --- of one statement ------------------------------------------------------------------------------------------------


def _name(s: Any) -> tuple[str, ...]:
    return (s.name,)


def _of_recurrence(s: gprob.Recur) -> tuple[str, ...]:
    return (*(n for w in s.windows for n in (w.row, *w.before)), *(g for g in s.given if g not in s.inputs))


_COUNTS: dict[type, Callable[[Any], tuple[str | None, ...]]] = dict.fromkeys(
    (gprob.For, gprob.ForEach, gprob.Recur), _name
)
_DEFINES: dict[type, Callable[[Any], tuple[str | None, ...]]] = {
    **dict.fromkeys((gprob.Declare, gprob.Sample, gprob.Param, gprob.Cumulate), _name),
    gprob.Recur: _of_recurrence,
}  # fmt: skip
_ASSIGNS: dict[type, Callable[[Any], tuple[str | None, ...]]] = {
    **dict.fromkeys((gprob.Assign, gprob.Accumulate), lambda s: (s.place.name,)),
    gprob.Bind: lambda s: (s.name, s.term), gprob.Last: _name, gprob.Recur: lambda s: (*s.state, *s.outputs),
    gprob.Unpack: lambda s: tuple(n.name for n in traversal.walk(s.places) if isinstance(n, gprob.Place)),
}  # fmt: skip
_READS: dict[type, Callable[[Any], tuple[str, ...]]] = {  # besides the variables in its expressions
    **dict.fromkeys((gprob.Check, gprob.Deterministic, gprob.Last), _name),
    gprob.Recur: lambda s: (*s.inputs, *s.state),
}  # fmt: skip


def counts(s: gprob.Stmt) -> tuple[str, ...]:
    """The index of a loop."""
    return _told(_COUNTS, s)


def defines(s: gprob.Stmt) -> tuple[str, ...]:
    """The variables that a statement itself brings into being."""
    return _told(_DEFINES, s)


def assigns(s: gprob.Stmt) -> tuple[str, ...]:
    """The variables to which a statement itself gives another value, or another value of a part."""
    return _told(_ASSIGNS, s)


def writes(s: gprob.Stmt) -> tuple[str, ...]:
    """Those that a statement itself defines or assigns."""
    return (*defines(s), *assigns(s))


def reads(s: gprob.Stmt) -> set[str]:
    """The variables whose values a statement itself uses: also one of which it assigns a part."""
    out = set(_told(_READS, s))
    for node in own_nodes(s):
        if isinstance(node, gprob.Var) or isinstance(node, gprob.Place) and node.steps:
            out.add(node.name)
    return out


def _told(table: Mapping[type, Callable[[Any], tuple[str | None, ...]]], s: gprob.Stmt) -> tuple[str, ...]:
    tell = table.get(type(s))
    if tell is None:
        return ()
    names: Any = tell(s)
    return tuple(n for n in names if n is not None) if None in names else names


# --- of bodies and expressions ---------------------------------------------------------------------------------------


def assigned(body: Stmts) -> list[str]:
    """The variables that statements of a body assign to, in the order of the first assignment."""
    return _in_order(assigns, body)


def written(body: Stmts) -> set[str]:
    """The variables that statements of a body write."""
    return {name for s in walk_statements(body) for name in writes(s)}


def written_in_order(body: Stmts) -> list[str]:
    """The same in the order of the text, which does not depend on what the variables are called."""
    return _in_order(writes, body)


def depending(
    body: Stmts, start: Iterable[str], read: Callable[[gprob.Stmt], set[str]] | None = None
) -> set[str]:  # fmt: skip
    """The variables that may depend on those in `start`, by their values or by what decides whether they are set.

    `read` tells what of a statement's own parts counts, all that it reads if it is None.
    """
    found = set(start)
    while True:
        before = len(found)
        _mark(body, found, False, read or reads)
        if len(found) == before:
            return found


def _mark(body: Stmts, found: set[str], controlled: bool, read: Callable[[gprob.Stmt], set[str]]) -> None:
    for s in body:
        depends = controlled or bool(read(s) & found)
        if depends:
            found.update(counts(s), writes(s))
        for b in traversal.bodies(s):
            _mark(b, found, depends, read)


def declared(body: Stmts) -> set[str]:
    """The variables that a body declares."""
    return {s.name for s in walk_statements(body) if isinstance(s, gprob.Declare)}


def differing(loop: gprob.For) -> set[str]:
    """What may differ between the iterations of a loop: its index, and what its body writes and counts."""
    return {loop.name} | written(loop.body) | loop_indices(loop.body)


def loop_indices(body: Stmts) -> set[str]:
    """The indices of the loops inside a body."""
    return {s.name for s in walk_statements(body) if isinstance(s, gprob.For)}


def _in_order(own: Callable[[gprob.Stmt], Iterable[str]], body: Stmts) -> list[str]:
    return list(dict.fromkeys(name for s in walk_statements(body) for name in own(s)))


def names_in(node: object) -> set[str]:
    """The variables that a node, or tuple of nodes, reads."""
    return {n.name for n in traversal.walk(node) if isinstance(n, gprob.Var)}


def mentions(node: object, names: Set[str]) -> bool:
    """Whether a node, or tuple of nodes, reads any of some variables."""
    return any(isinstance(n, gprob.Var) and n.name in names for n in traversal.walk(node))


def may_change(e: object, names: Set[str]) -> bool:
    """Whether assignments to some variables may change what an expression is.

    They change no size: that of a variable, of an item of a tuple, or of what single indices pick is what it was.
    """
    if isinstance(e, gprob.Var):
        return e.name in names
    if isinstance(e, gprob.Apply) and e.function.shape_only:
        return any(mentions(i, names) for i in _indices_of(e.arguments[0]))
    return any(may_change(c, names) for c in traversal.children(e))


def _indices_of(e: gprob.Expr) -> Iterator[object]:
    """The indices by which an expression picks a part of a variable; itself where it is no such part."""
    if isinstance(e, gprob.Item):
        yield from _indices_of(e.base)
    elif isinstance(e, gprob.Index) and all(isinstance(i, gprob.Single) for i in e.indices):
        yield from e.indices
        yield from _indices_of(e.base)
    elif not isinstance(e, gprob.Var):
        yield e


def breaks(body: Stmts) -> bool:
    """Whether a `break` or `continue` stands in a body, of a loop inside of it too."""
    return any(isinstance(s, BREAKS) for s in walk_statements(body))


def escapes(body: Stmts) -> bool:
    """The same of a `break`, `continue` or `return`."""
    return any(isinstance(s, ESCAPES) for s in walk_statements(body))


def always_returns(body: Sequence[gprob.Stmt]) -> bool:
    """Whether every path through a body ends in a return (or a rejection)."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, gprob.Return) or isinstance(last, gprob.Message) and last.kind != "print":
        return True
    return isinstance(last, gprob.If) and always_returns(last.then) and always_returns(last.otherwise)
