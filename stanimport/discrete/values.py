"""The code for the values of a site: from where to where they go, which elements they are of, whether one is possible.

Each function takes a site and the span of the statement that the code is for.
"""
from __future__ import annotations

from collections.abc import Iterator

from stanlib.types import INT, array, dimensions

from ..ir import gprob
from ..ir.calls import call, raw
from ..source import Span
from .parameters import Stmts, text, variable
from .sites import Site

_ONE = 1


def plus_one(e: gprob.Expr, span: Span) -> gprob.Expr:
    return call("add", span, e, gprob.int_const(_ONE, span))


def list_of_all(s: Site, span: Span) -> gprob.Stmt:
    """Declares the list of all values of the several elements of a site."""
    t = array(INT, 1 + s.missing)
    bounds = tuple(_bounds(s, span))
    name = text(str(s.discrete.declaration.site), span)
    value = raw("discrete_values__", t, span, name, *bounds, *s.shape)
    count = raw("discrete_count__", INT, span, name, *bounds, *s.shape)
    return gprob.Declare(span, s.values, gprob.Sized(t, (count, *s.shape)), None, value)


def _bounds(s: Site, span: Span) -> Iterator[gprob.Expr]:
    """The least and the greatest values of several elements: of each its own where they are the same everywhere."""
    for name, extreme in (("lower", _lower), ("upper", _upper)):
        bound = s.discrete.bound(name)
        yield extreme(s, span) if s.level or bound.type == INT else own_bound(s, name, span)


def own_bound(s: Site, name: str, span: Span) -> gprob.Expr:
    """The lower or the upper bound of the elements of a site."""
    bound = s.discrete.bound(name)
    if bound.type == INT or s.is_whole:
        return bound
    return gprob.Index(array(INT, s.missing) if s.missing else INT, span, bound, s.indices)


def bounds(s: Site, span: Span) -> tuple[gprob.Expr, gprob.Expr]:
    """The least and the greatest value of a single element."""
    return _lower(s, span), _upper(s, span)


def _lower(s: Site, span: Span) -> gprob.Expr:
    return variable(INT, span, s.discrete.lower)


def _upper(s: Site, span: Span) -> gprob.Expr:
    return variable(INT, span, s.discrete.upper)


def _value(s: Site, span: Span) -> gprob.Expr:
    """The value, or values, that the code is for."""
    index = variable(INT, span, s.index)
    if not s.missing:
        return index
    values = variable(array(INT, 1 + s.missing), span, s.values)
    return gprob.Index(array(INT, s.missing), span, values, (gprob.Single(index),))


def size(s: Site, span: Span) -> gprob.Expr:
    """The length of the axis of a site."""
    if s.missing:
        return call("size", span, variable(array(INT, 1 + s.missing), span, s.values))
    return plus_one(call("subtract", span, _upper(s, span), _lower(s, span)), span)


def position(s: Site, span: Span) -> gprob.IndexExpr:
    """Where the value stands on that axis."""
    i: gprob.Expr = variable(INT, span, s.index)
    return gprob.Single(i if s.missing else plus_one(call("subtract", span, i, _lower(s, span)), span))


def width(s: Site, span: Span) -> gprob.Expr:
    """The number of elements of a site."""
    out: gprob.Expr = gprob.int_const(1, span)
    for n in s.shape:
        out = call("multiply", span, out, n)
    return out


def numbers(s: Site, span: Span) -> gprob.Expr:
    """The numbers of the elements of a site."""
    found: gprob.Expr = variable(s.discrete.type, span, s.discrete.elements)
    if s.pattern and not s.is_whole:
        found = gprob.Index(array(INT, s.missing), span, found, s.indices)
    return found if s.missing < 2 else call("to_array_1d", span, found)


def over_all(s: Site, body: Stmts, shared: bool, span: Span, only: int | None = None) -> Stmts:
    """The body for every value of a site, but those beyond the bounds of its elements; all where it is `shared`.

    Or for `only` one.
    """
    if only is not None:
        one = gprob.int_const(only, span)
        return (gprob.For(span, s.index, one, one, body, leading=True),)
    if s.discrete.varies and not shared and (s.level or not s.missing):
        body = (gprob.If(span, _inside(s, span), body),)
    first, last = (gprob.int_const(1, span), size(s, span)) if s.missing else (_lower(s, span), _upper(s, span))
    return (gprob.For(span, s.index, first, last, body, leading=True),)


def _inside(s: Site, span: Span) -> gprob.Expr:
    """Whether a value lies within the bounds of its element, or values within those of theirs."""
    zero = gprob.int_const(0, span)
    tests = []
    for name, comparison, extreme in (("lower", "logical_gte", "min"), ("upper", "logical_lte", "max")):
        bound, value = own_bound(s, name, span), _value(s, span)
        if not s.missing:
            tests.append(call(comparison, span, value, bound))
        else:
            scalar = bound.type == INT
            beyond = _line(value) if scalar else call("subtract", span, _line(value), _line(bound))
            tests.append(call(comparison, span, call(extreme, span, beyond), bound if scalar else zero))
    above, below = tests
    inside = gprob.Logical(INT, span, "&&", above, below)
    if not s.guards:
        return inside
    return gprob.Logical(INT, span, "||", call("logical_negation", span, s.guard(span)), inside)


def _line(e: gprob.Expr) -> gprob.Expr:
    """An array of ints as a vector."""
    flat = e if dimensions(e.type) == 1 else call("to_array_1d", e.span, e)
    return call("to_vector", e.span, flat)
