"""Recursion that parameters end: what traces control flow looks at both sides of each condition and would never end."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stanlib.types import INT

from ..errors import Diagnostic
from ..ir import gprob, traversal
from ..ir.specialised import Specialised
from .binding_times import BindingTimes

HINT = "count the calls by an integer that data give, write a `while`, or translate with backend='pyro'"

Stmts = tuple[gprob.Stmt, ...]


def may_end_by_data(body: Stmts, times: BindingTimes) -> bool:
    """Whether any condition of a body, or an operand of one, is of data alone, or a loop runs, which may be empty.

    One of ints alone may be, too: the index of a traced loop of few iterations is known.
    """
    nodes = list(traversal.walk(body))
    of_parameters = (times.is_dynamic(c) and not _is_of_ints(c) for c in _conditions(nodes))
    return any(isinstance(n, gprob.For) for n in nodes) or not all(of_parameters)


def refused(made: Specialised, ended_by_data: set[str]) -> Iterator[Diagnostic]:
    """An error for each group of functions, of those that the model runs, whose calls no condition on data can end;
    `ended_by_data` are the names of functions in which one might.

    Without any condition a recursion never ends, in Stan either.
    """
    bodies = {v.definition.name: v.definition.body for v in made.variants}
    calls = {name: _called(body) & bodies.keys() for name, body in bodies.items()}
    seen: set[str] = set()
    for name in _reached(_called(made.blocks["model"]) & bodies.keys(), calls):
        circle = {n for n in _reached(calls[name], calls) if name in _reached(calls[n], calls)}
        if not circle & (seen | ended_by_data):
            first = next(_conditions(n for f in bodies if f in circle for n in traversal.walk(bodies[f])), None)
            yield from () if first is None else (_error(first),)
        seen |= circle


def _conditions(nodes: Iterable[object]) -> Iterator[gprob.Expr]:
    """What decides, without the `||` and `&&` that join it."""
    for n in nodes:
        if isinstance(n, (gprob.If, gprob.While, gprob.Cond)) and not isinstance(n.condition, gprob.Logical):
            yield n.condition
        elif isinstance(n, gprob.Logical):
            yield from (e for e in (n.left, n.right) if not isinstance(e, gprob.Logical))


def _is_of_ints(condition: gprob.Expr) -> bool:
    return all(n.type == INT for n in traversal.walk(condition) if isinstance(n, gprob.Var))


def _called(body: Stmts) -> set[str]:
    nodes = list(traversal.walk(body))
    laws = {n.distribution.lpdf for n in nodes if isinstance(n, gprob.Observe)}
    return {n.function for n in nodes if isinstance(n, gprob.CallUser)} | {n for n in laws if isinstance(n, str)}


def _reached(first: Iterable[str], calls: Mapping[str, set[str]]) -> list[str]:
    """The functions that calls get to from `first`, these included."""
    found = sorted(first)
    for name in found:  # which grows
        found += sorted(calls[name] - set(found))
    return found


def _error(condition: gprob.Expr) -> Diagnostic:
    text = " ".join(condition.span.text.split())
    return Diagnostic(
        f"the function calls itself until parameters end it by {text}, which can't be compiled", condition.span, HINT,
        code="endless-recursion",
    )  # fmt: skip
