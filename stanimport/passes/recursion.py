"""Recursion that parameters end: what traces control flow looks at both sides of each condition and would never end."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stanlib.types import INT

from ..errors import Diagnostic
from ..ir import gprob, traversal
from ..ir.specialised import Specialised
from .binding_times import BindingTimes
from .call_graph import circles, reached

HINT = "count the calls by an integer that data give, write a `while`, or translate with backend='pyro'"

Stmts = tuple[gprob.Stmt, ...]


def may_end_by_data(body: Stmts, times: BindingTimes) -> bool:
    """Whether any condition of a body, or an operand of one, is of data alone, or a loop runs, which may be empty.

    One of ints alone may be, too: the index of a traced loop of few iterations is known.
    """
    nodes = list(traversal.walk(body))
    of_parameters = (times.is_dynamic(c) and not _is_of_ints(c) for c in _conditions(nodes))
    return any(isinstance(n, gprob.For) for n in nodes) or not all(of_parameters)


def refused(made: Specialised, calls: Mapping[str, set[str]], ended_by_data: set[str]) -> Iterator[Diagnostic]:
    """An error for each group of functions, of those that the model runs, whose calls no condition on data can end.

    `calls` are the variants that each function of the module calls, `ended_by_data` those in which such a condition
    might be. Without any condition a recursion never ends, in Stan either.
    """
    bodies = {v.definition.name: v.definition.body for v in made.variants}
    used = {*reached(calls["model"], calls)}
    for circle in circles({n: called for n, called in calls.items() if n in used}):
        if not circle & ended_by_data:
            first = next(_conditions(n for f in bodies if f in circle for n in traversal.walk(bodies[f])), None)
            yield from () if first is None else (_error(first),)


def _conditions(nodes: Iterable[object]) -> Iterator[gprob.Expr]:
    """What decides, without the `||` and `&&` that join it."""
    for n in nodes:
        if isinstance(n, (gprob.If, gprob.While, gprob.Cond)) and not isinstance(n.condition, gprob.Logical):
            yield n.condition
        elif isinstance(n, gprob.Logical):
            yield from (e for e in (n.left, n.right) if not isinstance(e, gprob.Logical))


def _is_of_ints(condition: gprob.Expr) -> bool:
    return all(n.type == INT for n in traversal.walk(condition) if isinstance(n, gprob.Var))


def _error(condition: gprob.Expr) -> Diagnostic:
    text = " ".join(condition.span.text.split())
    return Diagnostic(
        f"the function calls itself until parameters end it by {text}, which can't be compiled", condition.span, HINT,
        code="endless-recursion",
    )  # fmt: skip
