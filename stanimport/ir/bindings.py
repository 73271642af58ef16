"""Whether variables are bound before they are read, once, and of the types that their readers claim."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from stanlib.dataclass import dataclass
from stanlib.types import INT, Type

from . import gprob, traversal
from .unverified import fail
from .uses import declared, may_change, written

# The fields that name variables a statement reads or changes, besides the `Var`s and `Place`s in it.
READS: dict[type, tuple[str, ...]] = {
    gprob.Var: ("name",), gprob.Place: ("name",), gprob.Check: ("name",), gprob.Deterministic: ("name",),
    gprob.Assign: ("over",), gprob.Accumulate: ("loop", "over"), gprob.Last: ("name", "loop"),
    gprob.Cumulate: ("loop",), gprob.Recur: ("loop", "inputs"), gprob.If: ("merged",), gprob.Bind: ("name",),
    gprob.Unbroken: ("loop",),
}  # fmt: skip
MOST = 200_000  # statements of which is kept what they read; nodes that are known to be verified


@dataclass
class Bindings:
    """The variables that are bound where the walk is, with their types."""

    given: Mapping[str, Type]
    declared: set[str] = field(default_factory=set)
    kept: dict[str, Type] = field(default_factory=dict)  # bound in a block for all that follows

    def block(self, statements: Iterable[gprob.Stmt], around: Mapping[str, Type]) -> None:
        bound = dict(around)
        for s in statements:
            self.statement(s, bound)

    def statement(self, s: gprob.Stmt, bound: dict[str, Type]) -> None:
        """What a statement reads must be bound; what it binds for the statements after it goes into `bound`."""
        inside = dict(bound) if traversal.bodies(s) else bound
        if isinstance(s, (gprob.For, gprob.ForEach)):
            self._declare(s, s.name, INT if isinstance(s, gprob.For) else s.element, inside)
        elif isinstance(s, gprob.Recur):
            self._declare(s, s.name, INT, inside)
            for w in s.windows:
                inside.update(dict.fromkeys((w.row, *w.before), w.type))
            known = {g: self._known(i, bound) for g, i in zip(s.given, s.inputs)}
            inside.update({g: t for g, t in known.items() if t is not None})
        self._reads(_reads_of(s), bound)
        if isinstance(s, gprob.For):
            self._bounds(s, inside)
        self._bodies(s, inside)
        if isinstance(s, gprob.Declare):
            self._declare(s, s.name, s.sized.type, bound)
        elif isinstance(s, (gprob.Sample, gprob.Param)):
            self.kept[s.name] = s.sized.type
        elif isinstance(s, gprob.Cumulate):
            bound[s.name] = s.value.type
        elif isinstance(s, gprob.Recur):
            bound.update(_outputs(s))

    def _bounds(self, s: gprob.For, inside: Mapping[str, Type]) -> None:
        """Bounds are computed once: the body leaves the upper one as it is. `alike` is of the iterations."""
        if may_change(s.upper, written(s.body) - declared(s.body)):
            fail(s, "has a bound that its body changes")
        self._reads(_named_in(traversal.walk(s.alike)), inside)

    def _declare(self, s: gprob.Stmt, name: str, t: Type, bound: dict[str, Type]) -> None:
        if name in self.declared or name in self.given:
            fail(s, f"{name} is bound a second time")
        self.declared.add(name)
        bound[name] = t

    def _bodies(self, s: gprob.Stmt, inside: Mapping[str, Type]) -> None:
        """The blocks inside a statement; of the sides of a branch only one is run."""
        before, after = self.declared, set(self.declared)
        for b in traversal.bodies(s):
            self.declared = set(before)
            self.block(b, inside)
            after |= self.declared
        self.declared = after

    def _known(self, name: str, bound: Mapping[str, Type]) -> Type | None:
        return next((b[name] for b in (bound, self.kept, self.given) if name in b), None)

    def _reads(self, reads: Iterable[_Read], bound: Mapping[str, Type]) -> None:
        for node, name, claimed in reads:
            known = self._known(name, bound)
            if known is None:
                fail(node, f"{name} is not bound")
            if claimed is not None and claimed != known:
                fail(node, f"{name} is of type {known}, not {claimed}")


_Read = tuple[traversal.Node, str, Type | None]  # a node, a name in it, the type that it claims


def _named_in(nodes: Iterable[traversal.Node]) -> list[_Read]:
    """The names that nodes read, with what they claim; of the nodes that say the same the first one."""
    found: dict[tuple[str, Type | None], _Read] = {}
    for node in nodes:
        attributes = READS.get(node.__class__)
        for name in _names(node, attributes) if attributes is not None else ():
            claimed = node.type if isinstance(node, gprob.Var) else node.base if isinstance(node, gprob.Place) else None
            found.setdefault((name, claimed), (node, name, claimed))
    return list(found.values())


_own_reads: dict[int, tuple[gprob.Stmt, list[_Read]]] = {}  # of statements, which don't change, by their identity


def _reads_of(s: gprob.Stmt) -> list[_Read]:
    """What a statement reads, without the statements inside: found once, since most passes leave it as it was."""
    known = _own_reads.get(id(s))
    if known is None:
        if len(_own_reads) > MOST:
            _own_reads.clear()
        known = _own_reads[id(s)] = s, _named_in(_own_nodes(s))
    return known[1]


def _outputs(s: gprob.Recur) -> dict[str, Type]:
    """What is bound behind a recurrence: what the rest of the loop reads of its body."""
    types = {w.row: w.type for w in s.windows}
    for node in traversal.walk(s.body):
        if isinstance(node, gprob.Declare):
            types[node.name] = node.sized.type
    return {n: types[n] for n in s.outputs if n in types}


def _own_nodes(s: gprob.Stmt) -> Iterable[traversal.Node]:
    """A statement and the nodes in it, without the statements inside and what stands for the iterations of a loop."""
    inside = {id(e) for e in s.alike} if isinstance(s, gprob.For) else ()
    stack: list[traversal.Node] = [s]
    while stack:
        node = stack.pop()
        yield node
        below = traversal.children(node)
        if inside or isinstance(node, gprob.Stmt):
            below = [c for c in below if not isinstance(c, gprob.Stmt) and id(c) not in inside]
        stack += below


def _names(node: object, attributes: tuple[str, ...]) -> Iterable[str]:
    for name in attributes:
        value = getattr(node, name)
        yield from value if isinstance(value, tuple) else () if value is None else (value,)
