"""What decides shapes: of the arguments of a function, and in expressions that have others in each iteration."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from stanlib.types import INT

from ...ir import gprob, traversal
from ...ir.uses import sizes, walk_statements
from .affine import mentions_values
from .parts import count_of


def deciding(f: gprob.FunDef, shaped_by: Callable[[str], frozenset[int]], loops: tuple[type, ...]) -> frozenset[int]:
    """The positions of such arguments, also through local variables and other functions.

    Args:
        f: the function.
        shaped_by: tells the same of other functions.
        loops: those for which it counts how often they run, of `For` and `While`.
    """
    return _positions(f, _deciding_expressions(f, shaped_by, loops))


def counting_calls(f: gprob.FunDef, is_recursive: bool, counted_by: Callable[[str], frozenset[int]]) -> frozenset[int]:
    """The positions of the arguments that, by ints, may tell how often a recursive function calls itself.

    Args:
        f: the function.
        is_recursive: whether it calls itself, through others too.
        counted_by: tells the same of other functions.
    """
    nodes = list(traversal.walk(f.body))
    calls = [n for n in nodes if isinstance(n, gprob.CallUser)]
    wanted = [n.arguments[i] for n in calls for i in counted_by(n.function)]
    if is_recursive:
        conditions = [n.condition for n in nodes if isinstance(n, (gprob.If, gprob.While, gprob.Cond))]
        wanted += [v for c in conditions for v in traversal.walk(c) if isinstance(v, gprob.Var) and v.type == INT]
    return _positions(f, wanted)


def _positions(f: gprob.FunDef, deciding: Iterable[gprob.Expr]) -> frozenset[int]:
    """The positions of the arguments on whose values some expressions depend, through local variables too."""
    wanted = {name for e in deciding for name in _values_in(e)}
    while True:
        more = {n for name, value in _definitions(f) if name in wanted for n in _values_in(value)}
        if more <= wanted:
            return frozenset(i for i, p in enumerate(f.parameters) if p.name in wanted)
        wanted |= more


def _values_in(node: object) -> Iterator[str]:
    """The variables whose values, and not only whose shapes, an expression depends on."""
    if isinstance(node, gprob.Var):
        yield node.name
    elif not (isinstance(node, gprob.Apply) and node.function.shape_only):
        for child in traversal.children(node):
            yield from _values_in(child)


def _deciding_expressions(
    f: gprob.FunDef, shaped_by: Callable[[str], frozenset[int]], loops: tuple[type, ...]
) -> Iterator[gprob.Expr]:
    """Sizes, bounds of loops and ranges, conditions of `while`, and arguments of calls that decide such inside."""
    for s in walk_statements(f.body):
        if isinstance(s, gprob.For) and gprob.For in loops:
            yield s.lower
            yield s.upper
        elif isinstance(s, gprob.While) and gprob.While in loops:
            yield s.condition
    for node in traversal.walk(f.body):
        yield from sizes(node)
        if isinstance(node, gprob.Apply) and node.function.raw:
            yield from node.arguments
        elif isinstance(node, gprob.CallUser):
            yield from (node.arguments[i] for i in shaped_by(node.function))


def _definitions(f: gprob.FunDef) -> Iterator[tuple[str, gprob.Expr]]:
    for s in walk_statements(f.body):
        if isinstance(s, gprob.Declare) and s.value is not None:
            yield s.name, s.value
        elif isinstance(s, gprob.Assign):
            yield s.place.name, s.value
        elif isinstance(s, gprob.For):
            yield s.name, s.lower
            yield s.name, s.upper


def shape_varies(e: gprob.Expr, varying: set[str]) -> bool:
    """Whether an expression selects a part whose size depends on `varying`, what differs between iterations."""
    if isinstance(e, gprob.Promote):
        return shape_varies(e.value, varying)
    if isinstance(e, gprob.Apply):
        own = any(mentions_values(n, varying) for n in sizes(e))
        return own or any(shape_varies(a, varying) for a in e.arguments)
    return isinstance(e, gprob.Index) and any(_count_varies(i, varying) for i in e.indices)


def _count_varies(i: gprob.IndexExpr, varying: set[str]) -> bool:
    """Whether an index takes other numbers of items in other iterations."""
    if isinstance(i, gprob.Multi):
        return shape_varies(i.value, varying)
    if not isinstance(i, gprob.Range):
        return False
    whole = i.lower is not None and i.upper is not None
    return mentions_values(count_of(i) if whole else i, varying)
