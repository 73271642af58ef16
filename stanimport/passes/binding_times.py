"""Binding times: what depends on data alone, and is computed in NumPy while a model is traced.

A value is *dynamic* when it may depend on parameters (or in generated quantities on random numbers), else *static*.
A variable is static if everything that is ever assigned to it is, whatever decides whether it is. Static loops and
branches run in Python. A loop over dynamic values is traced: one copy of its body, its index dynamic, unless a shape
depends on the index; then it is unrolled.

Source: Jones, Gomard and Sestoft (1993), "Partial Evaluation and Automatic Program Generation".
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Protocol, TypeGuard

from stanlib.dataclass import dataclass

from ..ir import gprob, traversal
from ..ir.gprob import Loop
from ..ir.uses import escapes, sizes, walk_statements
from .nests import Nest
from .passed_functions import deciding

Stmts = Sequence[gprob.Stmt]


class Callees(Protocol):
    """What the analysis asks of user functions."""

    def draws(self, node: object) -> bool:
        """Whether random numbers are drawn anywhere in an expression or statement."""

    def shaped_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments that decide shapes or the bounds of loops in a function."""

    def measured_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments that decide shapes in a function, not only how often its loops run."""

    def counted_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments that tell how often a function, or one that it calls, calls itself."""

    def choices(self, node: object) -> list[gprob.Expr]:
        """What tells, of a call or a conditional expression itself, which of several shapes there is."""

    def is_of_arguments(self, key: str) -> bool:
        """Whether a call only has a value, which its arguments tell."""

    def is_dynamic(self, key: str, arguments: tuple[bool, ...], random_is_dynamic: bool) -> bool:
        """Whether the result of a call is dynamic, given which arguments are, and whether random numbers are."""


@dataclass
class BindingTimes:
    """The result for one body: dynamic variables, and how each loop (by identity) runs.

    `traces` says whether the backend traces control flow over dynamic values; else all loops run in Python. With
    `flat` the analysis asks what would be dynamic if the iterations of a loop were all alike to the backend.
    """

    callees: Callees
    traces: bool = True
    random_is_dynamic: bool = False
    flat: bool = False
    dynamic: set[str] = field(default_factory=set)
    loops: dict[int, Loop] = field(default_factory=dict)

    def is_dynamic(self, e: object) -> bool:
        """Whether an expression (or index) may depend on parameters."""
        if isinstance(e, gprob.Var):
            return e.name in self.dynamic
        if isinstance(e, gprob.Apply):
            if e.function.shape_only:
                return False
            return self.random_is_dynamic and e.function.random or any(map(self.is_dynamic, e.arguments))
        if isinstance(e, gprob.CallUser):
            flags = tuple(map(self.is_dynamic, e.arguments))
            return self.callees.is_dynamic(e.function, flags, self.random_is_dynamic)
        if isinstance(e, gprob.TargetValue):
            return True
        return any(map(self.is_dynamic, traversal.children(e)))

    def draws(self, node: object) -> bool:
        """Whether random numbers are drawn anywhere in an expression or statement."""
        return self.callees.draws(node)

    def loop(self, s: gprob.For) -> Loop:
        return self.loops[id(s)]


_LOOPS = (gprob.For, gprob.ForEach, gprob.While, gprob.Recur)


def analyse(
    body: Stmts, dynamic: Iterable[str], callees: Callees, traces: bool = True, random_is_dynamic: bool = False,
    flat: bool = False,
) -> BindingTimes:  # fmt: skip
    """Binding times of a body in which the variables `dynamic` are dynamic from the start."""
    times = BindingTimes(callees, traces, random_is_dynamic, flat, set(dynamic))
    is_straight = not any(isinstance(s, _LOOPS) for s in walk_statements(body))  # nothing runs before what is above it
    while True:
        before = (len(times.dynamic), tuple(times.loops.values()))
        _Walk(times).block(body)
        if is_straight or before == (len(times.dynamic), tuple(times.loops.values())):
            return times


class _Walk:
    """One round: marks what is assigned dynamic values, or assigned under dynamic control."""

    def __init__(self, times: BindingTimes):
        self.times = times
        self.level = 0  # how many traced constructs are around
        self.declared: dict[str, int] = {}

    def block(self, body: Stmts) -> None:
        for s in body:
            self.statement(s)

    def statement(self, s: gprob.Stmt) -> None:
        """Marks the variables that a statement, or one inside of it, makes dynamic."""
        if isinstance(s, gprob.Declare):
            self.declared[s.name] = self.level
            if s.value is not None and self.times.is_dynamic(s.value):
                self.times.dynamic.add(s.name)
        elif isinstance(s, (gprob.Sample, gprob.Param)):
            self.times.dynamic.add(s.name)
        elif isinstance(s, (gprob.Assign, gprob.Accumulate)):
            self._assigned(s.place.name, self.times.is_dynamic(s.value) or self.times.is_dynamic(s.place))
        elif isinstance(s, gprob.Bind):
            for name in filter(None, (s.name, s.term)):
                self._assigned(name, self.times.is_dynamic(s.call))
        elif isinstance(s, gprob.For):
            self._for(s)
        elif isinstance(s, gprob.Recur):
            self._recur(s)
        elif isinstance(s, gprob.Cumulate):
            self._assigned(s.name, self.times.is_dynamic(s.first) or self.times.is_dynamic(s.value))
        elif isinstance(s, gprob.While):
            self._traced_if(self.times.is_dynamic(s.condition) or escapes_dynamically(s.body, self.times), s.body)
        elif isinstance(s, gprob.If):
            self._traced_if(self.times.is_dynamic(s.condition), s.then, s.otherwise)

    def _assigned(self, name: str, dynamic: bool) -> None:
        if dynamic or self.level > self.declared.get(name, 0):
            self.times.dynamic.add(name)

    def _traced_if(self, dynamic: bool, *bodies: Stmts) -> None:
        self.level += dynamic and self.times.traces
        for body in bodies:
            self.block(body)
        self.level -= dynamic and self.times.traces

    def _for(self, s: gprob.For) -> None:
        """Notes how a loop runs; its index is dynamic in a traced loop, and in lanes that begin at a dynamic number."""
        kind = self._kind(s)
        self.times.loops[id(s)] = kind
        if s.lanes and self.times.traces and any(map(self.times.is_dynamic, (s.lower, s.upper))):
            if self.times.is_dynamic(s.lower):
                self.times.dynamic.add(s.name)
            self._traced_if(True, s.body)  # a mask tells which lanes there are
            return
        if kind == Loop.TRACED:
            self.times.dynamic.add(s.name)
        self._traced_if(kind == Loop.TRACED, s.body)

    def _recur(self, s: gprob.Recur) -> None:
        """A recurrence is carried by the backend if anything that it computes is dynamic."""
        traced = self.times.traces and has_dynamic_work(s.body, self.times)
        if traced:
            rows = (n for w in s.windows for n in (w.row, *w.before))
            own = (g for g, i in zip(s.given, s.inputs) if g != i)
            self.times.dynamic.update((s.name, *rows, *s.state, *s.outputs, *own))
        else:
            self._dynamic_rows(s)
            self.times.dynamic.update(g for g, i in zip(s.given, s.inputs) if i in self.times.dynamic)
        self._traced_if(traced, s.body)

    def _dynamic_rows(self, s: gprob.Recur) -> None:
        for w in s.windows:
            if w.row in self.times.dynamic or any(map(self.times.is_dynamic, w.first)):
                self.times.dynamic.update((w.row, *w.before))

    def _kind(self, s: gprob.For) -> Loop:
        """How a loop runs, by what is known to be dynamic so far; what has been traced in a round before stays so."""
        times = self.times
        if not times.traces or s.lanes:
            return Loop.STATIC
        if times.flat and not (times.is_dynamic(s.lower) or times.is_dynamic(s.upper)):
            return Loop.STATIC
        if times.is_dynamic(s.lower) or times.is_dynamic(s.upper):
            return Loop.TRACED
        if times.loops.get(id(s)) == Loop.TRACED:
            return Loop.TRACED
        if not has_dynamic_work(s.body, times):
            return Loop.STATIC
        return Loop.UNROLLED if _shapes_depend(s, times, self.declared) else Loop.TRACED


def has_dynamic_work(body: Stmts, times: BindingTimes) -> bool:
    """Whether a loop does anything but compute with data."""
    for s in walk_statements(body):
        if isinstance(s, (gprob.Observe, gprob.Factor, gprob.Bind, gprob.Sample)):
            return True
        if isinstance(s, (gprob.Assign, gprob.Accumulate)):
            if s.place.name in times.dynamic or times.is_dynamic(s.value):
                return True
        if isinstance(s, gprob.Declare) and s.value is not None and times.is_dynamic(s.value):
            return True
        if isinstance(s, (gprob.Run, gprob.Message, gprob.Return)) and times.is_dynamic(s):
            return True
        if isinstance(s, (gprob.If, gprob.While)) and times.is_dynamic(s.condition):
            return True
    return False


def _shapes_depend(loop: gprob.For, times: BindingTimes, declared: dict[str, int]) -> bool:
    """Whether a traced loop would leave unknown what its index decides: a shape, or how often a function recurs."""
    trial = BindingTimes(
        times.callees, True, times.random_is_dynamic, False, times.dynamic | {loop.name}, dict(times.loops)
    )
    while True:
        size = len(trial.dynamic)
        walk = _Walk(trial)
        walk.declared = dict(declared)
        walk.level = 1
        for inner in walk_statements(loop.body):
            if isinstance(inner, gprob.For):
                trial.loops[id(inner)] = Loop.UNROLLED
        _mark_assigned(loop.body, trial, walk)
        if len(trial.dynamic) == size:
            break
    nest = Nest.of(loop, times)
    if any(trial.is_dynamic(e) for e in shape_expressions(loop.body, nest, times.callees)):
        return True
    others = (*_counts_of_calls(loop.body, times.callees), *_choices(loop.body, times.callees))
    return any(trial.is_dynamic(e) and not times.is_dynamic(e) for e in others)


def _choices(body: Stmts, callees: Callees) -> Iterator[gprob.Expr]:
    """What tells which of several shapes there is."""
    for node in traversal.walk(tuple(body)):
        yield from callees.choices(node)


def _counts_of_calls(body: Stmts, callees: Callees) -> Iterator[gprob.Expr]:
    """The arguments that tell how often recursive functions call themselves."""
    for node in traversal.walk(tuple(body)):
        if isinstance(node, gprob.Observe) and not isinstance(node.distribution.lpdf, str):
            continue
        if isinstance(node, (gprob.CallUser, gprob.Observe)):
            yield from deciding_arguments(node, callees.counted_by)


def _mark_assigned(body: Stmts, trial: BindingTimes, walk: _Walk) -> None:
    """One round over the body of a loop that is tried as a traced one, its inner loops in Python."""
    for s in body:
        if isinstance(s, gprob.For):
            if trial.is_dynamic(s.lower) or trial.is_dynamic(s.upper):
                trial.dynamic.add(s.name)
            _mark_assigned(s.body, trial, walk)
        elif isinstance(s, (gprob.While, gprob.If)):
            decides = trial.is_dynamic(s.condition)  # what is assigned inside, too
            walk.level += decides
            for inner in traversal.bodies(s):
                _mark_assigned(inner, trial, walk)
            walk.level -= decides
        else:
            walk.statement(s)


def shape_expressions(body: Stmts, nest: Nest, callees: Callees) -> Iterator[gprob.Expr]:
    """The expressions that decide shapes: sizes, bounds of ranges, arguments of constructors.

    The bounds of inner loops are among them only where no limit on the number of iterations can be told beforehand.
    """
    for s in body:
        yield from own_shapes(s, callees)
        if isinstance(s, gprob.For):
            if nest.limit(s) is None:
                yield s.lower
                yield s.upper
            yield from shape_expressions(s.body, nest.inside(s), callees)
        else:
            if isinstance(s, gprob.Declare) and s.value is not None:
                nest.define(s.name, s.value)
            for inner in traversal.bodies(s):
                yield from shape_expressions(inner, nest, callees)


def deciding_arguments(
    node: gprob.CallUser | gprob.Observe, shaped_by: Callable[[str], frozenset[int]]
) -> list[gprob.Expr]:
    """The arguments of a call of a user's function, or of one's density, that decide shapes or bounds inside it."""
    if isinstance(node, gprob.CallUser):
        return [node.arguments[i] for i in shaped_by(node.function)]
    assert isinstance(node.distribution.lpdf, str)
    arguments = (node.value, *node.distribution.arguments)
    return [arguments[i] for i in shaped_by(node.distribution.lpdf)]


def observes_own_law(node: object) -> TypeGuard[gprob.Observe]:
    """Whether a law that the program defines is observed."""
    return isinstance(node, gprob.Observe) and isinstance(node.distribution.lpdf, str)


def own_shapes(s: gprob.Stmt, callees: Callees) -> Iterator[gprob.Expr]:
    """The expressions in a statement, but not in those inside of it, that decide shapes or bounds in calls."""
    if observes_own_law(s):
        yield from deciding_arguments(s, callees.shaped_by)
    nested = {id(x) for block in traversal.bodies(s) for x in block}
    stack: list[object] = [c for c in traversal.children(s) if id(c) not in nested]
    while stack:
        node = stack.pop()
        yield from sizes(node)
        if isinstance(node, gprob.Apply):
            yield from deciding(node, callees.measured_by)
        elif isinstance(node, gprob.CallUser):
            yield from deciding_arguments(node, callees.shaped_by)
        stack.extend(traversal.children(node))


def escapes_dynamically(body: Stmts, times: BindingTimes) -> bool:
    """Whether a break, continue or return in the body depends on a dynamic condition."""
    return _escapes(body, times)[1]


def _escapes(body: Stmts, times: BindingTimes) -> tuple[bool, bool]:
    """Whether there is an escape in the body, and whether one depends on a dynamic condition.

    Both in one go: a chain of `else if` is as deep as it is long.
    """
    some = dynamic = False
    for s in body:
        if isinstance(s, gprob.If):
            for inner, depends in (_escapes(b, times) for b in traversal.bodies(s)):
                some, dynamic = some or inner, dynamic or depends or inner and times.is_dynamic(s.condition)
        else:
            some = some or escapes((s,))
    return some, dynamic
