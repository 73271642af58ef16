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


# What is written otherwise.
_HABITS = {
    "range": "write 1:N", "True": "write 1", "False": "write 0", "TRUE": "write 1", "FALSE": "write 0",
    "NULL": "there is no such value", "None": "there is no such value", "NA": "there is no such value",
    "NaN": "write not_a_number()", "nan": "write not_a_number()", "inf": "write positive_infinity()",
    "Inf": "write positive_infinity()", "infinity": "write positive_infinity()",
}  # fmt: skip
LAWS = {
    "half_normal": "normal", "half_cauchy": "cauchy", "half_student_t": "student_t", "norm": "normal",
    "unif": "uniform", "mvnorm": "multi_normal", "multivariate_normal": "multi_normal", "mvn": "multi_normal",
    "t": "student_t", "laplace": "double_exponential", "negative_binomial": "neg_binomial", "dnorm": "normal",
    "dbern": "bernoulli", "dbinom": "binomial", "dpois": "poisson", "dgamma": "gamma", "dunif": "uniform",
    "dbeta": "beta", "dexp": "exponential", "lkj": "lkj_corr_cholesky", "inverse_gamma": "inv_gamma",
    "inverse_wishart": "inv_wishart",
}  # fmt: skip


def law_meant(name: str) -> str:
    """What to write for a distribution of another language; "" for a name that none is known by."""
    if name.startswith("half_") and name in LAWS:
        return f"write {LAWS[name]}, of a variable declared with <lower=0>"
    return f"did you mean {LAWS[name]!r}?" if name in LAWS else ""


def unknown(c: Context, name: ast.Name, otherwise: str = "") -> NoReturn:
    """Report a name that is not in scope, with what it may have been meant for, or else with another hint."""
    similar = FOREIGN.get(name.text) or c.functions.nearest(name.text, c.scope.names())
    hint = _HABITS.get(name.text) or (f"did you mean {similar!r}?" if similar else otherwise)
    c.fail(f"{name.text!r} is not in scope", name.span, hint, "scope")


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
