"""Laws of discrete parameters in a form that has what is the same for all of their values computed once.

`z[t] ~ categorical(to[z[t - 1]])` is `target += log_to[z[t - 1]][z[t]]`, a component of logarithms that all places
share; `z[n] ~ bernoulli_logit(e)` is `target += z[n] * e - log1p_exp(e)`.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import field
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.registry import Function
from stanlib.types import INT, REAL, VECTOR

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from .parameters import Discrete, Stmts, variable
from .zeros import is_binary


def looked_up(
    body: Stmts, declared: Sequence[gprob.Stmt], discrete: Mapping[str, Discrete], tainted: Set[str], names: Fresh
) -> tuple[Stmts, Stmts]:  # fmt: skip
    """Statements that declare the logarithms of variables that are simplexes, and the body that reads them.

    Args:
        declared: The declarations of parameters and transformed parameters.
    """
    simplexes = {
        s.name: s for s in declared
        if isinstance(s, gprob.Declare) and s.constraint is not None and s.constraint.kind == "simplex"
        and s.name not in tainted
    }  # fmt: skip
    tables = _Tables(simplexes, discrete, tainted, names)
    body = tuple(tables.changed(s) for s in body)
    return tuple(tables.made.values()), body


@dataclass
class _Tables:
    simplexes: Mapping[str, gprob.Declare]
    discrete: Mapping[str, Discrete]
    tainted: Set[str]
    names: Fresh
    made: dict[str, gprob.Declare] = field(default_factory=dict)  # by the name of the variable

    def changed(self, s: gprob.Stmt) -> gprob.Stmt:
        if isinstance(s, typed.Tilde) and s.distribution.lower is None and s.distribution.upper is None:
            found = self.term(s.distribution.lpdf, (s.value, *s.distribution.arguments))
            return s if found is None else typed.Increment(s.span, "target", found)
        if isinstance(s, typed.Increment):
            out: gprob.Stmt = traversal.rewrite(s, self.read)
            return out
        return traversal.with_bodies(s, lambda b: tuple(map(self.changed, b)))

    def read(self, e: object) -> Any:
        if not isinstance(e, gprob.Apply):
            return e
        found = self.term(e.function, e.arguments)
        return e if found is None else found

    def term(self, law: Function | str, arguments: Sequence[gprob.Expr]) -> gprob.Expr | None:
        """What stands for a law of one outcome that discrete parameters decide."""
        name = law.name if isinstance(law, Function) else ""
        if name == "categorical_lpmf" and arguments[0].type == INT and uses.mentions(tuple(arguments), self.tainted):
            return self.component(*arguments)
        if name == "bernoulli_logit_lpmf" and self.is_decided(arguments[0]) and arguments[1].type == REAL:
            return self.logit(*arguments)
        return None

    def is_decided(self, outcome: gprob.Expr) -> bool:
        return outcome.type == INT and uses.mentions(outcome, self.tainted)

    def logit(self, outcome: gprob.Expr, e: gprob.Expr) -> gprob.Expr | None:
        base = outcome.base if isinstance(outcome, gprob.Index) else outcome
        if not isinstance(base, gprob.Var) or base.name not in self.discrete or not is_binary(self.discrete[base.name]):
            return None
        chosen = call("multiply", e.span, gprob.Promote(REAL, e.span, outcome), e)
        return call("subtract", e.span, chosen, call("log1p_exp", e.span, e))

    def component(self, outcome: gprob.Expr, theta: gprob.Expr) -> gprob.Expr | None:
        """The logarithm, for a declared simplex, or one of an array of them."""
        base = theta.base if isinstance(theta, gprob.Index) else theta
        if theta.type != VECTOR or not isinstance(base, gprob.Var) or base.name not in self.simplexes:
            return None
        logs = variable(base.type, base.span, self.logs(base))
        if not isinstance(theta, gprob.Index):
            return gprob.Index(REAL, theta.span, logs, (gprob.Single(outcome),))
        if not all(isinstance(i, gprob.Single) for i in theta.indices):
            return None
        row = gprob.Index(VECTOR, theta.span, logs, theta.indices)
        return gprob.Index(REAL, theta.span, row, (gprob.Single(outcome),))

    def logs(self, of: gprob.Var) -> str:
        if of.name not in self.made:
            sized = self.simplexes[of.name].sized
            value = raw("discrete_logs__", of.type, of.span, of)
            self.made[of.name] = gprob.Declare(of.span, self.names.helper(f"log_{of.name}"), sized, None, value)
        return self.made[of.name].name
