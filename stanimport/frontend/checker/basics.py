"""Pieces that every part of the checker uses: names, promotions."""
from __future__ import annotations

from typing import NoReturn

from stanlib.types import COMPLEX, REAL, Array, Tuple, Type, array

from ...ir import gprob
from .. import ast
from .context import Context, Typed

_RESERVED = {
    "generated", "quantities", "transformed", "repeat", "until", "then", "true", "false", "typedef", "struct", "var",
    "export", "extern", "static", "auto",
}  # fmt: skip


# What other languages call things of Stan's.
FOREIGN = {
    "len": "size", "length": "size", "ln": "log", "power": "pow", "ceiling": "ceil", "gaussian": "normal",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sigmoid": "inv_logit", "expit": "inv_logit",
    "logistic": "inv_logit", "concat": "append_row", "zeros": "rep_vector", "ones": "ones_vector",
    "eye": "identity_matrix", "solve": "mdivide_left", "dot": "dot_product", "pi_": "pi", "logsumexp": "log_sum_exp",
}  # fmt: skip


def unknown(c: Context, name: ast.Name) -> NoReturn:
    """Report a name that is not in scope, with what it may have been meant for."""
    similar = FOREIGN.get(name.text) or c.functions.nearest(name.text, c.scope.names())
    c.fail(f"{name.text!r} is not in scope", name.span, f"did you mean {similar!r}?" if similar else "", "scope")


def verify_identifier(c: Context, name: ast.Name) -> None:
    """A name that Stan keeps for itself can't be used."""
    if name.text in _RESERVED or name.text.endswith("__"):
        hint = "names that end in two underscores are reserved" if name.text.endswith("__") else ""
        c.fail(f"{name.text!r} is a reserved word of Stan and can't be a name", name.span, hint, "reserved")


def promote(t: Typed, to: Type) -> Typed:
    """The expression as a value of a type to which it can be promoted; literals are promoted item by item."""
    if t.type == to:
        return t
    if isinstance(t.expr, gprob.MakeArray) and isinstance(to, Array):
        inner = array(to.element, to.dims - 1)
        items = tuple(promote(Typed(i, t.level), inner).expr for i in t.expr.items)
        return Typed(gprob.MakeArray(to, t.span, items), t.level)
    if isinstance(t.expr, gprob.MakeTuple) and isinstance(to, Tuple):
        items = tuple(promote(Typed(i, t.level), s).expr for i, s in zip(t.expr.items, to.items))
        return Typed(gprob.MakeTuple(to, t.span, items), t.level)
    if isinstance(t.expr, gprob.Const) and isinstance(t.expr.value, int) and to in (REAL, COMPLEX):
        value = float(t.expr.value) if to == REAL else complex(t.expr.value)
        return Typed(gprob.Const(to, t.span, value), t.level)
    return Typed(gprob.Promote(to, t.span, t.expr), t.level)
