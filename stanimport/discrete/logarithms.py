"""Logarithms of what is 0 for some value of a discrete parameter: `log(k[n] * p)`, `log1m((1 - p)^k[n])`.

Such a value is impossible. It counts for nothing in the sum, nor in its gradient: the infinite derivative of the
logarithm is left out (stanlib/functions/discrete_logs.py).
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

from stanlib import registry

from ..ir import gprob, traversal, uses
from .parameters import Stmts

_OTHER_NAMES = {"multiply_log": "lmultiply"}
_GUARDED = ("log", "log2", "log10", "log1m", "log1m_exp", "log_diff_exp", "lmultiply", "multiply_log")


def with_guarded_logarithms(body: Stmts, tainted: Set[str]) -> Stmts:
    """The body with other functions in place of logarithms of what discrete parameters decide."""
    out: Stmts = traversal.rewrite(body, lambda e: _guarded(e) if uses.mentions(e, tainted) else e)
    return out


def with_guarded_functions(
    functions: Sequence[gprob.FunDef], body: Stmts, tainted: Set[str]
) -> tuple[gprob.FunDef, ...]:  # fmt: skip
    """The functions of a program; all logarithms of those that are given what discrete parameters decide are such."""
    found = _called(functions, body, tainted)
    return tuple(replace(f, body=traversal.rewrite(f.body, _guarded)) if f.name in found else f for f in functions)


def _called(functions: Sequence[gprob.FunDef], body: Stmts, tainted: Set[str]) -> set[str]:
    """The names of those functions, and of all that they call."""
    calls = {f.name: set(_names(f.body)) for f in functions}
    open_ = {n for e in traversal.walk(body) if uses.mentions(e, tainted) for n in _names(e)} & calls.keys()
    found: set[str] = set()
    while open_:
        found |= open_
        open_ = {n for f in open_ for n in calls[f]} & calls.keys() - found
    return found


def _names(node: Any) -> Iterator[str]:
    for e in traversal.walk(node):
        if isinstance(e, (gprob.CallUser, gprob.FunctionValue)) and isinstance(e.function, str):
            yield e.function


def _guarded(e: Any) -> Any:
    if not isinstance(e, gprob.Apply) or e.function.name not in _GUARDED:
        return e
    name = _OTHER_NAMES.get(e.function.name, e.function.name)
    found = registry.exact(f"discrete_{name}__").get(tuple(a.type for a in e.arguments))
    return e if found is None else replace(e, function=found[0])
