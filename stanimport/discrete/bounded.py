"""Loops whose bounds depend on discrete parameters, as loops over all that they could reach with a condition inside.

    for (t in 1:(s - 1)) y[t] ~ poisson(early);
    for (t in 1:(upper_s - 1)) if (t <= s - 1) y[t] ~ poisson(early);

So s matters by comparisons alone, which segments.py tabulates by sums over all iterations before.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from stanlib.types import INT

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from .parameters import Discrete, Stmts, variable

_SAME = ("lower", "lower")
_TURNED = {"subtract": ("lower", "upper"), "add": _SAME, "min": _SAME, "max": _SAME}
_OTHER = {"lower": "upper", "upper": "lower"}


def bounded(body: Stmts, discrete: Mapping[str, Discrete], tainted: Set[str]) -> Stmts:
    """The body with all of these loops that do nothing but add to the target."""

    def changed(s: gprob.Stmt) -> gprob.Stmt:
        s = traversal.with_bodies(s, lambda b: tuple(map(changed, b)))
        return _by_condition(s, discrete, tainted) if isinstance(s, gprob.For) else s

    return tuple(map(changed, body))


def _by_condition(s: gprob.For, discrete: Mapping[str, Discrete], tainted: Set[str]) -> gprob.For:
    """The loop over all that it could reach, with conditions that say what it does."""
    if not uses.mentions((s.lower, s.upper), tainted) or not _adds_alone(s.body):
        return s
    lower, upper = (_extreme(e, end, discrete, tainted) for e, end in ((s.lower, "lower"), (s.upper, "upper")))
    if lower is None or upper is None:
        return s
    i = variable(INT, s.span, s.name)
    body: Stmts = s.body
    for name, bound in (("logical_lte", s.upper), ("logical_gte", s.lower)):
        if uses.mentions(bound, tainted):
            body = (gprob.If(s.span, call(name, s.span, i, bound), body, ()),)
    return replace(s, lower=lower, upper=upper, body=body)


def _adds_alone(body: Stmts) -> bool:
    """Whether statements are terms, or branches and loops around terms, and nothing else."""
    return all(
        isinstance(s, (typed.Tilde, typed.Increment)) or isinstance(s, (gprob.If, gprob.For)) and
        all(map(_adds_alone, traversal.bodies(s))) for s in body
    )  # fmt: skip


def _extreme(e: gprob.Expr, end: str, discrete: Mapping[str, Discrete], tainted: Set[str]) -> gprob.Expr | None:
    """The least or the greatest value, from data, that an int can have; None where it is not plain what that is."""
    if not uses.mentions(e, tainted):
        return e
    if isinstance(e, gprob.Var) and e.name in discrete:
        return _of_element(discrete[e.name], end, (), e)
    if isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var) and e.base.name in discrete:
        if e.type != INT or uses.mentions(e.indices, tainted):
            return None
        return _of_element(discrete[e.base.name], end, e.indices, e)
    if isinstance(e, gprob.Apply) and e.function.name in _TURNED and len(e.arguments) == 2 and e.type == INT:
        ends = [end if of == "lower" else _OTHER[end] for of in _TURNED[e.function.name]]
        parts = [_extreme(a, own, discrete, tainted) for a, own in zip(e.arguments, ends)]
        if any(p is None for p in parts):
            return None
        return replace(e, arguments=tuple(p for p in parts if p is not None))
    return None


def _of_element(d: Discrete, end: str, indices: Sequence[gprob.IndexExpr], e: gprob.Expr) -> gprob.Expr | None:
    bound = d.bound(end)
    if bound.type == INT:
        return variable(INT, e.span, d.lower if end == "lower" else d.upper)
    return gprob.Index(INT, e.span, bound, tuple(indices)) if indices else None
