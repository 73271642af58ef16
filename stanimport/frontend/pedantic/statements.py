"""Statements: distributions of transformed or twice distributed variables, control flow that depends on parameters."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from stanlib.types import INT

from ...errors import Diagnostic
from ...ir import gprob, traversal, typed
from ...source import Span
from .constants import number
from .dependence import Branching, Facts, Run


def rule(facts: Facts) -> Iterator[Diagnostic]:
    yield from _distributed_twice(facts)
    yield from _transformed(facts)
    yield from _control(facts.branchings, facts)
    yield from _control_in_functions(facts)


def distributed(facts: Facts) -> Iterator[tuple[gprob.Stmt, gprob.Expr]]:
    """The statements that give a variable a distribution: by ~, or by adding a density to the target."""
    for s in log_density(facts):
        if isinstance(s, typed.Tilde):
            yield s, s.value
        elif isinstance(s, typed.Increment) and isinstance(s.value, (gprob.Apply, gprob.CallUser)):
            if s.value.arguments:
                yield s, s.value.arguments[0]


def log_density(facts: Facts) -> Iterator[gprob.Stmt]:
    """All statements of the log density, in the order of the text."""
    for block in ("transformed parameters", "model"):
        yield from _all(facts.program.block(block))


def _all(statements: tuple[gprob.Stmt, ...]) -> Iterator[gprob.Stmt]:
    for s in statements:
        yield s
        for body in traversal.bodies(s):
            yield from _all(body)


def _distributed_twice(facts: Facts) -> Iterator[Diagnostic]:
    """Warnings of variables that several statements give a distribution, by ~ or as the first argument of a density."""
    seen: dict[str, list[Span]] = {}
    for s, value in distributed(facts):
        if isinstance(value, gprob.Var):
            seen.setdefault(value.name, []).append(s.span)
    for name, spans in seen.items():
        if len(spans) > 1:
            lines = " and ".join(str(span.line) for span in spans[1:3])
            message = f"{name!r} is on the left of more than one ~"
            yield Diagnostic(message, spans[0], f"also in line {lines}", "warning", "distributed-twice")


def _transformed(facts: Facts) -> Iterator[Diagnostic]:
    for s, value in distributed(facts):
        density = isinstance(s, typed.Tilde) or _is_density(s)
        if density and not _linear(value, True):
            message = "the left side of ~ may be a non-linear transformation of a parameter"
            hint = "if it is, add the log of the absolute derivative: a transformed parameter with jacobian +="
            yield Diagnostic(message, s.span, hint, "warning", "jacobian")


def _is_density(s: gprob.Stmt) -> bool:
    assert isinstance(s, typed.Increment)
    e = s.value
    name = e.function.name if isinstance(e, gprob.Apply) else e.function if isinstance(e, gprob.CallUser) else ""
    return name.partition("__")[0].endswith(("_lpdf", "_lpmf", "_lupdf", "_lupmf"))


def _linear(e: gprob.Expr, variable: bool) -> bool:
    """Whether an expression is linear in its variables; with `variable` False, whether it has none."""
    if isinstance(e, gprob.Var):
        return variable
    if isinstance(e, gprob.Const) or number(e) is not None:
        return True
    if isinstance(e, gprob.Index):
        return _linear(e.base, variable)
    if isinstance(e, gprob.Promote):
        return _linear(e.value, variable)
    if isinstance(e, gprob.Cond):
        return all(_linear(x, variable) for x in (e.condition, e.then, e.otherwise))
    if isinstance(e, (gprob.MakeArray, gprob.MakeRow)):
        return all(_linear(x, variable) for x in e.items)
    return isinstance(e, gprob.Apply) and _linear_call(e, variable)


def _linear_call(e: gprob.Apply, variable: bool) -> bool:
    """Whether a call is linear in its variables: in some arguments, by the function's record, of constant others."""
    if all(_linear(a, False) for a in e.arguments):
        return True
    names = e.function.signatures[0].argument_names if e.function.linear else ()
    return any(_linear_in(e, names, group.split(), variable) for group in e.function.linear)


def _linear_in(e: gprob.Apply, names: Sequence[str], group: Sequence[str], variable: bool) -> bool:
    return all(
        _linear(a, variable) if n in group else a.type == INT or _linear(a, False) for n, a in zip(names, e.arguments)
    )


def _control(branchings: list[Branching], facts: Facts) -> Iterator[Diagnostic]:
    for b in branchings:
        names = sorted(str(facts.parameters[n].site) for n in b.names if n in facts.parameters)
        if names:
            message = f"control flow depends on parameter {', '.join(names)}"
            yield Diagnostic(message, b.span, "the log density may jump there", "warning", "control-flow")


def _control_in_functions(facts: Facts) -> Iterator[Diagnostic]:
    """Warnings of control flow in functions that depends on an argument for which some call gives a parameter."""
    for f in facts.program.functions:
        calls = [c for c in facts.calls if c.call.function == f.name]
        if not calls:
            continue
        run = Run({p.name: frozenset({p.name}) for p in f.parameters})
        run.block(f.body)
        for b in run.branchings.values():
            for i, p in enumerate(f.parameters):
                given = [c for c in calls if p.name in b.names and c.arguments[i] & facts.parameters.keys()]
                if given:
                    message = f"control flow depends on argument {p.name!r}, in calls on parameters"
                    hint = f"as in line {given[0].call.span.line}"
                    yield Diagnostic(message, b.span, hint, "warning", "control-flow")
