"""Terms with an element as a factor: `y ~ bernoulli(z * p)` is one law where z is 1, and data where it is 0.

What data alone decide is known before any density; so a site where something was seen is known to be occupied. What
stands beside a factor of 0 is not computed.
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

from stanlib.types import INT, REAL

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from ..ir.likeness import same
from .parameters import Discrete, Stmts
from .sites import read_pattern
from .terms import LEAVES_THAT_ADD


def by_value(body: Stmts, discrete: Mapping[str, Discrete], static: Set[str]) -> Stmts:
    """The body with branches on elements of 0 or 1, where the one or the other leaves a term to data alone.

    Args:
        static: The variables that depend on data alone.
    """
    return tuple(_by_value(s, discrete, static) for s in body)


def _by_value(s: gprob.Stmt, discrete: Mapping[str, Discrete], static: Set[str]) -> gprob.Stmt:
    if isinstance(s, LEAVES_THAT_ADD):
        return _split(s, discrete, static)
    known = static | {s.name} if isinstance(s, gprob.For) else static
    return traversal.with_bodies(s, lambda b: by_value(b, discrete, known))


def _split(s: gprob.Stmt, discrete: Mapping[str, Discrete], static: Set[str]) -> gprob.Stmt:
    """A term by the values of discrete elements for which it is one of data alone, if there are any."""
    known = static | discrete.keys()
    if uses.names_in(s) <= known:
        return s
    for e in _elements(s, discrete):
        zero, one = (_simplified(_with_value(s, e, value)) for value in (0, 1))
        if uses.names_in(zero) <= known or uses.names_in(one) <= known:
            zero, one = (_split(part, discrete, static) for part in (zero, one))
            if is_binary(discrete[_name(e)]):
                return gprob.If(s.span, e, _added(one), _added(zero))
            neither = gprob.If(s.span, _is(e, 0), _added(zero), (s,))
            return gprob.If(s.span, _is(e, 1), _added(one), (neither,))
    return s


def _is(e: gprob.Expr, value: int) -> gprob.Expr:
    return call("logical_eq", e.span, e, gprob.int_const(value, e.span))


def _name(e: gprob.Expr) -> str:
    variable = e.base if isinstance(e, gprob.Index) else e
    assert isinstance(variable, gprob.Var)
    return variable.name


def _added(s: Any) -> Stmts:
    nothing = isinstance(s, typed.Increment) and isinstance(s.value, gprob.Const) and s.value.value == 0
    return () if nothing else (s,)


def _elements(s: gprob.Stmt, discrete: Mapping[str, Discrete]) -> Iterator[gprob.Expr]:
    """The single elements that a statement reads which are 0 or 1, and chosen by data."""
    found: list[gprob.Expr] = []
    for e in traversal.walk(s):
        if not isinstance(e, gprob.Expr):
            continue
        variable = e.base if isinstance(e, gprob.Index) else e
        if isinstance(variable, gprob.Var) and variable.name in discrete and e.type == INT:
            d, indices = discrete[variable.name], e.indices if isinstance(e, gprob.Index) else ()
            pattern = read_pattern(indices, d.dims)
            fixed = None not in pattern and not uses.mentions(pattern, discrete.keys())
            if fixed and may_be_binary(d) and not any(same(e, f) for f in found):
                found.append(e)
                yield e


def is_binary(d: Discrete) -> bool:
    """Whether the elements of a discrete parameter are declared to be 0 or 1."""
    bounds = [d.bound(b) for b in ("lower", "upper")]
    return [b.value for b in bounds if isinstance(b, gprob.Const)] == [0, 1]


def may_be_binary(d: Discrete) -> bool:
    """Whether data may make them so: one of the bounds is that of elements that are 0 or 1, the other one is data."""
    lower, upper = (d.bound(b) for b in ("lower", "upper"))
    fits = [not isinstance(b, gprob.Const) or b.value == v for b, v in ((lower, 0), (upper, 1))]
    return all(fits) and (isinstance(lower, gprob.Const) or isinstance(upper, gprob.Const))


def _with_value(s: gprob.Stmt, e: gprob.Expr, value: int) -> gprob.Stmt:
    def swapped(node: Any) -> Any:
        if same(node, e):
            return gprob.int_const(value, node.span)
        return traversal.rewrite_parts(node, swapped)

    out: gprob.Stmt = traversal.rewrite_parts(s, swapped)
    return out


# --- what is left of an expression with numbers in it ----------------------------------------------------------------


def _simplified(s: gprob.Stmt) -> gprob.Stmt:
    out: gprob.Stmt = traversal.rewrite(s, simpler)
    return out


def simpler(e: object) -> Any:
    """A node whose parts have been simplified."""
    if isinstance(e, gprob.Promote) and isinstance(value := _value(e.value), int):
        return gprob.Const(e.type, e.span, float(value))
    if isinstance(e, gprob.Cond) and isinstance(e.condition, gprob.Const):
        return e.then if e.condition.value else e.otherwise
    if not isinstance(e, gprob.Apply) or e.function.name not in _RULES or not all(map(_is_number, e.arguments)):
        return e
    return _RULES[e.function.name](e)


def _is_number(e: gprob.Expr) -> bool:
    return e.type in (INT, REAL)


def _multiplied(e: gprob.Apply) -> gprob.Expr:
    for one, other in (e.arguments, e.arguments[::-1]):
        if _value(one) == 0:
            return gprob.Const(e.type, e.span, 0 if e.type == INT else 0.0)
        if _value(one) == 1:
            return other if other.type == e.type else gprob.Promote(e.type, e.span, other)
    return e


def _added_up(e: gprob.Apply) -> gprob.Expr:
    for one, other in (e.arguments, e.arguments[::-1]):
        if _value(one) == 0 and other.type == e.type:
            return other
    return _of_ints(operator.add)(e)


def _of_ints(f: Callable[..., Any]) -> Callable[[gprob.Apply], gprob.Expr]:
    def found(e: gprob.Apply) -> gprob.Expr:
        values = [_value(a) for a in e.arguments]
        if e.type != INT or None in values:
            return e
        return gprob.int_const(int(f(*values)), e.span)

    return found


def _value(e: gprob.Expr) -> Any:
    return e.value if isinstance(e, gprob.Const) else None


_RULES: dict[str, Callable[[gprob.Apply], gprob.Expr]] = {
    "multiply": _multiplied, "elt_multiply": _multiplied, "add": _added_up, "subtract": _of_ints(operator.sub),
    "logical_eq": _of_ints(operator.eq), "logical_neq": _of_ints(operator.ne), "logical_gt": _of_ints(operator.gt),
    "logical_lt": _of_ints(operator.lt), "logical_gte": _of_ints(operator.ge), "logical_lte": _of_ints(operator.le),
    "logical_negation": _of_ints(operator.not_),
}  # fmt: skip
