"""In which entries of its table a term stands: `if (w[i]) y[i] ~ normal(m * z[i], s);` has none where w[i] is 0.

All other entries are 0 whatever the parameters are. So what one value of an element makes of others may be the same for
many of them: an animal that does not exist can't be seen, whatever tells it apart from others.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from stanlib.types import REAL, array

from ..ir import gprob, typed, uses
from ..ir.fresh import Fresh
from ..source import Span
from . import values
from .parameters import Stmts, variable
from .probable import valued
from .sites import Site
from .terms import LEAVES_THAT_ADD
from .zeros import is_binary

_COMPARISONS = ("logical_eq", "logical_neq", "logical_gt", "logical_lt", "logical_gte", "logical_lte",
                "logical_negation")  # fmt: skip


def standing(body: Stmts, sites: Sequence[Site], span: Span, names: Fresh) -> tuple[Stmts, gprob.Expr]:
    """Statements that declare an array with a positive number at every entry where a term may stand, and the array.

    None and 0 where that may be everywhere, as far as conditions on the values of single elements tell.

    Args:
        body: what adds the term, for some values of the sites, which are its indices.
    """
    marks = tuple(_marks(body, {s.index for s in sites}))
    everywhere = not all(isinstance(s, gprob.If) for s in marks)
    if not marks or everywhere or any(s.missing or s.guards for s in sites):
        return (), gprob.int_const(0, span)
    name, total, t = names.helper("there"), names.helper("sum"), array(REAL, len(sites))
    at = tuple(values.position(s, span) for s in sites)
    place = gprob.Place(name, t, span, (gprob.Step(REAL, at),))
    code: Stmts = (*valued(marks, total, False, span), gprob.Assign(span, place, variable(REAL, span, total)))
    for s in reversed(sites):
        code = values.over_all(s, code, True, span)
    sized = gprob.Sized(t, tuple(values.size(s, span) for s in sites))
    return (gprob.Declare(span, name, sized), *code), variable(t, span, name)


def chosen(body: Stmts, sites: Sequence[Site]) -> tuple[dict[str, int], Stmts]:
    """The values of single elements outside of which statements add nothing, by index; what they are there."""
    found: dict[str, int] = {}
    single = {s.index for s in sites if not s.missing and not s.guards and is_binary(s.discrete)}
    while len(body) == 1:
        s = body[0]
        of = s.condition.name if isinstance(s, gprob.If) and isinstance(s.condition, gprob.Var) else ""
        if not isinstance(s, gprob.If) or of not in single - found.keys() or s.then and s.otherwise:
            break
        found[of], body = int(bool(s.then)), s.then or s.otherwise
    return found, body


def _marks(body: Stmts, indices: Set[str]) -> Iterator[gprob.Stmt]:
    """The statements that add to the target, which add 1 instead, with the branches around them on values alone."""
    for s in body:
        if isinstance(s, gprob.If) and _is_told(s.condition, indices):
            then, otherwise = (tuple(_marks(b, indices)) for b in (s.then, s.otherwise))
            if then or otherwise:
                yield replace(s, then=then, otherwise=otherwise)
        elif any(isinstance(inner, LEAVES_THAT_ADD) for inner in uses.walk_statements((s,))):
            yield typed.Increment(s.span, "target", gprob.Const(REAL, s.span, 1.0))


def _is_told(condition: gprob.Expr, indices: Set[str]) -> bool:
    """Whether a condition compares values with each other, and with numbers."""
    if isinstance(condition, gprob.Var):
        return condition.name in indices
    if isinstance(condition, gprob.Logical):
        return _is_told(condition.left, indices) and _is_told(condition.right, indices)
    if isinstance(condition, gprob.Apply):
        known = condition.function.name in _COMPARISONS
        return known and all(_is_told(a, indices) for a in condition.arguments)
    return isinstance(condition, gprob.Const)
