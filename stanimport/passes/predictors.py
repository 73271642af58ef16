"""Linear predictors: `a + b * x + c * z` with data x and z is one product of the coefficients and a matrix of data.

XLA evaluates the sum anew for the derivative in every coefficient; a product with a matrix is computed once.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from stanlib.types import INT, REAL, ROW_VECTOR, VECTOR

from ..ir import gprob, traversal
from ..ir.uses import mentions, walk_statements
from .binding_times import BindingTimes
from .surroundings import Surroundings

Stmts = tuple[gprob.Stmt, ...]
_NUMBERS, _VECTORS = (INT, REAL), (VECTOR, ROW_VECTOR)


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with its linear predictors as products."""
    return _Walk(around.times(body), frozenset()).block(body)


class _Walk:
    """`varying` are the variables that differ between the lanes of a loop around."""

    def __init__(self, times: BindingTimes, varying: frozenset[str]):
        self.times, self.varying = times, varying

    def block(self, body: Sequence[gprob.Stmt]) -> Stmts:
        made = tuple(map(self.statement, body))
        return tuple(body) if all(a is b for a, b in zip(body, made)) else made

    def statement(self, s: gprob.Stmt) -> gprob.Stmt:
        inside = self
        if isinstance(s, gprob.For) and s.lanes:
            declared = {d.name for d in walk_statements(s.body) if isinstance(d, gprob.Declare)}
            inside = _Walk(self.times, self.varying | declared | {s.name})
        s = traversal.rewrite_parts(s, self.expression)
        return traversal.with_bodies(s, inside.block)

    def expression(self, e: gprob.Expr) -> gprob.Expr:
        if not _is_sum(e) or e.type not in (REAL, *_VECTORS):
            return traversal.rewrite_parts(e, self.expression)
        made = self.predictor(e)
        return self._in_summands(e) if made is None else made

    def _in_summands(self, e: gprob.Expr) -> gprob.Expr:
        """A sum that is no linear predictor: then no part of it is one."""
        return traversal.rewrite_parts(e, lambda a: self._in_summands(a) if _is_sum(a) else self.expression(a))

    def predictor(self, e: gprob.Expr) -> gprob.Expr | None:
        """A sum as a linear predictor, None if it is none."""
        summands = list(_summands(e))
        products = [(s, p) for s, p in ((s, self._product(s)) for s in summands) if p is not None]
        chosen = [s for s, _ in products]
        rest = [s for s in summands if not any(s is c for c in chosen)]
        if not products or len(products) + sum(map(self._is_coefficient, rest)) < 2:
            return None
        coefficients, columns = zip(*(p for _, p in products))
        return gprob.Predictor(e.type, e.span, coefficients, columns, tuple(map(self.expression, rest)))

    def _product(self, e: gprob.Expr) -> tuple[gprob.Expr, gprob.Expr] | None:
        """The coefficient and the data of a summand."""
        if not (isinstance(e, gprob.Apply) and e.function.operator == "*" and len(e.arguments) == 2):
            return None
        for coefficient, column in (e.arguments, e.arguments[::-1]):
            if self._is_coefficient(coefficient) and self._is_column(column):
                return coefficient, column
        return None

    def _is_coefficient(self, e: gprob.Expr) -> bool:
        """Whether an expression is one number, known at run time, for all observations."""
        return e.type in _NUMBERS and self.times.is_dynamic(e) and not mentions(e, self.varying)

    def _is_column(self, e: gprob.Expr) -> bool:
        """Whether an expression is data, one number for every observation."""
        if self.times.is_dynamic(e):
            return False
        return e.type in _VECTORS if not mentions(e, self.varying) else e.type in _NUMBERS


def _is_sum(e: gprob.Expr) -> bool:
    return isinstance(e, gprob.Apply) and e.function.operator == "+" and len(e.arguments) == 2


def _summands(e: gprob.Expr) -> Iterator[gprob.Expr]:
    waiting = [e]
    while waiting:
        top = waiting.pop()
        if _is_sum(top) and isinstance(top, gprob.Apply):
            waiting += reversed(top.arguments)
        else:
            yield top
