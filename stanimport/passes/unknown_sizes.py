"""Sizes that no backend knows which traces control flow: those that variables of a `while` over parameters decide."""
from __future__ import annotations

from collections.abc import Iterator

from ..errors import Diagnostic
from ..ir import gprob, traversal
from ..ir.uses import mentions, walk_statements, written
from .binding_times import BindingTimes

HINT = (
    "let the counter go up or down in steps of constants, from a value to a bound that data tell"
    " (`while (n <= N && ...)`), or translate with backend='pyro'"
)


def refused(body: tuple[gprob.Stmt, ...], times: BindingTimes) -> Iterator[Diagnostic]:
    """An error for each such size in a body whose control flow is traced."""
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


def _sizes(body: tuple[gprob.Stmt, ...]) -> Iterator[gprob.Expr]:
    """Sizes of variables, bounds of ranges and arguments of the library's functions that are sizes."""
    for node in traversal.walk(body):
        if isinstance(node, gprob.Sized):
            yield from node.shape
        elif isinstance(node, gprob.Range):
            yield from (b for b in (node.lower, node.upper) if b is not None)
        elif isinstance(node, gprob.Apply):
            yield from (node.arguments[i] for i in node.function.shape_arguments)
