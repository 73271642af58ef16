"""Which arguments of a function decide shapes or numbers of iterations inside it."""
from __future__ import annotations

from collections.abc import Callable, Iterator

from ...middle import gprob
from ..binding_times import walk_statements


def deciding(f: gprob.FunDef, shaped_by: Callable[[str], frozenset[int]]) -> frozenset[int]:
    """The positions of such arguments, also through local variables and other functions."""
    wanted = {n.name for e in _deciding_expressions(f, shaped_by) for n in gprob.walk(e) if isinstance(n, gprob.Var)}
    while True:
        more = {n.name for name, value in _definitions(f) if name in wanted for n in gprob.walk(value)
                if isinstance(n, gprob.Var)}  # fmt: skip
        if more <= wanted:
            return frozenset(i for i, p in enumerate(f.parameters) if p.name in wanted)
        wanted |= more


def _deciding_expressions(f: gprob.FunDef, shaped_by: Callable[[str], frozenset[int]]) -> Iterator[gprob.Expr]:
    for s in walk_statements(f.body):
        if isinstance(s, gprob.For):
            yield s.lower
            yield s.upper
        elif isinstance(s, gprob.While):
            yield s.condition
    for node in gprob.walk(f.body):
        if isinstance(node, gprob.Sized):
            yield from node.shape
        elif isinstance(node, gprob.Range):
            yield from (e for e in (node.lower, node.upper) if e is not None)
        elif isinstance(node, gprob.Apply):
            yield from (node.arguments[i] for i in node.function.shape_arguments)
            if node.function.raw:
                yield from node.arguments
        elif isinstance(node, gprob.CallUser):
            yield from (node.arguments[i] for i in shaped_by(node.function))


def _definitions(f: gprob.FunDef) -> Iterator[tuple[str, gprob.Expr]]:
    for s in walk_statements(f.body):
        if isinstance(s, gprob.Declare) and s.value is not None:
            yield s.name, s.value
        elif isinstance(s, gprob.Assign):
            yield s.place.name, s.value
