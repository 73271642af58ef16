"""Distributions: arguments outside of what they are defined for, constants far from 1, and laws with better ones."""
from __future__ import annotations

from collections.abc import Iterator

from stanlib import constraints, distribution
from stanlib.dataclass import dataclass
from stanlib.supports import Interval, Region

from ...errors import Diagnostic
from ...ir import gprob, traversal, typed
from ...source import Span
from .constants import bounds_of, number
from .dependence import Facts


@dataclass(frozen=True)
class Use:
    """A distribution of the library in use: its name, and the outcome with the arguments behind it."""

    family: str
    span: Span
    arguments: tuple[gprob.Expr, ...]


def rule(facts: Facts) -> Iterator[Diagnostic]:
    for use in _uses(facts):
        for position, region in enumerate(_regions(use.family)[: len(use.arguments)]):
            if region is not None:
                yield from _argument(facts, use, position, region)
        yield from _unscaled(use)
        yield from _advice(facts, use)


def _uses(facts: Facts) -> Iterator[Use]:
    """All of them in transformed parameters, model and functions."""
    blocks = map(facts.program.block, ("transformed parameters", "model"))
    for body in (*blocks, *(f.body for f in facts.program.functions)):
        for node in traversal.walk(body):
            if isinstance(node, typed.Tilde):
                yield Use(node.distribution.family, node.span, (node.value, *node.distribution.arguments))
            elif isinstance(node, gprob.Apply) and node.function.name.endswith(("_lpdf", "_lpmf")):
                yield Use(node.function.name[:-5], node.span, node.arguments)


def _regions(family: str) -> tuple[Region | None, ...]:
    """Where a distribution of the library needs its outcome and its arguments."""
    record = distribution.DISTRIBUTIONS.get(family)
    return () if record is None else record.declared_regions


def _argument(facts: Facts, use: Use, position: int, region: Region) -> Iterator[Diagnostic]:
    """A warning of a constant outside of the region that its place asks for, or a parameter not declared inside."""
    e = use.arguments[position]
    value = number(e)
    place = f"argument {position} of {use.family}" if position else f"the outcome of {use.family}"
    if value is not None:
        if isinstance(region, Interval) and not region.contains(value):
            yield Diagnostic(f"{place} must be {region}, not {value:g}", e.span, "", "warning", "support")
        return
    declared = facts.parameters.get(e.name) if isinstance(e, gprob.Var) else None
    if declared is not None and not _fits(declared.constraint, region):
        message = f"{place} must be {region}, but parameter {declared.site!r} is not declared so"
        yield Diagnostic(message, e.span, f"declare it {region.declaration}", "warning", "support")


def _fits(c: gprob.Constraint | None, region: Region) -> bool:
    if not isinstance(region, Interval):
        return c is not None and constraints.get(region.name).has_all_of(c.kind)
    lower, upper = bounds_of(c)
    if region.lower is not None and (lower is None or lower is not True and lower < region.lower):
        return False
    return region.upper is None or not (upper is None or upper is not True and upper > region.upper)


def _unscaled(use: Use) -> Iterator[Diagnostic]:
    for e in use.arguments:
        value = number(e)
        if value and not 0.1 <= abs(value) <= 10:
            hint = "samplers do best with parameters of size 1: scale by offset and multiplier"
            message = f"{value:g} suggests parameters that are far from unit scale"
            yield Diagnostic(message, e.span, hint, "warning", "scale")


def _advice(facts: Facts, use: Use) -> Iterator[Diagnostic]:
    """Warnings of laws with better ones: matrices with factors, small equal arguments, hard bounds."""
    record = distribution.DISTRIBUTIONS.get(use.family)
    if record is None or len(use.arguments) != 1 + len(record.argument_names):
        return
    if record.preferred:
        hint = f"declare the Cholesky factor and write {record.preferred}: faster and numerically safer"
        yield Diagnostic(f"{use.family} has a variant for Cholesky factors", use.span, hint, "warning", "lkj")
    places = [1 + record.argument_names.index(n) for n in record.vague]
    a, b = (number(use.arguments[i]) for i in places) if places else (None, None)
    if a is not None and a == b and a < 1:
        hint = "a normal or Student t prior on a positive parameter is weaker (Gelman, 2006)"
        message = f"{use.family}({a:g}, {a:g}) is less vague than it looks"
        yield Diagnostic(message, use.arguments[places[0]].span, hint, "warning", "vague-gamma")
    if record.hard_bounds and _hard(facts, use):
        hint = "unless nature sets these bounds, a prior that makes values outside unlikely samples better"
        yield Diagnostic(f"a {use.family} distribution has hard bounds", use.span, hint, "warning", "uniform")


def _hard(facts: Facts, use: Use) -> bool:
    """Whether a parameter's declared bounds are not those of its uniform distribution."""
    value = use.arguments[0]
    declared = facts.parameters.get(value.name) if isinstance(value, gprob.Var) else None
    if declared is None:
        return False
    bounds = bounds_of(declared.constraint)
    if None in bounds:
        return True
    given = [number(e) for e in use.arguments[1:]]
    known = [(g, b) for g, b in zip(given, bounds) if g is not None and b is not True]
    return bool(known) and known[0][0] != known[0][1]
