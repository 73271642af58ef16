"""What distribution functions that are added to the target are of: outcomes of which only a bound was observed."""
from __future__ import annotations

from collections.abc import Container, Iterator

from ..ir import gprob, traversal
from ..ir.uses import is_density_of, is_tail, names_in
from .sites import root

_LOGARITHMS = ("log", "log1m")  # of probabilities, where a difference is that of an interval


def of_censored(value: gprob.Expr, data: Container[str]) -> tuple[gprob.Expr, ...]:
    """The data of which a value is a likelihood by distribution functions; none where it may be anything else.

    Beside a density they are what a truncated law is divided by, as they are where they are taken off. A number that is
    a bound of many outcomes, as in `count * normal_lccdf(bound | m, s)`, is none of them.
    """
    nodes = list(traversal.walk(value))
    tails = [n for n in nodes if is_tail(n)]
    if any(map(is_density_of, nodes)) or not all(_added(value)):
        return ()
    if not all(n in data for t in tails for n in _values(t.arguments[0])):
        return ()
    found = [y for t in tails if (y := _datum(t.arguments[0], data)) is not None]
    if not found or len(tails) == 1 and tails[0] is not value and isinstance(found[0], gprob.Var):
        return ()
    return tuple(found)


def _added(e: gprob.Expr, sign: bool = True) -> Iterator[bool]:
    """Whether each of the distribution functions in a value, or what one logarithm is of, adds to it."""
    if is_tail(e) or _is_logarithm(e) and any(map(is_tail, traversal.walk(e))):
        yield sign
        return
    parts = [c for c in traversal.children(e) if isinstance(c, gprob.Expr)]
    name = e.function.name if isinstance(e, gprob.Apply) else ""
    negative = name == "multiply" and sum(map(_is_negative, parts)) % 2 == 1
    for i, part in enumerate(parts):
        taken_off = name == "minus" or name == "subtract" and i == 1 or negative
        yield from _added(part, sign != taken_off)


def _is_logarithm(e: gprob.Expr) -> bool:
    return isinstance(e, gprob.Apply) and e.function.name in _LOGARITHMS


def _is_negative(e: gprob.Expr) -> bool:
    """Whether a number shows a minus."""
    e = e.value if isinstance(e, gprob.Promote) else e
    if isinstance(e, gprob.Const):
        return isinstance(e.value, (int, float)) and e.value < 0
    return isinstance(e, gprob.Apply) and e.function.name == "minus" and not any(map(is_tail, traversal.walk(e)))


def _values(outcome: gprob.Expr) -> set[str]:
    """The variables in an outcome, but for those of its indices."""
    indices = {n for i in traversal.walk(outcome) if isinstance(i, gprob.Index) for n in names_in(i.indices)}
    return names_in(outcome) - indices


def _datum(outcome: gprob.Expr, data: Container[str]) -> gprob.Expr | None:
    """The part of an outcome that is observed: y[n] in y[n] + 0.5."""
    parts = (n for n in traversal.walk(outcome) if isinstance(n, gprob.Expr))
    return next((n for n in parts if not isinstance(n, gprob.Apply) and root(n) in data), None)
