"""Distribution functions of containers that are added to the target, as loops over calls of single numbers.

`target += normal_lccdf(c | m, s);` is a sum over what was censored. Source: Stan functions reference, vectorization.
"""
from __future__ import annotations

from collections.abc import Iterator

from stanlib.types import INT, dimensions

from ..ir import gprob, traversal, typed
from ..ir.calls import apply, call
from ..ir.fresh import Fresh
from ..ir.uses import is_tail
from .elements import element

Stmts = tuple[gprob.Stmt, ...]


def number_by_number(body: Stmts, names: Fresh) -> Stmts:
    """The body with a loop in place of each increment by a distribution function of a container."""
    return tuple(t for s in body for t in _statement(s, names))


def _statement(s: gprob.Stmt, names: Fresh) -> Iterator[gprob.Stmt]:
    e = s.value if isinstance(s, typed.Increment) and s.kind == "target" else None
    if is_tail(e) and isinstance(e, gprob.Apply) and all(dimensions(a.type) <= 1 for a in e.arguments):
        if dimensions(e.arguments[0].type):
            yield from _loop(s, e, names)
            return
    yield traversal.with_bodies(s, lambda body: number_by_number(body, names))


def _loop(s: gprob.Stmt, e: gprob.Apply, names: Fresh) -> Iterator[gprob.Stmt]:
    """The outcome stands where it stood, as what is observed; arguments that are computed are so once."""
    outcome, *others = e.arguments
    index = gprob.Var(INT, e.span, names.helper("i"))
    numbers = [_one_of(outcome, index)]
    for a in others:
        if dimensions(a.type):
            held = gprob.Var(a.type, a.span, names.helper("each"))
            yield gprob.Declare(a.span, held.name, gprob.Sized(a.type, (call("size", a.span, a),)), None, a)
            a = element(held, index)
        numbers.append(a)
    one = call(e.function.name, e.span, *numbers)
    size = apply("size", outcome)
    yield gprob.For(s.span, index.name, gprob.int_const(1, s.span), size, (typed.Increment(s.span, "target", one),))


def _one_of(outcome: gprob.Expr, index: gprob.Expr) -> gprob.Expr:
    """A number of an outcome, of `y[is]` as that of y."""
    if isinstance(outcome, gprob.Index) and len(outcome.indices) == 1:
        (chosen,) = outcome.indices
        if isinstance(chosen, gprob.Multi):
            return element(outcome.base, element(chosen.value, index))
    return element(outcome, index)
