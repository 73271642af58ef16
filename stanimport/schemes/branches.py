"""Laws in the branches of an `if`: one sample after it, of the law that the branch has chosen.

`if (c) x ~ normal(a, 1); else x ~ normal(b, 2);` becomes `x ~ normal(c ? a : b, c ? 1 : 2);`. A backend that traces
control flow can't have a sample inside of a branch. Where the branches' laws are of different families, or come in
another order, the `if` stays as it is.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from stanlib.types import INT

from ..ir import gprob, traversal
from ..ir.fresh import Fresh
from ..ir.likeness import same_value
from .free import about

Stmts = tuple[gprob.Stmt, ...]
IsLaw = Callable[[gprob.Stmt], bool]


def lift(body: Sequence[gprob.Stmt], is_law: IsLaw, names: Fresh) -> Stmts:
    """The statements with the laws of parameters out of branches, where that can be.

    `is_law` tells the observations that are to become samples.
    """
    out: list[gprob.Stmt] = []
    for s in body:
        lifted = _split(s, is_law, names) if isinstance(s, gprob.If) else None
        out += (s,) if lifted is None else lifted
    return tuple(out)


def _split(s: gprob.If, is_law: IsLaw, names: Fresh) -> list[gprob.Stmt] | None:
    """The `if` cut in pieces at the laws of its branches."""
    branches = [_segments(lift(b, is_law, names), is_law) for b in (s.then, s.otherwise)]
    (then, then_rest), (otherwise, otherwise_rest) = branches
    if not then or len(then) != len(otherwise) or _holds_law((*then_rest, *otherwise_rest), is_law):
        return None
    condition = gprob.Var(INT, s.condition.span, names.helper("branch"))
    out: list[gprob.Stmt] = [gprob.Declare(s.span, condition.name, gprob.Sized(INT), None, s.condition)]
    for (before, law), (other_before, other) in zip(then, otherwise):
        if not are_alike(law, other) or _holds_law((*before, *other_before), is_law):
            return None
        out += _piece(replace(s, condition=condition), before, other_before)
        out += chosen(condition, law, other)
    return [*out, *_piece(replace(s, condition=condition), then_rest, otherwise_rest)]


def _segments(body: Stmts, is_law: IsLaw) -> tuple[list[tuple[Stmts, gprob.Observe]], Stmts]:
    """The laws at the top of a branch, each with the statements before it; and the statements after the last."""
    out: list[tuple[Stmts, gprob.Observe]] = []
    before: list[gprob.Stmt] = []
    for s in body:
        if isinstance(s, gprob.Observe) and is_law(s):
            out.append((tuple(before), s))
            before = []
        else:
            before.append(s)
    return out, tuple(before)


def _holds_law(body: Stmts, is_law: IsLaw) -> bool:
    return any(isinstance(n, gprob.Observe) and is_law(n) for n in traversal.walk(body))


def are_alike(a: gprob.Observe, b: gprob.Observe) -> bool:
    """Whether two laws differ in the values of their arguments alone."""
    laws = (a.distribution, b.distribution)
    same = laws[0].lpdf == laws[1].lpdf and about(a.value, laws[0]) == about(b.value, laws[1])
    types = [[x.type for x in d.arguments] for d in laws]
    return same and types[0] == types[1] and all(d.lower is None and d.upper is None for d in laws)


def _piece(s: gprob.If, then: Stmts, otherwise: Stmts) -> list[gprob.Stmt]:
    """The `if` around some of its statements; their variables are declared before it, as later pieces need them."""
    if not then and not otherwise:
        return []
    declared = [replace(d, value=None) for d in (*then, *otherwise) if isinstance(d, gprob.Declare)]
    return [*declared, replace(s, then=_assigned(then), otherwise=_assigned(otherwise))]


def _assigned(body: Stmts) -> Stmts:
    out: list[gprob.Stmt] = []
    for s in body:
        if isinstance(s, gprob.Declare):
            place = gprob.Place(s.name, s.sized.type, s.span)
            out += [gprob.Assign(s.span, place, s.value)] if s.value is not None else []
        else:
            out.append(s)
    return tuple(out)


def chosen(condition: gprob.Expr, law: gprob.Observe, other: gprob.Observe) -> list[gprob.Stmt]:
    """The law whose arguments are those of the branch that is taken."""
    pairs = zip(law.distribution.arguments, other.distribution.arguments)
    arguments = tuple(a if same_value(a, b) else gprob.Cond(a.type, a.span, condition, a, b) for a, b in pairs)
    return [replace(law, distribution=replace(law.distribution, arguments=arguments))]
