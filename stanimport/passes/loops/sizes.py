"""What Stan throws for sizes and first indices that differ between the iterations of a loop, as conditions.

Passes make loops and ranges of `segment(v, i, n)` and `rep_vector(x, n)`, which are empty where n is negative, and
don't ask where an empty part begins: Stan looks at the first index even where there is nothing to take.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from stanlib.types import COMPLEX_MATRIX, INT, MATRIX

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.uses import differing, mentions
from ..callees import Functions
from ..normalize import first_items
from ..surroundings import Surroundings
from .affine import key, linear, mentions_values
from .components import containers_in
from .parts import STARTS, count_of, is_repeated

Stmts = tuple[gprob.Stmt, ...]


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with conditions that reject, before the statements of loops that compute with such sizes."""
    return _Conditions(around.functions).block(body, set(), {})


class _Conditions:
    """Conditions before statements. `least` is what the indices of the loops around begin at, where that is known."""

    def __init__(self, functions: Functions):
        self.functions = functions

    def block(self, body: Sequence[gprob.Stmt], varying: set[str], least: dict[object, int]) -> Stmts:
        return tuple(t for s in body for t in self.statement(s, varying, least))

    def statement(self, s: gprob.Stmt, varying: set[str], least: dict[object, int]) -> Iterator[gprob.Stmt]:
        """A statement behind the conditions for what is in it, those for statements inside of it stand before these."""
        if isinstance(s, gprob.For):
            inside = varying | differing(s)
            begins = {s.name: linear(s.lower).constant} if linear(s.lower).is_constant else {}
            others = {name: value for name, value in least.items() if name != s.name}
            yield replace(s, body=self.block(s.body, inside, others | begins))
        elif isinstance(s, gprob.While):
            yield replace(s, body=self.block(s.body, varying, least))
        elif isinstance(s, gprob.If):
            yield from self._checks(s.condition, varying, least)
            then, otherwise = (self.block(b, varying, least) for b in traversal.bodies(s))
            yield replace(s, then=then, otherwise=otherwise)
        else:
            yield from self._checks(s, varying, least) if varying else ()
            yield s

    def _checks(self, node: object, varying: set[str], least: dict[object, int]) -> Iterator[gprob.Stmt]:
        """Conditions that reject, for each size in a node, and each first index, that differs between iterations."""
        asked: list[Any] = []
        for name, size, numbers in _sizes(node):
            form = linear(size)
            differs = mentions_values(size, varying) or mentions(numbers, varying)
            if differs and form not in asked and _smallest(size, least) < 0 and not self._is_changing(size):
                asked.append(form)
                negative = apply("logical_lt", size, gprob.int_const(0, size.span))
                yield rejected(negative, f"{name}: n is ", size, ", but must be nonnegative!")
        places: list[Any] = []
        for name, number, count, length in _indices(node, varying):
            place = key((number, length))
            changing = any(map(self._is_changing, (number, count, length)))
            if place not in places and _smallest(count, least) < 1 and not changing:
                places.append(place)
                yield from outside(name, number, count, length)

    def _is_changing(self, e: gprob.Expr) -> bool:
        """Whether something may not be computed twice."""
        return self.functions.draws(e) or any(
            isinstance(n, gprob.TargetValue) or isinstance(n, gprob.Apply) and n.function.raw for n in traversal.walk(e)
        )


def rejected(condition: gprob.Expr, *items: gprob.Expr | str) -> gprob.Stmt:
    span = condition.span
    return gprob.If(span, condition, (gprob.Message(span, "reject", items),), ())


def _smallest(size: gprob.Expr, least: dict[object, int]) -> float:
    """What a size is at least, by the indices of the loops around."""
    form = linear(size)
    if not all(count > 0 and term in least for term, count in form.terms.items()):
        return -math.inf
    return form.constant + sum(count * least[term] for term, count in form.terms.items())


def certain(node: object) -> Iterator[object]:
    """The nodes in a node that are certainly computed."""
    yield node
    inside = traversal.children(node)
    if isinstance(node, gprob.Cond):
        inside = [node.condition]
    elif isinstance(node, gprob.Logical):
        inside = [node.left]
    for part in inside:
        yield from certain(part)


def _sizes(node: object) -> Iterator[tuple[str, gprob.Expr, tuple[gprob.Expr, ...]]]:
    """The sizes that calls in a node are given, of calls that certainly happen.

    Each comes with the function's name, and with the numbers that tell the place of a part that may become a range.
    """
    for e in certain(node):
        if is_repeated(e):
            yield e.function.name, e.arguments[1], ()
        elif isinstance(e, gprob.Apply) and e.function.selects:
            for position in e.function.shape_arguments:
                yield e.function.name, e.arguments[position], e.arguments[1:]


_Number = tuple[str, gprob.Expr, gprob.Expr, gprob.Expr]


def _indices(node: object, varying: set[str]) -> Iterator[_Number]:
    """The numbers that must be indices where a part that a node selects, or assigns to, is empty.

    Each comes with what selects, how many components are taken, and how many there are.
    """
    for e in certain(node):
        if isinstance(e, gprob.Apply) and mentions(e.arguments[1:], varying):
            yield from _of_call(e)
        elif isinstance(e, gprob.Index):
            yield from beside_range(e, varying)
        elif isinstance(e, gprob.Place):
            yield from _indices(e.read(), varying)


def _of_call(e: gprob.Apply) -> Iterator[_Number]:
    for start, count, length in STARTS.get(e.function.name, ()):
        container = e.arguments[0]
        if length == "size":
            container = first_items(next(containers_in((container,))))
        yield e.function.name, e.arguments[start], e.arguments[count], apply(length, container)


def beside_range(e: gprob.Index, varying: set[str]) -> Iterator[_Number]:
    """The row or column beside a range in a matrix, or the first index of an array, that differs between iterations.

    Others are looked at in the iterations whose range is not empty.
    """
    ranges = [i for i in e.indices if isinstance(i, gprob.Range) and i.lower is not None and i.upper is not None]
    if len(ranges) != 1 or not mentions_values(count := count_of(ranges[0]), varying):
        return
    of_matrix = len(e.indices) == 2 and e.base.type in (MATRIX, COMPLEX_MATRIX)
    for i, length in zip(e.indices, ("rows", "cols") if of_matrix else ("size",)):
        if isinstance(i, gprob.Single) and mentions(i.value, varying):
            yield "index", i.value, count, apply(length, e.base if of_matrix else first_items(e.base))


def outside(name: str, start: gprob.Expr, count: gprob.Expr, length: gprob.Expr) -> Iterator[gprob.Stmt]:
    """Conditions that reject a first index that is none; and of a block the last, which Stan asks for in any case."""
    one = gprob.int_const(1, start.span)
    message = f"{name}: index ", start, " out of range; expecting index to be between 1 and ", length
    below, beyond = apply("logical_lt", start, one), apply("logical_gt", start, length)
    yield rejected(gprob.Logical(INT, start.span, "||", below, beyond), *message)
    if name == "block":
        last = apply("subtract", apply("add", start, count), one)
        yield rejected(apply("logical_lt", last, one), f"{name}: index ", last, *message[2:])
