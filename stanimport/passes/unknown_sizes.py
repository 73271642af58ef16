"""Sizes that no backend knows which traces control flow: parameters decide them, or a `while` over parameters does."""
from __future__ import annotations

from collections.abc import Iterator

from ..errors import Diagnostic
from ..ir import gprob, traversal
from ..ir.specialised import Specialised
from ..ir.uses import mentions, walk_statements, written
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
            for e in _sizes(s.body):
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
        for e in _sizes_of(node):
            if unknown_values.depends(e, unknown) and e.span not in told:
                told.add(e.span)
                text = " ".join(e.span.text.split())
                yield Diagnostic(
                    f"the size {text} depends on parameters, which can't be compiled", e.span, OTHER,
                    code="unknown-size",
                )  # fmt: skip


def _sizes(body: Stmts) -> Iterator[gprob.Expr]:
    return (e for node in traversal.walk(body) for e in _sizes_of(node))


def _sizes_of(node: object) -> Iterator[gprob.Expr]:
    """Sizes of variables, bounds of ranges and arguments of the library's functions that are sizes."""
    if isinstance(node, gprob.Sized):
        yield from node.shape
    elif isinstance(node, gprob.Range):
        yield from (b for b in (node.lower, node.upper) if b is not None)
    elif isinstance(node, gprob.Apply):
        yield from (node.arguments[i] for i in node.function.shape_arguments)
