"""Which data are outcomes alone: what a model can draw where it is not given them; and what is computed of data."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import gprob, traversal
from .uses import breaks, depending, names_in, reads, walk_statements


def unpredictable(program: gprob.Program, guide: bool = False) -> dict[str, str]:
    """The data of a program that can't be left to the model, or guide, to draw: why, by Stan name.

    `program` has its calls that add to the target as statements.
    """
    body = program.guide if guide else program.model
    around = _around(program)
    if any(isinstance(n, gprob.TargetValue) for n in traversal.walk((*body, *(f.body for f in program.functions)))):
        return {v.name: "the program reads target()" for v in program.data}
    reasons = {v.name: _reason(v.symbol, around, body, guide) for v in program.data}
    summed = ", where discrete parameters are summed out" if program.discrete else ""
    return {name: f"{reason}{summed}" for name, reason in reasons.items() if reason}


def computed_from(program: gprob.Program) -> dict[str, frozenset[str]]:
    """The transformed data that may depend on the values of each of the data, not on its sizes alone, by Stan name."""
    names = {v.symbol: v.name for v in program.transformed_data_variables}
    body = traversal.rewrite(program.transformed_data, _without_sizes)
    return {v.name: frozenset(names[n] for n in depending(body, {v.symbol}, deciding) & names.keys())
            for v in program.data}  # fmt: skip


def _without_sizes(node: object) -> object:
    is_size = isinstance(node, gprob.Apply) and node.function.shape_only and isinstance(node.arguments[0], gprob.Var)
    return gprob.int_const(0, node.span) if isinstance(node, gprob.Apply) and is_size else node


def deciding(s: gprob.Stmt) -> set[str]:
    """What a statement reads, and for a loop what decides whether it is left, and with it all that it does."""
    ends = [t.condition for b in traversal.bodies(s) for t in walk_statements(b)
            if isinstance(t, gprob.If) and breaks((t,))]  # fmt: skip
    return reads(s) | names_in(tuple(ends))


def _around(program: gprob.Program) -> tuple[object, ...]:
    """What is computed before the model: sizes, domains and transformed data."""
    declared = (*program.data, *program.transformed_data_variables, *program.parameters)
    domains = tuple(d for v in declared for d in (v.sized, v.constraint) if d is not None)
    return (*domains, *program.transformed_data)


def _reason(symbol: str, around: tuple[object, ...], body: Sequence[gprob.Stmt], guide: bool) -> str | None:
    """Why a variable is no outcome of the body alone; a guide need not observe it."""
    if any(_is_read(n, symbol) for n in traversal.walk(around)):
        return "sizes, domains or transformed data are computed from it"
    observed = False
    for s in walk_statements(body):
        outcome = _outcome(s, symbol)
        observed = observed or outcome is not None
        if any(n is not outcome and _is_read(n, symbol) for n in _nodes(s)):
            return f"line {s.span.line} reads it elsewhere than as the outcome of a statement `~`"
    return None if observed or guide else "no statement `~` draws it"


def _nodes(s: gprob.Stmt) -> Iterator[traversal.Node]:
    """What stands in a statement, without the statements inside of it; itself if it names a variable."""
    yield s
    for child in traversal.children(s):
        if not isinstance(child, gprob.Stmt):
            yield from traversal.walk(child)


def _is_read(node: object, symbol: str) -> bool:
    return isinstance(node, (gprob.Var, gprob.Place)) and node.name == symbol


def _outcome(s: gprob.Stmt, symbol: str) -> gprob.Var | None:
    """The variable where a statement observes it, or a part of it that is selected by indices."""
    value = s.value if isinstance(s, gprob.Observe) else None
    while isinstance(value, gprob.Index):
        value = value.base
    return value if isinstance(value, gprob.Var) and value.name == symbol else None
