"""Components of local containers that are read before anything has set them: NaN in Stan, or the smallest int.

A variable that is replaced by its value has that for every component, also for those that no iteration sets. So data
tell which components are set when terms read them: an array of zeros and ones for every such container, which the
statements that check its size (extents.py) keep.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, REAL, array, dimensions

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call, raw
from ..ir.likeness import same
from ..source import Span
from .components import not_negative, size

_MESSAGE = "components of a variable are read before anything has set them"
# Functions whose value may be a number where an argument is NaN.
_ANYWAY = {"size", "num_elements", "rows", "cols", "dims", "is_nan", "is_inf", "fmin", "fmax", "pow", "multiply_log"}


@dataclass
class Unset:
    """Which containers may have components that nothing has set, while statements are gone through in their order.

    `told` are the containers that statements set which data don't decide: nothing is known of these.
    """

    sizes: Mapping[str, gprob.Sized]
    extents: Mapping[str, gprob.Var]  # arrays of ones where components are set
    known: Set[str]  # variables whose value the checks have
    told: frozenset[str] = frozenset()
    untold: set[str] = field(default_factory=set)  # more of those
    watched: set[str] = field(default_factory=set)
    around: list[gprob.Stmt] = field(default_factory=list)  # loops and branches
    depth: dict[str, int] = field(default_factory=dict)  # of those around a declaration
    filling: set[str] = field(default_factory=set)  # set completely by the loops since the declaration
    here: list[tuple[str, tuple[gprob.IndexExpr, ...]]] = field(default_factory=list)  # set by the same iteration

    def is_known(self, node: object) -> bool:
        return uses.names_in(node) <= self.known

    def declared(self, s: gprob.Declare) -> None:
        if s.value is None and s.name not in self.told:
            self.watched.add(s.name)
            self.depth[s.name] = len(self.around)

    def left(self) -> None:
        """The innermost loop or branch has ended."""
        self.around.pop()
        ended = {n for n in self.filling if self.depth[n] == len(self.around)}
        self.watched -= ended
        self.filling -= ended

    def keeps(self, body: Sequence[gprob.Stmt]) -> bool:
        """Whether statements say what is set of containers of which that matters, or check it."""
        arrays = {self.extents[n].name for n in self.watched if n in self.extents}
        every = list(uses.walk_statements(tuple(body)))
        return any(isinstance(s, gprob.Message) or set(uses.assigns(s)) & arrays for s in every)

    # --- what is set

    def set(self, s: gprob.Assign) -> Iterator[gprob.Stmt]:
        """Says that the components are set which a statement assigns to."""
        name = s.place.name
        if name not in self.watched:
            return
        if not s.place.steps:
            yield self.marked(name, (), self.ones(self.sizes[name].shape, s.span), s.span)
            return
        indices = tuple(i for step in s.place.steps for i in step.indices)
        single = [isinstance(i, gprob.Single) for i in indices]
        plain = all(not step.item for step in s.place.steps) and (len(s.place.steps) == 1 or all(single))
        axes = dimensions(self.extents[name].type) - sum(single)
        count = size(s.place.read(), self.sizes) if plain and axes == 1 else None
        if not plain or not self.is_known(indices) or axes and (count is None or not self.is_known(count)):
            self.untold.add(name)
        elif count is not None:
            yield self.marked(name, indices, self.ones((not_negative(count),), s.span), s.span)
        else:
            yield self.marked(name, indices, self.of_value(s.value, s.span), s.span)
            self.note(name, indices)

    def marked(self, name: str, indices: tuple[gprob.IndexExpr, ...], value: gprob.Expr, span: Span) -> gprob.Stmt:
        extent = self.extents[name]
        steps = (gprob.Step(value.type, indices),) if indices else ()
        return gprob.Assign(span, gprob.Place(extent.name, extent.type, span, steps), value)

    def ones(self, shape: Sequence[gprob.Expr], span: Span) -> gprob.Expr:
        return raw("discrete_filled__", array(INT, len(shape)), span, gprob.int_const(1, span), *shape)

    def of_value(self, value: gprob.Expr, span: Span) -> gprob.Expr:
        """1 if all components of such containers are set that a value is computed from."""
        out: gprob.Expr = gprob.int_const(1, span)
        for e in self.read_in([value]):
            if isinstance(e, gprob.Index) and self.axes(e) == 0:
                out = call("multiply", span, out, self.part(e))
        return out

    def note(self, name: str, indices: tuple[gprob.IndexExpr, ...]) -> None:
        """That one iteration sets this component; all components, where loops go over all of them."""
        loops = {s.name: s for s in self.around[self.depth[name] :] if isinstance(s, gprob.For)}
        own = [i.value.name for i in indices if isinstance(i, gprob.Single) and isinstance(i.value, gprob.Var)]
        constant = [i for i in indices if isinstance(i, gprob.Single) and isinstance(i.value, gprob.Const)]
        every = {s.name for s in self.around if isinstance(s, gprob.For)}
        if len(own) + len(constant) == len(indices) and set(own) <= every:
            self.here.append((name, indices))
        since, shape = self.around[self.depth[name] :], self.sizes[name].shape
        if any(uses.breaks(s.body) for s in loops.values()):
            return
        if len(since) == len(loops) == len(own) == len(indices) and set(own) == set(loops):
            if all(_is_over(loops[n], count) for n, count in zip(own, shape)):
                self.filling.add(name)

    # --- what is read

    def of_term(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """Rejects a term, or what is added to a sum, that reads components which nothing has set."""
        nodes: list[object]
        if isinstance(s, gprob.Assign):
            nodes = [s.value] if _adds_up(s) else []
        else:
            nodes = list(traversal.children(s)) if isinstance(s, (typed.Tilde, typed.Increment)) else []
        for e in self.read_in(nodes) if self.watched else ():
            part, span = self.part(e), e.span
            if dimensions(part.type) > 1:
                part = call("to_array_1d", span, part)
            if dimensions(part.type):
                missing = call("logical_neq", span, call("sum", span, part), call("num_elements", span, part))
            else:
                missing = call("logical_eq", span, part, gprob.int_const(0, span))
            yield gprob.If(span, missing, (gprob.Message(span, "reject", (_MESSAGE,)),))

    def read_in(self, nodes: Sequence[object]) -> Iterator[gprob.Expr]:
        """The containers, and parts of them at indices that data decide, without which a value is none."""
        stack: list[Any] = list(nodes)
        while stack:
            e = stack.pop()
            if isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var) and e.base.name in self.watched:
                stack += e.indices
                if self.is_known(e.indices) and not any(n == e.base.name and same(i, e.indices) for n, i in self.here):
                    yield e
            elif isinstance(e, gprob.Var):
                if e.name in self.watched:
                    yield e
            elif isinstance(e, gprob.Cond):
                stack.append(e.condition)
            elif isinstance(e, gprob.Logical):
                stack.append(e.left)
            elif not isinstance(e, gprob.CallUser) and not (isinstance(e, gprob.Apply) and e.function.name in _ANYWAY):
                stack += traversal.children(e)

    def axes(self, e: gprob.Index) -> int:
        return dimensions(e.base.type) - sum(isinstance(i, gprob.Single) for i in e.indices)

    def part(self, e: gprob.Expr) -> gprob.Expr:
        """The same of the array that says what is set."""
        if isinstance(e, gprob.Var):
            return replace(self.extents[e.name], span=e.span)
        assert isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var)
        axes = self.axes(e)
        return gprob.Index(array(INT, axes) if axes else INT, e.span, self.extents[e.base.name], e.indices)


def _is_over(loop: gprob.For, count: gprob.Expr) -> bool:
    """Whether a loop goes over all of so many components."""
    return same(loop.lower, gprob.int_const(1, loop.span)) and same(loop.upper, count)


def _adds_up(s: gprob.Assign) -> bool:
    """Whether a statement adds something to a number, which stays NaN from then on."""
    if s.place.steps or s.place.type != REAL or not isinstance(s.value, gprob.Apply):
        return False
    own = any(isinstance(a, gprob.Var) and a.name == s.place.name for a in s.value.arguments)
    return own and s.value.function.name in ("add", "subtract")
