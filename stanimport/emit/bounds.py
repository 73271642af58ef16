"""Bounds that depend on parameters, where the backend has to compute them anew for every draw (Pyro)."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..ir import gprob, traversal
from .asty import Builder

if TYPE_CHECKING:
    from .expressions import Expressions


def sites_of(body: Sequence[gprob.Stmt]) -> dict[str, str]:
    """The parameters that a body samples, with their sites."""
    return {s.name: s.site for s in traversal.walk(tuple(body)) if isinstance(s, gprob.Sample)}


def bounding(body: Sequence[gprob.Stmt]) -> frozenset[str]:
    """The parameters that the constraints of others refer to."""
    sites = sites_of(body)
    samples = (s for s in traversal.walk(tuple(body)) if isinstance(s, gprob.Sample))
    constraints = tuple(s.constraint for s in samples if s.constraint)
    return frozenset(n.name for n in traversal.walk(constraints) if isinstance(n, gprob.Var) and n.name in sites)


def argument(e: gprob.Expr, sites: dict[str, str], expressions: Expressions, b: Builder) -> ast.expr:
    """An argument of a constraint: a function of the parameters that it depends on, if there are any."""
    names = list(dict.fromkeys(_parameters(e, sites)))
    if not names:
        return expressions(e)
    made = b.lambda_([expressions.names[n] for n in names], expressions(e))
    return b.call("ppl.bound", made, b.dict_([(sites[n], b.name(expressions.names[n])) for n in names]))


def _parameters(e: gprob.Expr, sites: dict[str, str]) -> Iterator[str]:
    return (n.name for n in traversal.walk(e) if isinstance(n, gprob.Var) and n.name in sites)
