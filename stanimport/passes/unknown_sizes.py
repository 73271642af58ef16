"""Sizes that no backend knows which traces control flow: parameters decide them, or a `while` over parameters does."""
from __future__ import annotations

from collections.abc import Iterator

from ..errors import Diagnostic
from ..ir import gprob, traversal
from ..ir.specialised import Specialised
from ..ir.uses import mentions, sizes, walk_statements, written
from . import unknown_values
from .binding_times import BindingTimes

HINT = (
    "let the counter go up or down in steps of constants, from a value to a bound that data tell"
    " (`while (n <= N && ...)`), or translate with backend='pyro'"
)

OTHER = "let data decide it, and a condition what is read of it, or translate with backend='pyro'"

Stmts = tuple[gprob.Stmt, ...]


def of_loops(body: Stmts, times: BindingTimes) -> Iterator[Diagnostic]:
    """An error for each that a traced `while` of a body decides."""
    for s in walk_statements(body):
        if isinstance(s, gprob.While) and times.is_dynamic(s.condition):
            changed = written(s.body)
            for e in (e for node in traversal.walk(s.body) for e in sizes(node)):
                if times.is_dynamic(e) and mentions(e, changed):
                    text = " ".join(e.span.text.split())
                    yield Diagnostic(
                        f"the size {text} is known only while this `while` over parameters runs,"
                        " which can't be compiled", e.span, HINT, code="unknown-size",
                    )  # fmt: skip


def of_parameters(made: Specialised) -> Iterator[Diagnostic]:
    """An error for each that parameters decide in what the model runs."""
    told = set[object]()
    for node, unknown in unknown_values.of_model(made):
        for e in sizes(node):
            if unknown_values.depends(e, unknown) and e.span not in told:
                told.add(e.span)
                text = " ".join(e.span.text.split())
                yield Diagnostic(
                    f"the size {text} depends on parameters, which can't be compiled", e.span, OTHER,
                    code="unknown-size",
                )  # fmt: skip
