"""Sizes and indices of containers that depend on discrete parameters, checked before these containers are gone.

Local variables are replaced by their values, statements over containers by loops over components; then nothing is left
of the sizes that were declared. Data alone decide those, and mostly indices too: so what Stan would throw for, values
of one size assigned to variables of another, components that there are not, is told before all else by statements that
do the same to arrays of zeros. They stand at the places of the program's.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field

from stanlib.dataclass import dataclass
from stanlib.types import INT, array, dimensions

from ..ir import gprob, traversal, uses
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from ..ir.likeness import same
from ..ir.renaming import with_names
from ..source import Span
from .components import is_by_component, is_container, not_negative, size
from .parameters import Stmts, variable
from .unset import Unset


def checked(
    body: Stmts, tainted: Set[str], static: Set[str], sizes: Mapping[str, gprob.Sized], names: Fresh
) -> Stmts:  # fmt: skip
    """Statements that do what a body does to the sizes of containers that depend on discrete parameters.

    Args:
        tainted: The variables of the body that depend on those.
        static: The variables that depend on data alone; others are not in these statements.
        sizes: The declarations of all variables.
    """
    told: frozenset[str] = frozenset()
    while True:
        known, extents = set(static), dict[str, gprob.Var]()
        checks = _Checks(tainted, sizes, names, known, extents, Unset(sizes, extents, known, told))
        made = checks.block(body)
        if checks.unset.untold <= told:
            break
        told |= checks.unset.untold
    own = (*uses.loop_indices(made), *uses.declared(made))
    return with_names(made, {n: names.helper(n) for n in sorted(own)})


@dataclass
class _Checks:
    tainted: Set[str]
    sizes: Mapping[str, gprob.Sized]
    names: Fresh
    known: set[str]  # variables whose value these statements have
    extents: dict[str, gprob.Var]  # arrays of ints, of the sizes of containers
    unset: Unset  # of the same variables and arrays
    loops: dict[str, gprob.For] = field(default_factory=dict)
    checks: set[str] = field(default_factory=set)  # the variables that are there to check something
    kept_breaks: int = 0  # so many `break` and `continue` data decide, or are gone with their loops

    def statement(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """What stands in place of a statement."""
        if isinstance(s, gprob.Declare):
            yield from self.declared(s)
        elif isinstance(s, gprob.Assign):
            yield from self.assigned(s)
        elif isinstance(s, gprob.For):
            yield from self.loop(s)
        elif isinstance(s, gprob.If):
            yield from self.branch(s)
        elif isinstance(s, uses.BREAKS):
            self.kept_breaks += 1
            yield s
        elif traversal.bodies(s):
            self.passed_over(s)
        else:
            yield from self.read(traversal.children(s))
            yield from self.unset.of_term(s)

    def passed_over(self, s: gprob.Stmt) -> None:
        """A statement with others inside, of which data don't tell which ones run."""
        self.known -= uses.written((s,))
        self.unset.untold |= uses.written((s,))
        if not isinstance(s, gprob.If):
            self.kept_breaks += _count_breaks(s)

    def declared(self, s: gprob.Declare) -> Iterator[gprob.Stmt]:
        """A container's array of zeros; another variable that data decide as it is."""
        self.known.discard(s.name)
        if s.name not in self.tainted:
            if self.is_known((s.sized.shape, s.value)) and s.site is None:
                self.known.add(s.name)
                yield s
            return
        dims = dimensions(s.sized.type)
        if dims and self.is_known(s.sized.shape):
            name, t = self.names.helper("extent"), array(INT, dims)
            zeros = raw("discrete_filled__", t, s.span, gprob.int_const(0, s.span), *s.sized.shape)
            yield gprob.Declare(s.span, name, gprob.Sized(t, s.sized.shape), None, zeros)
            self.extents[s.name] = variable(t, s.span, name)
            self.known.add(name)
            self.unset.declared(s)
        if s.value is not None:
            yield from self.read([s.value])
            yield from self.of_size(s.name, s.value, s.span)

    def assigned(self, s: gprob.Assign) -> Iterator[gprob.Stmt]:
        """What an assignment reads and writes; one to a variable that data decide as it is."""
        if s.place.name not in self.tainted:
            if s.place.name not in self.known:
                return
            if self.is_known((s.place, s.value)):
                yield s
            else:
                self.known.discard(s.place.name)
            return
        yield from self.read([s.value, *traversal.children(s.place)])
        yield from self.unset.of_term(s)
        if not s.place.steps:
            yield from self.of_size(s.place.name, s.value, s.span)
        elif len(s.place.steps) == 1 and not s.place.steps[0].item:
            yield from self.part(s.place.name, s.place.steps[0].indices, s.place.span)
            yield from self.of_part(s)
        yield from self.unset.set(s)

    def loop(self, s: gprob.For) -> Iterator[gprob.Stmt]:
        """A loop of the checks in its body, if data decide its bounds and what leaves it early."""
        written = uses.written((s,))
        outer = written - uses.declared(s.body) - {s.name}
        self.known -= outer  # what it was in the iteration before is not told
        if not self.is_known((s.lower, s.upper)):
            self.passed_over(s)
            return
        self.known.add(s.name)
        self.loops[s.name] = s
        before = self.kept_breaks
        body = self.inside(s, s.body)
        self.known -= written
        if self.kept_breaks - before < _count_breaks(s):  # something else may leave it
            self.kept_breaks = before
            self.passed_over(s)
            return
        if self.does(body):
            yield gprob.For(s.span, s.name, s.lower, s.upper, body)

    def branch(self, s: gprob.If) -> Iterator[gprob.Stmt]:
        if not self.is_known(s.condition):
            yield from self.read([s.condition])
            self.passed_over(s)
            return
        sides = self.inside(s, s.then), self.inside(s, s.otherwise)
        if any(sides):
            yield gprob.If(s.span, s.condition, *sides)

    def block(self, body: Stmts) -> Stmts:
        return tuple(t for s in body for t in self.statement(s))

    def inside(self, s: gprob.Stmt, body: Stmts) -> Stmts:
        """A body inside of a loop or branch."""
        here = len(self.unset.here)
        self.unset.around.append(s)
        made = self.block(body)
        self.unset.left()
        del self.unset.here[here:]
        return made

    def does(self, body: Stmts) -> bool:
        """Whether some statement checks something."""
        return bool(uses.declared(body) & self.checks) or self.unset.keeps(body)

    def is_known(self, node: object) -> bool:
        return uses.names_in(node) <= self.known

    # --- checks

    def read(self, nodes: Sequence[object]) -> Iterator[gprob.Stmt]:
        """Those of parts of containers that are read whatever discrete parameters are, and of operands."""
        for e in _always(nodes):
            if isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var) and e.base.name in self.extents:
                yield from self.part(e.base.name, e.indices, e.span)
            elif isinstance(e, gprob.Apply) and is_by_component(e) and dimensions(e.type) == 1:
                found = [n for a in e.arguments if is_container(a.type) and (n := size(a, self.sizes)) is not None]
                for other in found[1:]:
                    yield from self.alike(found[0], other, e.span)

    def part(self, name: str, indices: Sequence[gprob.IndexExpr], span: Span) -> Iterator[gprob.Stmt]:
        """The part of a container that indices select, if data decide them."""
        base = self.extents.get(name)
        if base is None or not self.is_known(indices) or all(map(self.is_inside, indices, self.sizes[name].shape)):
            return
        left = dimensions(base.type) - sum(isinstance(i, gprob.Single) for i in indices)
        part: gprob.Expr = gprob.Index(array(INT, left) if left else INT, span, base, tuple(indices))
        if left:
            part = call("sum", span, part) if left == 1 else call("num_elements", span, part)
        yield self.check("part", gprob.Sized(INT), part)

    def is_inside(self, i: gprob.IndexExpr, count: gprob.Expr) -> bool:
        """Whether an index is seen to be no larger than the number of components: a loop's over all of them."""
        if not isinstance(i, gprob.Single) or not isinstance(i.value, gprob.Var):
            return isinstance(i, gprob.Range) and i.lower is None and i.upper is None
        loop = self.loops.get(i.value.name)
        if loop is None or not isinstance(loop.lower, gprob.Const) or not same(loop.upper, count):
            return False
        return isinstance(loop.lower.value, int) and loop.lower.value >= 1

    def of_size(self, name: str, value: gprob.Expr, span: Span) -> Iterator[gprob.Stmt]:
        """That a value is as long as the variable that it is assigned to."""
        found = size(value, self.sizes) if name in self.extents and name in self.sizes else None
        if found is not None:
            yield from self.alike(self.sizes[name].shape[0], found, span)

    def of_part(self, s: gprob.Assign) -> Iterator[gprob.Stmt]:
        """That a value is as long as the part of a container that it is assigned to."""
        if dimensions(s.place.type) and s.place.name in self.extents:
            counts = size(s.place.read(), self.sizes), size(s.value, self.sizes)
            if counts[0] is not None and counts[1] is not None:
                yield from self.alike(counts[0], counts[1], s.span)

    def alike(self, a: gprob.Expr, b: gprob.Expr, span: Span) -> Iterator[gprob.Stmt]:
        if same(a, b) or not self.is_known((a, b)):
            return
        t = array(INT, 1)
        zeros = raw("discrete_filled__", t, span, gprob.int_const(0, span), not_negative(b))
        yield self.check("size", gprob.Sized(t, (not_negative(a),)), zeros)

    def check(self, name: str, sized: gprob.Sized, value: gprob.Expr) -> gprob.Stmt:
        """A variable that can't be set where Stan throws."""
        name = self.names.helper(name)
        self.checks.add(name)
        return gprob.Declare(value.span, name, sized, None, value)


def _count_breaks(s: gprob.Stmt) -> int:
    return sum(isinstance(t, uses.BREAKS) for t in uses.walk_statements((s,)))


def _always(nodes: Sequence[object]) -> Iterator[object]:
    """The expressions that are computed whatever conditions inside of them are."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, gprob.Cond):
            stack.append(node.condition)
        elif isinstance(node, gprob.Logical):
            stack.append(node.left)
        else:
            stack += traversal.children(node)
