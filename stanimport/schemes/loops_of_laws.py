"""Loops over laws of elements in the form that `elementwise.py` takes: nothing in them but laws.

`for (n in 1:N) { real m = b * y[n]; if (g[n]) z[n] ~ normal(m, 1); else z[n] ~ normal(0, 2); }` becomes
`for (n in 1:N) z[n] ~ normal(g[n] ? b * y[n] : 0, g[n] ? 1 : 2);`.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from stanlib.types import is_scalar

from ..ir import gprob, traversal
from ..ir.likeness import same_value
from ..ir.traversal import substituted
from .branches import IsLaw, are_alike, chosen

Stmts = tuple[gprob.Stmt, ...]


def simplified(body: Sequence[gprob.Stmt], is_law: IsLaw) -> Stmts:
    """The statements with simpler loops, where those hold laws alone then; `is_law` tells the laws of parameters."""
    return tuple(_loop(s, is_law) if isinstance(s, gprob.For) else s for s in body)


def _loop(s: gprob.For, is_law: IsLaw) -> gprob.For:
    body = _inside(s.body, is_law)
    return replace(s, body=body) if all(_is_simple(t, is_law) for t in body) else s


def _is_simple(s: gprob.Stmt, is_law: IsLaw) -> bool:
    if isinstance(s, gprob.For):
        return all(_is_simple(t, is_law) for t in s.body)
    return isinstance(s, gprob.Observe) and is_law(s)


def _inside(body: Sequence[gprob.Stmt], is_law: IsLaw) -> Stmts:
    """The statements of a loop, or of a branch in it, without variables of their own and conditions."""
    values: dict[str, gprob.Expr] = {}
    out: list[gprob.Stmt] = []
    for s in body:
        s = substituted(s, values)
        if _is_name(s):
            assert s.value is not None
            values[s.name] = s.value
        elif isinstance(s, gprob.For):
            out.append(_loop(s, is_law))
        else:
            out += _law(s, is_law) if isinstance(s, gprob.If) else [s]
    return tuple(out)


def _law(s: gprob.If, is_law: IsLaw) -> list[gprob.Stmt]:
    """One law of the two in branches, if they are about the same element."""
    branches = [_inside(b, is_law) for b in (s.then, s.otherwise)]
    laws = [b[0] for b in branches if len(b) == 1 and isinstance(b[0], gprob.Observe) and is_law(b[0])]
    if len(laws) == 2 and same_value(laws[0].value, laws[1].value) and are_alike(*laws):
        return chosen(s.condition, *laws)
    return [s]


def _is_name(s: gprob.Stmt) -> TypeGuard[gprob.Declare]:
    """Whether a statement only gives a number a name: nothing is seen of it when it runs."""
    if not isinstance(s, gprob.Declare) or s.value is None or s.constraint is not None:
        return False
    if not is_scalar(s.sized.type) or s.value.type != s.sized.type:
        return False
    return not any(isinstance(n, (gprob.CallUser, gprob.FunctionValue)) for n in traversal.walk(s.value))
