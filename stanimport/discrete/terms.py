"""The terms of the log density that depend on discrete parameters, each with all that it is computed from."""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from stanlib.dataclass import dataclass

from ..ir import gprob, traversal, typed, uses
from .parameters import Stmts, refuse

LEAVES_THAT_ADD = (typed.Tilde, typed.Increment)


@dataclass(frozen=True)
class Term:
    """A statement that adds to the target, the statements around it from the outside in, and the code of its own.

    `before` and `top` are the statements of the block that are needed: those before the one that the term stands in,
    and that one, without what the term does not need. `changed` are variables from outside that `top` assigns to,
    `tainted` those that depend on discrete parameters.
    """

    statement: gprob.Stmt
    path: tuple[gprob.Stmt, ...]
    before: Stmts
    top: Stmts
    changed: tuple[str, ...]
    tainted: Set[str]

    def depends(self, s: gprob.Stmt) -> bool:
        """Whether a statement is the term, or has to do with discrete parameters."""
        inner = list(uses.walk_statements((s,)))
        names = {n for i in inner for n in (*uses.reads(i), *uses.writes(i))}
        return bool(names & self.tainted) or any(isinstance(i, LEAVES_THAT_ADD) for i in inner)

    def parts(self, body: Stmts) -> tuple[Stmts, Stmts, Stmts]:
        """A body of the term's code: what comes before all that depends on discrete parameters, that, and the rest."""
        at = [i for i, s in enumerate(body) if self.depends(s)]
        return body[: at[0]], body[at[0] : at[-1] + 1], body[at[-1] + 1 :]


def is_controlled(path: Sequence[gprob.Stmt], tainted: Set[str]) -> bool:
    """Whether discrete parameters decide if, or how often, a statement runs."""
    return any(uses.reads(s) & tainted for s in path)


def adding(
    body: Stmts, tainted: Set[str], path: tuple[gprob.Stmt, ...] = ()
) -> Iterator[tuple[gprob.Stmt, tuple[gprob.Stmt, ...]]]:
    """The statements that add to the target what depends on discrete parameters, with those around them."""
    for s in body:
        if isinstance(s, LEAVES_THAT_ADD):
            if uses.reads(s) & tainted or is_controlled(path, tainted):
                yield s, path
        for b in traversal.bodies(s):
            yield from adding(b, tainted, (*path, s))


def rest(body: Stmts, tainted: Set[str], controlled: bool = False) -> Iterator[gprob.Stmt]:
    """The body without all that depends on discrete parameters."""
    for s in body:
        if traversal.bodies(s):
            here = controlled or bool(uses.reads(s) & tainted)
            inner = traversal.with_bodies(s, lambda b: tuple(rest(b, tainted, here)))
            if not here and any(traversal.bodies(inner)):
                yield inner
            continue
        if not (controlled or uses.reads(s) & tainted or set(uses.writes(s)) & tainted):
            yield s


def verify(body: Stmts, tainted: Set[str], adds: Set[str], path: tuple[gprob.Stmt, ...] = ()) -> None:
    """
    Args:
        adds: the program's functions that add to the target.

    Raises:
        StanSemanticError: for what can't be done for every value of discrete parameters.
    """
    for s in body:
        depends = bool(uses.reads(s) & tainted) or is_controlled(path, tainted)
        if depends:
            _verify_one(s, adds)
        if isinstance(s, gprob.Declare) and uses.mentions(s.sized, tainted):
            refuse("the size of a variable can't depend on a discrete parameter", s.span)
        for b in traversal.bodies(s):
            verify(b, tainted, adds, (*path, s))


def _verify_one(s: gprob.Stmt, adds: Set[str]) -> None:
    """Refuse what can't be done for every value of the discrete parameters that a statement depends on.

    Raises:
        StanSemanticError: at the statement, or at what in it can't be done.
    """
    if isinstance(s, gprob.Message):
        refuse(f"{s.kind} can't depend on a discrete parameter, which has no single value here", s.span)
    if isinstance(s, typed.Increment) and s.kind == "jacobian":
        refuse("jacobian += can't depend on a discrete parameter", s.span)
    if isinstance(s, gprob.Run):
        refuse("a discrete parameter can't decide a call that returns nothing, but in the model block a function that "
               "calls itself nowhere, and leaves no loop by return", s.span)  # fmt: skip
    if isinstance(s, uses.BREAKS):
        refuse("a discrete parameter can't decide whether a loop is left", s.span)
    for node in uses.own_nodes(s):
        if isinstance(node, gprob.TargetValue):
            refuse("target() can't be read where a discrete parameter decides", node.span)
        if isinstance(node, gprob.CallUser) and node.function in adds:
            refuse("a function that adds to the target can't be called with a discrete parameter", node.span,
                   "let it return the term, and add that")  # fmt: skip


def verify_target_reads(body: Stmts, tainted: Set[str], reading: Set[str], after: bool = False) -> None:
    """
    Args:
        reading: the program's functions that read the target.
        after: whether terms that depend on discrete parameters come before the body.

    Raises:
        StanSemanticError: where the target is read that such terms belong to, which are summed when all are known.
    """
    for s in body:
        adds = any(True for _ in adding((s,), tainted))
        within = after or adds and isinstance(s, (gprob.For, gprob.While))
        if within:
            for node in uses.own_nodes(s):
                if isinstance(node, gprob.TargetValue) or isinstance(node, gprob.CallUser) and node.function in reading:
                    refuse("target() can't be read after terms that depend on a discrete parameter, which is summed "
                           "out at the end", node.span)  # fmt: skip
        for b in traversal.bodies(s):
            verify_target_reads(b, tainted, reading, within)
        after = after or adds


def adding_functions(program: typed.TypedProgram) -> set[str]:
    """The program's functions that add to the target, or call one that does."""
    return _functions_with(program, LEAVES_THAT_ADD)


def reading_functions(program: typed.TypedProgram) -> set[str]:
    """The program's functions that read the target, or call one that does."""
    return _functions_with(program, (gprob.TargetValue,))


def impure_functions(program: typed.TypedProgram) -> set[str]:
    """The program's functions that add to the target or read it, or call one that does."""
    return _functions_with(program, (*LEAVES_THAT_ADD, gprob.TargetValue))


def _functions_with(program: typed.TypedProgram, kinds: tuple[type, ...]) -> set[str]:
    """The program's functions with nodes of some kinds, and those that call one of them."""
    found: set[str] = set()
    while True:
        before = len(found)
        for f in program.functions:
            for node in traversal.walk(f.body):
                if isinstance(node, kinds) or isinstance(node, gprob.CallUser) and node.function in found:
                    found.add(f.name)
        if len(found) == before:
            return found


def collected(body: Stmts, at: int, tainted: Set[str]) -> Iterator[Term]:
    """The terms in statement `at` of a body."""
    top = body[at]
    inside = {n for s in uses.walk_statements((top,)) for n in uses.defines(s)}
    again = tainted | unsettled(body[:at], tainted)
    for s, path in adding((top,), tainted):
        needed = _needed(s, path, body[:at], top, again)
        before = tuple(_only(body[:at], None, needed & again))
        own = tuple(_only((top,), s, needed))
        kept = inside | uses.declared(before)
        changed = tuple(n for n in uses.assigned(own) if n not in kept and n not in tainted)
        yield Term(s, path, before, own, changed, tainted)


def _needed(
    s: gprob.Stmt, path: Sequence[gprob.Stmt], before: Stmts, top: gprob.Stmt, tainted: Set[str]
) -> set[str]:  # fmt: skip
    """The variables that a term is computed from, and those that decide about it."""
    needed = uses.reads(s).union(*(uses.reads(p) for p in path))
    leaves = [*uses.leaves((top,)), *(x for x in uses.leaves(before) if set(uses.writes(x[0])) & tainted)]
    while True:
        size = len(needed)
        for leaf, around in leaves:
            if set(uses.writes(leaf)) & needed:
                needed |= uses.reads(leaf).union(*(uses.reads(p) for p in around))
        if len(needed) == size:
            return needed


def unsettled(body: Stmts, tainted: Set[str]) -> set[str]:
    """Variables that have another value where what depends on discrete parameters reads them than at the end.

    They are computed anew with what reads them.
    """
    found: set[str] = set()
    while True:
        before = len(found)
        read: set[str] = set()
        for s in body:
            for leaf, path in uses.leaves((s,)):
                if set(uses.writes(leaf)) & (tainted | found):
                    read |= uses.reads(leaf).union(*(uses.reads(p) for p in path))
            found |= (read & uses.written((s,))) - tainted
        if len(found) == before:
            return found


def _only(body: Stmts, term: gprob.Stmt | None, needed: Set[str]) -> Iterator[gprob.Stmt]:
    """What sets variables that are needed, and the term itself."""
    for s in body:
        if traversal.bodies(s):
            inner = traversal.with_bodies(s, lambda b: tuple(_only(b, term, needed)))
            if any(traversal.bodies(inner)):
                yield inner
        elif s is term or set(uses.writes(s)) & needed or isinstance(s, uses.BREAKS):
            yield s


def drawn_with(body: Stmts, tainted: Set[str], again: Set[str]) -> Iterator[gprob.Stmt]:
    """What remains of transformed parameters once the discrete ones are drawn: what `rest` leaves out.

    With it comes what sets the variables in `again`.
    """
    for s in body:
        if traversal.bodies(s):
            depends = bool(uses.reads(s) & tainted)
            inner = s if depends else traversal.with_bodies(s, lambda b: tuple(drawn_with(b, tainted, again)))
            if any(traversal.bodies(inner)):
                yield inner
        elif set(uses.writes(s)) & (tainted | again):
            yield s
