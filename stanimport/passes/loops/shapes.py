"""What decides shapes: of the arguments of a function, and in expressions that have others in each iteration."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from stanlib.types import INT

from ...ir import gprob, traversal
from ...ir.uses import sizes, walk_statements
from .affine import mentions_values
from .parts import count_of
from .symbolic_shapes import SymbolicShapes

Decider = str | int  # a variable, by name, or a branch or loop, by identity


def deciding(f: gprob.FunDef, shaped_by: Callable[[str], frozenset[int]], loops: tuple[type, ...]) -> frozenset[int]:
    """The positions of such arguments, also through local variables and other functions.

    Args:
        f: the function.
        shaped_by: tells the same of other functions.
        loops: those for which it counts how often they run, of `For` and `While`.
    """
    measured = _positions(f, _measures(f, shaped_by), controlled=True)
    return measured | _positions(f, _counts(f, loops)) if loops else measured


def choosing(f: gprob.FunDef, shapes: SymbolicShapes, chosen_by: Callable[[str], frozenset[int]]) -> frozenset[int]:
    """The positions of the arguments that tell which of several values, of other shapes, is returned or taken.

    Args:
        f: the function.
        shapes: those of expressions in it.
        chosen_by: tells the same of other functions.
    """
    calls = [n for n in traversal.walk(f.body) if isinstance(n, gprob.CallUser)]
    wanted = [n.arguments[i] for n in calls for i in chosen_by(n.function)]
    return _positions(f, [*wanted, *_choices(f.body, shapes)], controlled=True)


def _choices(body: tuple[gprob.Stmt, ...], shapes: SymbolicShapes) -> Iterator[gprob.Expr]:
    """The conditions in a function by which what it returns, or a value in it, has one shape or another."""
    returned = [s.value for s in walk_statements(body) if isinstance(s, gprob.Return) and s.value is not None]
    if shapes.differ(returned):
        for s in walk_statements(body):
            if any(isinstance(t, gprob.Return) for b in traversal.bodies(s) for t in walk_statements(b)):
                yield from _decision(s)
    for node in traversal.walk(body):
        if isinstance(node, gprob.Cond) and shapes.differ((node.then, node.otherwise)):
            yield node.condition


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


def _positions(f: gprob.FunDef, deciding: Iterable[gprob.Expr], controlled: bool = False) -> frozenset[int]:
    """The positions of the arguments on whose values some expressions depend, through local variables too.

    With `controlled` a variable depends on the branches and loops, too, in which it gets its values.
    """
    wanted: set[Decider] = {name for e in deciding for name in _values_in(e)}
    sources = [(decided, set(found)) for decided, found in _dependences(f, controlled)]
    while True:
        more = {d for decided, found in sources if decided in wanted for d in found}
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


def _measures(f: gprob.FunDef, shaped_by: Callable[[str], frozenset[int]]) -> Iterator[gprob.Expr]:
    """Sizes, bounds of ranges, and arguments of calls that decide such, or how often loops run, inside."""
    for node in traversal.walk(f.body):
        yield from sizes(node)
        if isinstance(node, gprob.Apply) and node.function.raw:
            yield from node.arguments
        elif isinstance(node, gprob.CallUser):
            yield from (node.arguments[i] for i in shaped_by(node.function))


def _counts(f: gprob.FunDef, loops: tuple[type, ...]) -> Iterator[gprob.Expr]:
    """What tells how often loops of some kinds run."""
    return (e for s in walk_statements(f.body) if isinstance(s, loops) for e in _decision(s))


def _dependences(f: gprob.FunDef, controlled: bool) -> Iterator[tuple[Decider, Iterable[Decider]]]:
    """What the variables of a function depend on: their values on other variables, and on the branch or loop around."""
    waiting: list[tuple[gprob.Stmt, tuple[Decider, ...]]] = [(s, ()) for s in f.body]
    while waiting:
        s, around = waiting.pop()
        decided = tuple(v for e in _decision(s) for v in _values_in(e))
        if isinstance(s, gprob.Declare) and s.value is not None:
            yield s.name, _values_in(s.value)
        elif isinstance(s, gprob.Assign):
            yield s.place.name, (*_values_in(s.value), *around)
        elif isinstance(s, gprob.For):
            yield s.name, decided
        if decided and controlled:
            yield id(s), (*decided, *around)
            around = (id(s),)
        waiting += ((inner, around) for body in traversal.bodies(s) for inner in body)


def _decision(s: gprob.Stmt) -> tuple[gprob.Expr, ...]:
    """What tells whether, or how often, the statements in a branch or loop run."""
    if isinstance(s, gprob.For):
        return s.lower, s.upper
    return (s.condition,) if isinstance(s, (gprob.If, gprob.While)) else ()


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
