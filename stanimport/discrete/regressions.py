"""Generalized linear models as laws of their predictors, whose components can be told apart.

`y ~ normal_id_glm(x, a[z], b, s)` is `y ~ normal(a[z] + x * b, s)`.
"""
from __future__ import annotations

from collections.abc import Sequence, Set

from stanlib.registry import Function
from stanlib.types import INT, MATRIX, ROW_VECTOR

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from .components import component, is_container
from .parameters import Stmts, variable


def without_regressions(body: Stmts, tainted: Set[str], names: Fresh) -> Stmts:
    """The body with laws of predictors in place of models of many outcomes that discrete parameters decide."""

    def changed(s: gprob.Stmt) -> gprob.Stmt:
        if isinstance(s, typed.Tilde):
            d = s.distribution
            return _Model(s, d.lpdf, (s.value, *d.arguments)).law(tainted, names) or s
        if isinstance(s, typed.Increment) and gprob.is_density(s.value):
            return _Model(s, s.value.function, s.value.arguments).law(tainted, names) or s
        return traversal.with_bodies(s, lambda b: tuple(map(changed, b)))

    return tuple(map(changed, body))


class _Model:
    """A statement about outcomes, with the arguments of its law, the outcomes first."""

    def __init__(self, statement: gprob.Stmt, law: Function | str, arguments: Sequence[gprob.Expr]):
        self.span, self.outcomes, self.arguments = statement.span, arguments[0], tuple(arguments)
        self.name = law.name if isinstance(law, Function) and "_glm_lp" in law.name else ""
        named = law.distribution.argument_names if isinstance(law, Function) and self.name else ()
        self.given = dict(zip(named, arguments[1:]))

    def law(self, tainted: Set[str], names: Fresh) -> gprob.Stmt | None:
        """The statement by predictors; None where it is no model of many outcomes, or its predictors depend on more."""
        if not self.name or not is_container(self.outcomes.type) or not uses.mentions(self.arguments, tainted):
            return None
        x, beta = self.given.pop("x"), self.given.pop("beta")
        if x.type != MATRIX or uses.mentions((x, beta), tainted):
            return None
        alpha, plain = self.given.pop("alpha", None), self.name.replace("_id_glm_", "_").replace("_glm_", "_")
        if beta.type == MATRIX and alpha is not None:
            return self.by_row(plain, x, alpha, beta, names)
        predictors = call("multiply", self.span, x, beta)
        if alpha is not None:
            predictors = call("add", self.span, alpha, predictors)
        before = [self.given.pop(n) for n in ("N",) if n in self.given]  # trials stand before predictors
        return self.increment(call(plain, self.span, self.outcomes, *before, predictors, *self.given.values()))

    def by_row(self, law: str, x: gprob.Expr, alpha: gprob.Expr, beta: gprob.Expr, names: Fresh) -> gprob.Stmt:
        """A loop over outcomes, each with its predictors, alpha + (x[n] * beta)'."""
        i = variable(INT, self.span, names.helper("n"))
        row = gprob.Index(ROW_VECTOR, self.span, x, (gprob.Single(i),))
        found = call("transpose", self.span, call("multiply", self.span, row, beta))
        one = call(law, self.span, component(self.outcomes, i), call("add", self.span, alpha, found))
        count = call("rows", self.span, x)
        return gprob.For(self.span, i.name, gprob.int_const(1, self.span), count, (self.increment(one),))

    def increment(self, term: gprob.Expr) -> gprob.Stmt:
        return typed.Increment(self.span, "target", term)
