"""Declared bounds of parameters: intervals other than those of probabilities and correlations, and empty ones."""
from __future__ import annotations

from collections.abc import Iterator

from stanlib.constraints import BOUNDS

from ...errors import Diagnostic
from .constants import bounds_of
from .dependence import Facts

USUAL = {(0.0, 1.0), (-1.0, 1.0)}


def rule(facts: Facts) -> Iterator[Diagnostic]:
    """Warnings of parameters with two known bounds, but the usual ones: nothing lies between, or they are hard."""
    for d in facts.parameters.values():
        if d.constraint is None or d.constraint.kind != BOUNDS:
            continue
        lower, upper = bounds_of(d.constraint)
        if not isinstance(lower, float) or not isinstance(upper, float) or (lower, upper) in USUAL:
            continue
        if lower >= upper:
            message = f"the lower bound of parameter {d.site!r} is not below its upper bound"
            yield Diagnostic(message, d.span, "no value lies between them", "warning", "bounds")
        else:
            hint = "unless nature sets these bounds, a prior that makes values outside unlikely samples better"
            yield Diagnostic(f"parameter {d.site!r} has hard bounds", d.span, hint, "warning", "hard-constraint")
