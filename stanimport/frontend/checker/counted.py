"""Loops over a range of integers. Stan asks for the upper bound before every iteration, and once for the lower one."""
from __future__ import annotations

from stanlib.types import INT

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.fresh import Fresh, stem
from ...ir.uses import may_change, written
from ...source import Span

Stmts = tuple[gprob.Stmt, ...]
_ACTS = ("_rng", "_lp", "_jacobian")  # functions of whose calls each counts


def counted(span: Span, name: str, lower: gprob.Expr, upper: gprob.Expr, body: Stmts, names: Fresh) -> Stmts:
    """`for (name in lower:upper) body`; with `while` where the upper bound may change from iteration to iteration.

    That is what the C++ that stanc makes of it does. A `for` of the middle language has a bound that is computed once.
    """
    if not (may_change(upper, written(body)) or _acts(upper)):
        return (gprob.For(span, name, lower, upper, body),)
    counter, one = gprob.Var(INT, span, names.helper(name)), gprob.int_const(1, span)
    begin, following = apply("subtract", lower, one), apply("add", counter, one)
    return (
        gprob.Declare(span, counter.name, gprob.Sized(INT), None, begin),
        gprob.While(span, apply("logical_lt", counter, upper), (
            gprob.Assign(span, gprob.Place(counter.name, INT, span), following),
            gprob.Declare(span, name, gprob.Sized(INT), None, counter), *body,
        )),
    )  # fmt: skip


def _acts(bound: gprob.Expr) -> bool:
    """Whether a bound draws random numbers or adds to the target, which it then does before every iteration."""
    for e in traversal.walk(bound):
        if isinstance(e, gprob.Apply) and e.function.random:
            return True
        if isinstance(e, gprob.CallUser) and stem(e.function).endswith(_ACTS):
            return True
    return False
