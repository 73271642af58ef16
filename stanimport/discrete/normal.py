"""Rewritings after which a term reads the elements that it depends on, and no others.

They change what stands in which statement, not what a program computes: calls of functions that sum over elements are
replaced by what they do, local variables that are set once by their values, statements over whole containers become
loops over components, sums become terms of their own.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import MATRIX, Array, dimensions

from ..ir import gprob, traversal, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from ..ir.likeness import same
from ..ir.renaming import apart
from ..ir.sums import released, split
from .appended import in_parts
from .bounded import bounded
from .branches import composed, with_conditions
from .calls import without_calls
from .carried import without_carried
from .components import not_negative, plain, size
from .containers import by_component
from .counters import without_counters
from .extents import checked
from .fission import fissioned
from .inlining import inlined
from .known import known_first
from .loops import sunk, without_items
from .parameters import Discrete, Stmts
from .parted import parted
from .pieces import in_pieces
from .recomputed import recomputed
from .recorded import with_recorded_steps
from .regressions import without_regressions
from .whiles import without_whiles
from .windows import written_out

_ROUNDS = 6  # each makes components of what the one before has made


@dataclass(frozen=True)
class Normal:
    """A body, and statements before it that compute from data alone."""

    known: Stmts
    body: Stmts


def normalized(
    body: Stmts, tainted: Callable[[Stmts], Set[str]], static: Set[str], sizes: Mapping[str, gprob.Sized],
    functions: Mapping[str, gprob.FunDef], names: Fresh, discrete: Mapping[str, Discrete],
) -> Normal:  # fmt: skip
    """The body with all of these.

    Args:
        tainted: Which variables of a body depend on discrete parameters.
        static: The variables that depend on data alone.
        sizes: The declarations of variables from other blocks.
    """
    body = traversal.rewrite(apart(body, names), plain)
    found = tainted(body)
    body = without_calls(tuple(split(body, found)), found, functions, names)
    body = written_out(with_sizes(traversal.rewrite(body, plain), sizes), found)
    body = in_parts(body, tainted(body), _sizes(body, sizes), names)
    body = without_items(body, tainted(body), _sizes(body, sizes), names)
    body = without_whiles(sunk(body, tainted(body), names), tainted(body), names)
    known = _Known(static)
    body = known.keep(known_first(body, known.static))
    declared = _sizes((*known.statements, *body), sizes)
    body = known.keep((checked(body, tainted(body), known.static, declared, names), body))
    body = known.keep(with_recorded_steps(body, tainted(body), known.static, names))
    body = inlined(body, tainted(body))
    body = known.keep(without_counters(body, tainted(body), known.static, names))
    for rows in (False, True):
        for _ in range(_ROUNDS):
            before, body = body, bounded(_round(body, tainted, known, sizes, names, rows), discrete, tainted(body))
            if body == before:
                break
    return Normal(known.statements, apart(parted(body, tainted(body), known.static), names))


class _Known:
    """What has been moved before a body since it depends on data alone, and all variables that do."""

    def __init__(self, static: Set[str]):
        self.statements: Stmts = ()
        self.static = static

    def keep(self, parted: tuple[Stmts, Stmts]) -> Stmts:
        """Add the first part; the second is what is left of the body."""
        more, body = parted
        self.statements = (*self.statements, *more)
        self.static = self.static | uses.declared(more)
        return body


def _round(
    body: Stmts, tainted: Callable[[Stmts], Set[str]], known: _Known, sizes: Mapping[str, gprob.Sized], names: Fresh,
    rows: bool,
) -> Stmts:  # fmt: skip
    """The body after one of the rounds in which its terms are parted; with `rows` what is read by rows is, too."""
    body = with_conditions(composed(body, tainted(body)))
    body = fissioned(without_carried(body, tainted(body)), tainted(body))
    body = known.keep(in_pieces(body, tainted(body), known.static, names))
    body = recomputed(inlined(body, tainted(body)), tainted(body), names, rows)
    found = tainted(body)
    body = without_regressions(released(body, found), found, names)
    declared = _sizes((*known.statements, *body), sizes)
    return with_sizes(tuple(by_component(body, found, dict(declared), names)), declared)


def _sizes(body: Stmts, outer: Mapping[str, gprob.Sized]) -> dict[str, gprob.Sized]:
    return {**outer, **{s.name: s.sized for s in uses.walk_statements(body) if isinstance(s, gprob.Declare)}}


_SIZES = ("size", "num_elements", "rows", "cols")


def with_sizes(body: Stmts, outer: Mapping[str, gprob.Sized]) -> Stmts:
    """Sizes of containers as they are declared, which their values have no part in."""
    sizes = _sizes(body, outer)

    def known(e: object) -> Any:
        if isinstance(e, gprob.Apply) and e.function.name in _SIZES:
            of = e.arguments[0]
            if isinstance(of, gprob.Var) and of.name in sizes and dimensions(of.type) > 1:
                return traversal.rewrite(_of_many(e, sizes[of.name].shape), known)
            if _is_line(of, e.function.name):
                found = traversal.rewrite(size(of, sizes), known)
                return e if found is None else found if isinstance(of, gprob.Var) else not_negative(found)
        return _to_size(e) if isinstance(e, gprob.For) else e

    out: Stmts = traversal.rewrite(body, known)
    return out


def _to_size(loop: gprob.For) -> gprob.For:
    """A loop from 1 on up to a number that may be negative as well: it is empty then as it is for 0."""
    e, zero, one = loop.upper, gprob.int_const(0, loop.span), gprob.int_const(1, loop.span)
    if not isinstance(e, gprob.Apply) or e.function.name != "max" or not same(loop.lower, one):
        return loop
    return replace(loop, upper=e.arguments[0]) if same(e.arguments[1:], (zero,)) else loop


def _of_many(e: gprob.Apply, shape: tuple[gprob.Expr, ...]) -> gprob.Expr:
    """The size that a function tells of a variable with several axes."""
    if e.function.name == "num_elements" or e.function.name == "size" and e.arguments[0].type == MATRIX:
        return functools.reduce(lambda a, b: call("multiply", e.span, a, b), shape)
    return shape[1] if e.function.name == "cols" else shape[0]


def _is_line(e: gprob.Expr, function: str) -> bool:
    """Whether one number says how large a container is, or it is the number of rows that is asked for."""
    one = isinstance(e.type, Array) if function == "size" else function == "rows"
    return dimensions(e.type) == 1 and function != "cols" or one
