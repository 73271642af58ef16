"""Sizes that no backend knows which traces control flow: parameters decide them, or a `while` over parameters does."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..errors import Diagnostic
from ..ir import gprob, traversal
from ..ir.uses import mentions, walk_statements, writes, written
from .binding_times import BindingTimes

HINT = (
    "let the counter go up or down in steps of constants, from a value to a bound that data tell"
    " (`while (n <= N && ...)`), or translate with backend='pyro'"
)

OTHER = "let data decide it, and a condition what is read of it, or translate with backend='pyro'"

Stmts = tuple[gprob.Stmt, ...]


def refused(body: Stmts, times: BindingTimes) -> Iterator[Diagnostic]:
    """An error for each such size in a body whose control flow is traced."""
    yield from _of_loops(body, times)
    yield from _of_parameters(body)


def _of_loops(body: Stmts, times: BindingTimes) -> Iterator[Diagnostic]:
    """Those that a traced `while` decides."""
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


def _of_parameters(body: Stmts) -> Iterator[Diagnostic]:
    """Those that are computed from parameters wherever a program gets; binding times also tell what may be."""
    unknown = _unknown(body)
    for e in _sizes(body, ranges=False):
        if _depends(e, unknown):
            text = " ".join(e.span.text.split())
            yield Diagnostic(
                f"the size {text} depends on parameters, which can't be compiled", e.span, OTHER, code="unknown-size"
            )


def _unknown(body: Stmts) -> set[str]:
    """Parameters, and variables that get one value which depends on them."""
    statements = list(walk_statements(body))
    found = {s.name for s in statements if isinstance(s, (gprob.Sample, gprob.Param))}
    sets = [s for s in statements if not isinstance(s, gprob.Declare) or s.value is not None]
    times = Counter(name for s in sets for name in writes(s))
    for s in sets if found else ():
        value = s.value if isinstance(s, (gprob.Declare, gprob.Assign)) else None
        name = s.place.name if isinstance(s, gprob.Assign) and not s.place.steps else getattr(s, "name", None)
        if value is not None and name is not None and times[name] == 1 and _depends(value, found):
            found.add(name)
    return found


def _depends(e: object, unknown: set[str]) -> bool:
    """Whether a value is computed from unknown ones; not where it may as well be a constant, as an item of a tuple."""
    if isinstance(e, gprob.Var):
        return e.name in unknown
    if isinstance(e, gprob.Cond):
        return _depends(e.condition, unknown) or _depends(e.then, unknown) and _depends(e.otherwise, unknown)
    if isinstance(e, gprob.Logical):
        return _depends(e.left, unknown)
    if isinstance(e, gprob.Apply):
        return not e.function.shape_only and any(_depends(a, unknown) for a in e.arguments)
    if isinstance(e, gprob.Index):
        chosen = (i.value for i in e.indices if isinstance(i, gprob.Single))
        return any(_depends(part, unknown) for part in (e.base, *chosen))
    return isinstance(e, gprob.Promote) and _depends(e.value, unknown)


def _sizes(body: Stmts, ranges: bool = True) -> Iterator[gprob.Expr]:
    """Sizes of variables, bounds of ranges and arguments of the library's functions that are sizes."""
    for node in traversal.walk(body):
        if isinstance(node, gprob.Sized):
            yield from node.shape
        elif isinstance(node, gprob.Range) and ranges:
            yield from (b for b in (node.lower, node.upper) if b is not None)
        elif isinstance(node, gprob.Apply):
            yield from (node.arguments[i] for i in node.function.shape_arguments)
