"""Laws of unconstrained parameters: `ordered_unconstrain(c) ~ normal(m, s)` in a guide is one of c.

The function on the left must be the inverse of the transform by which the parameter is declared, with its bounds. Its
values are those of the unconstrained scale, so that any law of real numbers will do, and draws from it are transformed.
"""
from __future__ import annotations

from typing import TypeGuard

from stanlib import constraints
from stanlib.registry import Function

from ..ir import gprob
from ..ir.likeness import same_value
from ..ir.uses import mentions
from . import priors
from .priors import NoPrior


def is_inverse(e: gprob.Expr) -> TypeGuard[gprob.Apply]:
    """Whether an expression is an unconstrained value."""
    return isinstance(e, gprob.Apply) and bool(e.function.unconstrains)


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
    inverted = constraints.get(value.function.unconstrains)
    kind = s.constraint.kind if s.constraint is not None else None
    declared = dict(s.constraint.arguments) if s.constraint is not None else {}
    if kind in (None, *constraints.PLAIN):
        wanted = () if inverted.base else inverted.arguments
        given = dict(zip(wanted, value.arguments[1:]))
        fits = bool(wanted) and set(wanted) == set(declared) and all(same_value(given[n], declared[n]) for n in wanted)
    else:
        fits = kind == inverted.name
    if not fits:
        told = "nothing" if s.constraint is None else f"what stands in line {s.span.in_main().line}"
        raise NoPrior(f"is that of another transform than the declaration's: {told}",
                      f"{value.function.name} is the inverse of another constraint, or has other bounds")  # fmt: skip
