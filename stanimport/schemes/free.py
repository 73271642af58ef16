"""Laws of unconstrained parameters: `ordered_unconstrain(c) ~ normal(m, s)` in a guide is one of c.

The function on the left must be the inverse of the transform by which the parameter is declared, with its bounds. Its
values are those of the unconstrained scale, so that any law of real numbers will do, and draws from it are transformed.
"""
from __future__ import annotations

from typing import TypeGuard

from stanlib.registry import Function
from stanlib.types import REAL

from ..ir import gprob
from ..ir.uses import mentions
from . import priors
from .priors import NoPrior

_END = "_unconstrain"
# By the function's name, where it is not that of the constraint.
_CONSTRAINTS = {
    "lower_bound": ("lower",), "upper_bound": ("upper",), "lower_upper_bound": ("lower", "upper"),
    "offset_multiplier": ("offset", "multiplier"),
}  # fmt: skip
_KINDS = {
    "cholesky_factor_corr": ("cholesky_factor_corr",), "cholesky_factor_cov": ("cholesky_factor_cov",),
    "sum_to_zero": ("sum_to_zero_vector", "sum_to_zero_matrix"),
    "stochastic_row": ("row_stochastic_matrix",), "stochastic_column": ("column_stochastic_matrix",),
}  # fmt: skip


def is_inverse(e: gprob.Expr) -> TypeGuard[gprob.Apply]:
    """Whether an expression is an unconstrained value."""
    return isinstance(e, gprob.Apply) and e.function.name.endswith(_END)


def subject(e: gprob.Apply) -> str | None:
    """The variable whose unconstrained value an expression is."""
    value = e.arguments[0]
    return value.name if isinstance(value, gprob.Var) else None


def about(value: gprob.Expr, d: gprob.Distribution) -> tuple[str, str | None]:
    """What a `~` statement is about: the function on its left, if it is an inverse, and the variable."""
    return (value.function.name, subject(value)) if is_inverse(value) else ("", priors.subject(value, d))


def law(s: gprob.Sample, value: gprob.Apply, d: gprob.Distribution) -> gprob.Distribution:
    """The law of an unconstrained parameter.

    Raises:
        NoPrior: where it is none, or the function is another transform's than that of the declaration.
    """
    _verify_function(s, value)
    record = d.lpdf.distribution if isinstance(d.lpdf, Function) else None
    if record is None:
        raise NoPrior("is a density of the program, from which nothing can be drawn")
    if record.density == "lpmf" or "rng" not in record.methods:
        raise NoPrior("is one from which no real numbers can be drawn")
    if record.support not in ("real", "vector"):
        raise NoPrior("is not one of all real numbers")
    if d.lower is not None or d.upper is not None:
        raise NoPrior("is truncated, and unconstrained parameters are not")
    if mentions(d.arguments, {s.name}):
        raise NoPrior(f"depends on {s.site} itself")
    return d


def _verify_function(s: gprob.Sample, value: gprob.Apply) -> None:
    """The function must be the inverse of the transform that the parameter's declaration asks for.

    Raises:
        NoPrior: where it is that of another transform, or has other bounds.
    """
    name = value.function.name.removesuffix(_END)
    kind = s.constraint.kind if s.constraint is not None else None
    declared = dict(s.constraint.arguments) if s.constraint is not None else {}
    if kind in ("bounds", "offset_multiplier") or kind is None:
        wanted = _CONSTRAINTS.get(name, ())
        given = dict(zip(wanted, value.arguments[1:]))
        fits = bool(wanted) and set(wanted) == set(declared) and all(_same(given[n], declared[n]) for n in wanted)
    else:
        fits = kind in _KINDS.get(name, (name,))
    if not fits:
        told = "nothing" if s.constraint is None else f"what stands in line {s.span.in_main().line}"
        raise NoPrior(f"is that of another transform than the declaration's: {told}",
                      f"{value.function.name} is the inverse of another constraint, or has other bounds")  # fmt: skip


def _same(a: gprob.Expr, b: gprob.Expr) -> bool:
    """Whether two expressions are the same but for their places."""
    while isinstance(a, gprob.Promote):
        a = a.value
    while isinstance(b, gprob.Promote):
        b = b.value
    return a.type in (b.type, REAL) and " ".join(a.span.text.split()) == " ".join(b.span.text.split())
