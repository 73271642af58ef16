"""Densities of a choice by data become a choice of densities: each branch computes what depends on itself alone.

`poisson_lpmf(y[n] | c[n] ? a : b)` takes the logarithm of a or b in each row; in `c[n] ? poisson_lpmf(y[n] | a) :
poisson_lpmf(y[n] | b)` the branches take one each for all their rows.
"""
from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from stanlib.types import is_scalar

from ..ir import gprob, traversal, uses
from .parameters import Stmts


def distributed(body: Stmts, known: Set[str]) -> Stmts:
    """Statements with the densities in them inside of the choices; names are `known` if their values are data."""
    def change(node: object) -> object:
        if not gprob.is_density(node):
            return node
        found = [k for k, a in enumerate(node.arguments) if _is_choice(a, known)]
        return _inside(node, found[0]) if len(found) == 1 else node

    out: Stmts = traversal.rewrite(body, change)
    return out


def _is_choice(e: gprob.Expr, known: Set[str]) -> bool:
    return isinstance(e, gprob.Cond) and is_scalar(e.type) and uses.names_in(e.condition) <= known


def _inside(call: gprob.Apply, k: int) -> gprob.Expr:
    choice = call.arguments[k]
    assert isinstance(choice, gprob.Cond)

    def at(value: gprob.Expr) -> gprob.Expr:
        return replace(call, arguments=(*call.arguments[:k], value, *call.arguments[k + 1 :]))

    return replace(choice, type=call.type, then=at(choice.then), otherwise=at(choice.otherwise))
