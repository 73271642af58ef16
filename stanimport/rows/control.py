"""What a body of statements may do, as loops over rows and calls ask: leave a loop early, sum up numbers, reject."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from stanlib.types import is_scalar

from ..ir import gprob, traversal
from ..ir.uses import walk_statements


def totals(body: Sequence[gprob.Stmt]) -> set[str]:
    """The numbers that statements of a body assign to."""
    whole = (s for s in walk_statements(body) if isinstance(s, gprob.Assign) and not s.place.steps)
    return {s.place.name for s in whole if is_scalar(s.place.type)}


def is_left(body: Sequence[gprob.Stmt]) -> bool:
    """Whether something leaves a loop before its last iteration."""
    for s in body:
        if isinstance(s, (gprob.Break, gprob.Return)):
            return True
        if isinstance(s, gprob.If) and (is_left(s.then) or is_left(s.otherwise)):
            return True
        if isinstance(s, (gprob.For, gprob.While)) and any(map(_is_return, walk_statements(s.body))):
            return True
    return False


def _is_return(s: gprob.Stmt) -> bool:
    return isinstance(s, gprob.Return)


def may_reject(functions: Mapping[str, gprob.FunDef], name: str) -> bool:
    """Whether a function of the program, or one that it calls, has a statement that rejects."""
    waiting, seen = [name], set[str]()
    while waiting:
        f = functions.get(waiting.pop())
        if f is None or f.name in seen:
            continue
        seen.add(f.name)
        nodes = list(traversal.walk(f.body))
        if any(isinstance(n, gprob.Message) and n.kind == "reject" for n in nodes):
            return True
        waiting += [n.function for n in nodes if isinstance(n, gprob.CallUser)]
    return False
