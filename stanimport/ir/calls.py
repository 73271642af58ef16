"""Calls of library functions, for passes that make expressions."""
from __future__ import annotations

from stanlib import registry
from stanlib.types import Type

from ..source import Span
from . import gprob


def call(name: str, span: Span, *arguments: gprob.Expr) -> gprob.Expr:
    """A call of the library function that takes arguments of exactly these types.

    Raises:
        KeyError: if there is none.
    """
    function, overload = registry.exact(name)[tuple(a.type for a in arguments)]
    return gprob.Apply(overload.result, span, function, arguments)


def apply(name: str, *arguments: gprob.Expr) -> gprob.Expr:
    """The same, where the first argument stands."""
    return call(name, arguments[0].span, *arguments)


def raw(name: str, t: Type, span: Span, *arguments: gprob.Expr) -> gprob.Expr:
    """A call of a function that has no signature, since generated code alone calls it."""
    registry.load()
    return gprob.Apply(t, span, registry.by_symbol(name), arguments)
