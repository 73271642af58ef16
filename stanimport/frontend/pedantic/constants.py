"""What is known of expressions and bounds without running the program."""
from __future__ import annotations

from stanlib import constraints

from ...ir import gprob

# A bound: absent, known, or (True) an expression whose value is not known.
Bound = float | bool | None


def number(e: gprob.Expr) -> float | None:
    """The value of a literal, with signs in front of it."""
    if isinstance(e, gprob.Const) and isinstance(e.value, (int, float)):
        return float(e.value)
    if isinstance(e, gprob.Promote):
        return number(e.value)
    if isinstance(e, gprob.Apply) and e.function.name in ("minus", "plus"):
        value = number(e.arguments[0])
        return value if value is None or e.function.name == "plus" else -value
    return None


def bounds_of(c: gprob.Constraint | None) -> tuple[Bound, Bound]:
    """The lower and the upper bound that a constraint sets."""
    if c is None or c.kind == "tuple":
        return None, None
    if c.kind != constraints.BOUNDS:
        return constraints.get(c.kind).interval
    lower, upper = (c.argument(n) for n in ("lower", "upper"))
    return _bound(lower), _bound(upper)


def _bound(e: gprob.Expr | None) -> Bound:
    if e is None:
        return None
    value = number(e)
    return True if value is None else value
