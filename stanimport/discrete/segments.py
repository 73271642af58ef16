"""Terms in a loop to which elements matter by comparisons alone: `y[t] ~ poisson(t < s ? early : late)`.

All that such a term can be, for every iteration and every outcome of its comparisons, is computed once; the table has
sums of those, which stanlib/discrete/segments.py takes from sums over stretches of iterations.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, array

from ..ir import gprob, traversal, uses
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from ..ir.likeness import same
from ..ir.traversal import substituted
from ..source import Span
from .alike import Alike
from .distributing import distributed
from .parameters import Stmts, variable
from .sites import Site
from .values import bounds, plus_one

_Valued = Callable[[Stmts, Sequence[gprob.IndexExpr]], Stmts]  # writes the terms of statements at a place
_COMPARISONS = {"logical_eq", "logical_neq", "logical_lt", "logical_lte", "logical_gt", "logical_gte"}


def segments(
    top: Stmts, sites: Sequence[Site], series: Sequence[gprob.For], static: Set[str], names: Fresh
) -> Alike | None:  # fmt: skip
    """The loops over values of single elements, over series and over iterations, and the ints that a term depends on.

    None where the term is no loop over data, or reads an element other than in a comparison.

    Args:
        series: loops around it, whose iterations have elements of their own.
    """
    found: list[gprob.For] = []
    while len(found) <= len(series):
        loop = top[0] if len(top) == 1 else None
        if not isinstance(loop, gprob.For) or not uses.names_in((loop.lower, loop.upper)) <= static:
            return None
        found.append(loop)
        top = loop.body
    if [s.name for s in series] != [s.name for s in found[:-1]]:
        return None
    span, values, indices = found[-1].span, {s.index for s in sites}, [s.name for s in found]
    keys: list[gprob.Expr] = []
    if not _collect(top, values, static | values | set(indices), keys) or not keys:
        return None
    around = tuple(gprob.For(span, s.index, *bounds(s, span), ()) for s in sites)
    keys += [variable(INT, span, i) for i in indices]
    firsts = tuple(names.helper("first") for _ in (*around, *found))
    helper = names.helper
    return Alike((*around, *found), top, tuple(keys), helper("codes"), helper("rows"), helper("row"), firsts)


def numbered(a: Alike, sites: int, groups: str, names: Fresh) -> Iterator[gprob.Stmt]:
    """Statements that number the terms for all values and iterations, and in `groups` their kinds.

    The first loops are those over the values of so many sites.
    """
    span, t = a.body[0].span, array(INT, len(a.loops))
    sizes = [_length(s) for s in a.loops]
    made = tuple(a.made(sizes, [_position(s) for s in a.loops], lambda body: _inside(a.loops, body), names))
    yield from made
    kinds = [s for s in made if isinstance(s, gprob.Declare)][: len(a.keys) - len(a.loops) + sites]
    numbers = raw("discrete_alike__", t, span, *(variable(t, span, s.name) for s in kinds))
    yield gprob.Declare(span, groups, gprob.Sized(t, tuple(sizes)), None, numbers)


@dataclass(frozen=True)
class Grid:
    """The terms of all outcomes of comparisons, which are the same in all series, for all series and iterations.

    `made` are statements that find the outcomes; `terms` fills an array of the shape `sizes`, whose entries `codes`
    tells for all values, series and iterations; `groups` is the number of the outcome for them.
    """

    made: Stmts
    sizes: tuple[gprob.Expr, ...]
    codes: gprob.Expr
    groups: gprob.Expr
    terms: Callable[[_Valued, Set[str]], Stmts]


def grid(a: Alike, sites: int, names: Fresh) -> Grid | None:
    """None where outcomes differ between series."""
    values, series, iteration = a.loops[:sites], a.loops[sites:-1], a.loops[-1]
    keys = a.keys[: len(a.keys) - len(a.loops) + sites]
    if uses.mentions(keys, {s.name for s in series}):
        return None
    span, every, lengths = a.body[0].span, array(INT, len(a.loops)), tuple(_length(s) for s in series)
    numbered, outcomes = _numbered(keys, (*values, iteration), span, names)
    count = variable(INT, span, names.helper("count"))
    counted = gprob.Declare(span, count.name, gprob.Sized(INT), None, raw("discrete_rows__", INT, span, outcomes))
    pairs = (count, _length(iteration))
    codes, groups = (
        raw("discrete_grid__", every, span, outcomes, gprob.int_const(is_code, span), *lengths) for is_code in (1, 0)
    )
    made = (*numbered, counted, *_firsts(a, values, outcomes, pairs))
    return Grid(made, (count, *lengths, pairs[1]), codes, groups, _terms(a, sites, count))


def _numbered(
    keys: Sequence[gprob.Expr], around: Sequence[gprob.For], span: Span, names: Fresh
) -> tuple[Stmts, gprob.Var]:
    """Statements that number the outcomes of the keys in loops, alike ones alike, and the array of the numbers."""
    t, recorded = array(INT, len(around)), [names.helper("key") for _ in keys]
    sizes = tuple(_length(s) for s in around)
    zero = raw("discrete_filled__", t, span, gprob.int_const(0, span), *sizes)
    at = (gprob.Step(INT, tuple(map(_position, around))),)
    sets = tuple(gprob.Assign(span, gprob.Place(n, t, span, at), e) for n, e in zip(recorded, keys))
    made = (gprob.Declare(span, n, gprob.Sized(t, sizes), None, zero) for n in recorded)
    outcomes = variable(t, span, names.helper("outcomes"))
    numbers = raw("discrete_alike__", t, span, *(variable(t, span, n) for n in recorded))
    declared = gprob.Declare(span, outcomes.name, gprob.Sized(t, sizes), None, numbers)
    return (*made, *_inside(around, sets), declared), outcomes


def _firsts(
    a: Alike, values: Sequence[gprob.For], outcomes: gprob.Expr, pairs: tuple[gprob.Expr, ...]
) -> Iterator[gprob.Stmt]:
    """Declarations of `a.firsts`: a value of each element with which an outcome comes about in an iteration."""
    span, of_each = outcomes.span, array(INT, 2)
    for k, (s, name) in enumerate(zip(values, a.firsts)):
        first = raw("discrete_outcome__", of_each, span, outcomes, gprob.int_const(k, span), s.lower)
        yield gprob.Declare(span, name, gprob.Sized(of_each, pairs), None, first)


def _terms(a: Alike, sites: int, count: gprob.Expr) -> Callable[[_Valued, Set[str]], Stmts]:
    """What fills the terms of all outcomes, with what writes one of them at its place; see `Grid`."""
    values, around, span, of_each = a.loops[:sites], a.loops[sites:], a.body[0].span, array(INT, 2)

    def terms(valued: _Valued, static: Set[str]) -> Stmts:
        row = gprob.Single(variable(INT, span, a.row))
        own: dict[str, gprob.Expr] = {
            s.name: gprob.Index(INT, span, variable(of_each, span, first), (row, _position(around[-1])))
            for s, first in zip(values, a.firsts)
        }  # fmt: skip
        known = {*static, *a.firsts, a.row, *(s.name for s in around)}
        body = valued(substituted(a.body, own), [row, *map(_position, around)])
        return (gprob.For(span, a.row, gprob.int_const(1, span), count, _inside(around, distributed(body, known))),)

    return terms


def _length(loop: gprob.For) -> gprob.Expr:
    span = loop.span
    length = plus_one(call("subtract", span, loop.upper, loop.lower), span)
    return call("max", span, length, gprob.int_const(0, span))


def _position(loop: gprob.For) -> gprob.Single:
    """Where an iteration of a loop stands in arrays over it."""
    i: gprob.Expr = variable(INT, loop.span, loop.name)
    if isinstance(loop.lower, gprob.Const) and loop.lower.value == 1:
        return gprob.Single(i)
    return gprob.Single(plus_one(call("subtract", loop.span, i, loop.lower), loop.span))


def excluded(a: Alike, sites: int, conditions: Sequence[gprob.Expr], name: str) -> Iterator[gprob.Stmt]:
    """Statements that set an array over the values of all sites to 1 where one of some conditions holds."""
    span, around = a.body[0].span, a.loops[:sites]
    t, sizes, at = array(INT, len(around)), [], []
    for loop in around:
        sizes.append(plus_one(call("subtract", span, loop.upper, loop.lower), span))
        here = call("subtract", span, variable(INT, span, loop.name), loop.lower)
        at.append(gprob.Single(plus_one(here, span)))
    zero = raw("discrete_filled__", t, span, gprob.int_const(0, span), *sizes)
    yield gprob.Declare(span, name, gprob.Sized(t, tuple(sizes)), None, zero)
    place = gprob.Place(name, t, span, (gprob.Step(INT, tuple(at)),))
    one = gprob.Assign(span, place, gprob.int_const(1, span))
    if conditions:
        yield from _inside(around, tuple(gprob.If(span, c, (one,)) for c in conditions))


def without_conditions(top: Stmts, conditions: Sequence[gprob.Expr]) -> Stmts:
    """What stands in branches beside those in which all is impossible."""
    while len(top) == 1 and isinstance(top[0], gprob.If) and not top[0].then:
        if not any(same(top[0].condition, c) for c in conditions):
            break
        top = top[0].otherwise
    return top


def _inside(loops: Sequence[gprob.For], body: Stmts) -> Stmts:
    for loop in reversed(loops):
        body = (replace(loop, body=body),)
    return body


def _collect(node: Any, values: Set[str], known: Set[str], keys: list[gprob.Expr]) -> bool:
    """Adds the ints that are made of comparisons with values; whether these stand nowhere else."""
    if not uses.mentions(node, values):
        return True
    whole = isinstance(node, gprob.Expr) and node.type == INT and uses.names_in(node) <= known
    if whole and _is_compared(node, values):
        if not any(same(node, k) for k in keys):
            keys.append(node)
        return True
    if isinstance(node, gprob.Var):
        return False
    parts = node if isinstance(node, tuple) else tuple(traversal.children(node))
    return all([_collect(c, values, known, keys) for c in parts])


def _is_compared(e: traversal.Node, values: Set[str]) -> bool:
    """Whether values stand in comparisons alone."""
    if not uses.mentions(e, values):
        return True
    if isinstance(e, gprob.Apply) and e.function.name in _COMPARISONS:
        return True
    parts = tuple(traversal.children(e))
    return not isinstance(e, gprob.Var) and all(_is_compared(c, values) for c in parts)
