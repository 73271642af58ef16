"""What Stan throws for negative sizes that differ between the iterations of a loop, as conditions of their own.

Passes make loops and ranges of `segment(v, i, n)` and `rep_vector(x, n)`, which are empty where n is negative.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.uses import differing, mentions
from ..surroundings import Surroundings
from .affine import linear, mentions_values
from .parts import is_repeated

Stmts = tuple[gprob.Stmt, ...]


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with conditions that reject negative sizes, before the statements of loops that compute with them."""
    return _block(body, set(), {})


def _block(body: Sequence[gprob.Stmt], varying: set[str], least: dict[object, int]) -> Stmts:
    """`least` is what the indices of the loops around begin at, where that is known."""
    return tuple(t for s in body for t in _statement(s, varying, least))


def _statement(s: gprob.Stmt, varying: set[str], least: dict[object, int]) -> Iterator[gprob.Stmt]:
    """A statement behind the conditions for the sizes in it, those for statements inside of it stand before these."""
    if isinstance(s, gprob.For):
        inside = varying | differing(s)
        begins = {s.name: linear(s.lower).constant} if linear(s.lower).is_constant else {}
        others = {name: value for name, value in least.items() if name != s.name}
        yield replace(s, body=_block(s.body, inside, others | begins))
    elif isinstance(s, gprob.While):
        yield replace(s, body=_block(s.body, varying, least))
    elif isinstance(s, gprob.If):
        yield from _checks(s.condition, varying, least)
        then, otherwise = (_block(b, varying, least) for b in traversal.bodies(s))
        yield replace(s, then=then, otherwise=otherwise)
    else:
        yield from _checks(s, varying, least) if varying else ()
        yield s


def _checks(node: object, varying: set[str], least: dict[object, int]) -> Iterator[gprob.Stmt]:
    """A condition that rejects, for each size in a node that differs between iterations and may be negative."""
    asked: list[Any] = []
    for name, size, place in _sizes(node):
        form = linear(size)
        differs = mentions_values(size, varying) or mentions(place, varying)
        if differs and form not in asked and not _is_nonnegative(size, least):
            asked.append(form)
            negative = apply("logical_lt", size, gprob.int_const(0, size.span))
            items = (f"{name}: n is ", size, ", but must be nonnegative!")
            yield gprob.If(size.span, negative, (gprob.Message(size.span, "reject", items),), ())


def _is_nonnegative(size: gprob.Expr, least: dict[object, int]) -> bool:
    """Whether the indices of the loops around make it so."""
    form = linear(size)
    if not all(count > 0 and term in least for term, count in form.terms.items()):
        return False
    return form.constant + sum(count * least[term] for term, count in form.terms.items()) >= 0


def _sizes(node: object) -> Iterator[tuple[str, gprob.Expr, tuple[gprob.Expr, ...]]]:
    """The sizes that calls in a node are given, of calls that certainly happen.

    Each comes with the function's name, and with the numbers that tell the place of a part that may become a range.
    """
    if is_repeated(node):
        yield node.function.name, node.arguments[1], ()
    elif isinstance(node, gprob.Apply) and node.function.selects:
        for position in node.function.shape_arguments:
            yield node.function.name, node.arguments[position], node.arguments[1:]
    certain = traversal.children(node)
    if isinstance(node, gprob.Cond):
        certain = [node.condition]
    elif isinstance(node, gprob.Logical):
        certain = [node.left]
    for part in certain:
        yield from _sizes(part)
