"""Loops as lanes: which of them may run all their iterations at once, and what their bodies become.

A loop is distributed over the strongly connected components of its dependence graph. Components without a carried
dependence run as lanes, the others as recurrences between them. What stands in the way leaves the loop as it is.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from stanlib.types import INT, scalar_of

from ...ir import gprob, traversal
from ...ir.fresh import Fresh
from ...ir.uses import declared, loop_indices, mentions, walk_statements, written, written_in_order
from ..binding_times import BindingTimes, has_dynamic_work
from ..callees import Functions
from ..surroundings import Surroundings
from . import recurrences
from .accesses import Access, of_statement
from .affine import key, mentions_values
from .carried import Carried, NotCarried
from .deciding import Refused, deciding_in
from .dependences import build, iterations_between
from .parts import as_ranges, as_segments
from .private import added, is_private, is_sum, substituted
from .scopes import Scope, declaring

Stmts = tuple[gprob.Stmt, ...]
MOST_STATEMENTS = 200  # in the body of a loop whose iterations run at once


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with loops as lanes and recurrences, where that can be."""
    times, sizes = around.times(body, flat=True), around.sizes_in(body)
    traced = _Traced(around, body)
    lanes = Lanes(times, sizes, around.functions, around.names, _only_inside(body), traced)
    return lanes.block(body, Scope())


class _Traced:
    """Tells, when it is asked, which loops the backend traces if they stay loops."""

    def __init__(self, around: Surroundings, body: Stmts):
        self.around, self.body = around, body

    @cached_property
    def _loops(self) -> Mapping[int, gprob.Loop]:
        return self.around.times(self.body).loops

    def __contains__(self, s: gprob.For) -> bool:
        """Whether it is one; of a loop that is no longer as it was it is assumed."""
        return self.around.traces and self._loops.get(id(s), gprob.Loop.TRACED) == gprob.Loop.TRACED


class Variables(NamedTuple):
    """Of the variables of a loop those that every iteration has for itself, those that it carries on, and those whose
    last values are read after it."""

    private: set[str]
    carried: set[str]
    after: set[str]


class Lanes:
    """Transforms one body."""

    def __init__(
        self, times: BindingTimes, sizes: Mapping[str, gprob.Sized], functions: Functions,
        names: Fresh, only_inside: Mapping[object, set[str]], traced: _Traced,
    ):  # fmt: skip
        self.times, self.sizes, self.functions, self.names, self.traced = times, sizes, functions, names, traced
        self.only_inside = only_inside  # of each loop, by its place in the program: what is read nowhere else

    def block(self, body: Sequence[gprob.Stmt], scope: Scope) -> Stmts:
        out: list[gprob.Stmt] = []
        for s in body:
            if isinstance(s, gprob.Declare) and scope.loops:
                scope = scope.declaring(s.name)
            out += self.statement(s, scope)
        return tuple(out)

    def statement(self, s: gprob.Stmt, scope: Scope) -> Iterator[gprob.Stmt]:
        """A statement with loops as lanes where they can be; assignments to parts get the loop that shares them."""
        if isinstance(s, gprob.For):
            yield self._for(s, scope)
        elif isinstance(s, gprob.While):
            yield replace(s, body=self.block(s.body, replace(scope, changing=scope.changing | written(s.body))))
        elif isinstance(s, gprob.If):
            yield self._if(s, scope)
        elif isinstance(s, gprob.Assign) and scope.loops:
            yield replace(s, over=scope.over(s.place.name) if s.place.steps else None)
        else:
            yield s

    def _if(self, s: gprob.If, scope: Scope) -> gprob.Stmt:
        """A branch; one whose condition differs between lanes runs both sides there, and merges what they write."""
        if scope.loops and isinstance(s.condition, gprob.Logical) and s.condition.operator == "&&" and not s.otherwise:
            nested = replace(s, condition=s.condition.right)
            return self._if(replace(s, condition=s.condition.left, then=(nested,)), scope)
        then, otherwise = self.block(s.then, scope), self.block(s.otherwise, scope)
        if not scope.loops or not self._differs(s.condition, scope.varying()):
            return replace(s, then=then, otherwise=otherwise)
        inner = declared((*s.then, *s.otherwise))
        sides = (*then, *otherwise)
        own = {n for n in written(sides) - inner if scope.lives(n) == len(scope.loops)}
        within = loop_indices(sides)  # what is summed over the lanes of loops in here differs between lanes out here
        accumulated = (t for t in walk_statements(sides) if isinstance(t, gprob.Accumulate))
        summed = {t.place.name for t in accumulated if t.loop not in within}
        merged = tuple(n for n in written_in_order(sides) if n in own - summed)
        return replace(s, then=then, otherwise=otherwise, lanes=True, merged=merged)

    def _differs(self, node: object, varying: set[str]) -> bool:
        """Whether a value may differ between lanes, each of which draws random numbers of its own."""
        return mentions(node, varying) or self.times.draws(node)

    # --- loops

    def _for(self, s: gprob.For, scope: Scope) -> gprob.Stmt:
        """A loop as lanes, or as one whose iterations run one after the other, with lanes in it where they can be.

        Raises:
            Refused: where lanes around allow neither.
        """
        before = set(self.times.dynamic)
        try:
            return self._as_lanes(s, scope)
        except (Refused, NotCarried):
            self.times.dynamic.intersection_update(before)
        if scope.loops and self._differs((s.lower, s.upper), scope.varying()):
            raise Refused("the bounds of a loop inside differ between iterations")
        if scope.loops and self._has_shapes_of_its_own(s):
            raise Refused("a shape differs within an iteration")
        made = replace(s, body=self.block(s.body, scope.repeating(s)))
        if has_dynamic_work(s.body, self.times) and s in self.traced:
            self.times.dynamic |= written(s.body)  # what data alone decide in it is not known behind it
        return made

    def _as_lanes(self, s: gprob.For, scope: Scope) -> gprob.Stmt:
        """A loop whose iterations run at once, with recurrences for what they carry on.

        Raises:
            Refused: with the reason, where that can't be.
            NotCarried: where a recurrence can't carry what it needs.
        """
        if len(s.body) > MOST_STATEMENTS:
            raise Refused("so many statements that looking at all pairs of them takes long")
        self._refuse_bounds((s.lower, s.upper), scope)
        body = substituted(s.body)
        varying = {s.name} | written(body) | loop_indices(body)
        body = as_ranges(body, varying, self.times)
        alike, left = self._refuse_unfit(s, body, varying)
        accesses = [of_statement(t) for t in body]
        sums, private, carried = self._classify(s, body, accesses)
        body = tuple(_summed(t, sums, s.name, scope) for t in body)
        accesses = [[a for a in group if a.name not in sums] for group in accesses]
        lasting = [n for n in written_in_order(body) if n in private - declared(body)]
        after = set(lasting) - self.only_inside.get(s.span, set())
        if alike and after:
            raise Refused("the last value of a variable, where groups of iterations run one after the other")
        if after and self._differs((s.lower, s.upper), scope.varying() | scope.sequential):
            raise Refused("the last value of a variable, where some iterations around may have none")
        variables = Variables(private, carried, after)
        inside = scope.inside(s, private)
        made, inside = self._distributed(replace(s, body=body), accesses, inside, variables, not (alike or left))
        done = list(self._each(made, inside))
        done += [gprob.Last(s.span, n, s.name, INT) for n in lasting]
        return replace(s, body=tuple(done), lanes=True, alike=alike, dense=_only_adds(tuple(done)))

    def _distributed(
        self, s: gprob.For, accesses: Sequence[Sequence[Access]], scope: Scope, variables: "Variables", may_recur: bool
    ) -> tuple[list[gprob.Stmt], Scope]:
        """The statements in the order of their dependence, recurrences among them; and the scope behind them.

        Raises:
            Refused, NotCarried: as for a loop.
        """
        changing = loop_indices(s.body) | written(s.body)
        simple = [isinstance(t, (gprob.Assign, gprob.Declare)) for t in s.body]
        graph = build(accesses, s.name, changing, variables.private, simple)
        made: list[gprob.Stmt] = []
        for group in graph.groups():
            statements = [s.body[i] for i in group]
            if graph.is_recurrence(group):
                if not may_recur:
                    raise Refused("a recurrence over values of different shapes")
                own = declared(statements)  # what the rest assigns to must be there, though nobody reads it
                rest = [a for i, g in enumerate(accesses) if i not in group for a in g]
                others = {a.name for a in rest if a.needs_value or a.name in own}
                statements = self._recurrence(s, statements, scope, variables, others | variables.after)
            for t in statements:
                scope = declaring(scope, t)
            made += statements
        return made, scope

    def _each(self, made: Sequence[gprob.Stmt], scope: Scope) -> Iterator[gprob.Stmt]:
        for t in made:
            if isinstance(t, gprob.Recur):
                yield replace(t, body=self._step(t, scope.without_last()))
            else:
                yield from self.statement(t, scope)

    def _step(self, t: gprob.Recur, scope: Scope) -> Stmts:
        own = (given for given, of in zip(t.given, t.inputs) if given != of)
        index = (t.name,) if t.ragged else ()
        for name in (*(w.row for w in t.windows), *own, *index):
            scope = scope.declaring(name)
        return self.block(t.body, scope)

    def _recurrence(
        self, s: gprob.For, group: list[gprob.Stmt], scope: Scope, variables: "Variables", read_elsewhere: set[str]
    ) -> list[gprob.Stmt]:
        """A group as a recurrence, with what comes before and after it."""
        private, carried = variables.private, variables.carried
        if any(isinstance(t, gprob.Accumulate) for t in walk_statements(group)):
            raise Refused("a sum inside a recurrence")
        if mentions((s.lower, s.upper), scope.sequential):
            raise Refused("a recurrence whose length differs between iterations around")
        differing = scope.varying() - private - {s.name}
        if mentions((s.lower, s.upper), differing) and any(map(self.times.draws, group)):
            raise Refused("random numbers in a recurrence that is longer in some lanes")
        names = written(group)
        inner = [t for t in walk_statements(group) if isinstance(t, gprob.For)]
        if any(mentions((t.lower, t.upper), names | private | {s.name}) for t in inner):
            raise Refused("a loop inside a recurrence whose bounds change")
        all_rows = (self._rows(n, group, s, scope, private, carried) for n in written_in_order(group))
        rows = [r for r in all_rows if r is not None]
        state = [n for n in written_in_order(group) if n in carried and all(n != r.name for r in rows)]
        varies = lambda bound: mentions(bound, differing) or self.times.is_dynamic(bound)
        before, recur, after = recurrences.make(
            group, s, rows, state, self.names, private, read_elsewhere, self.sizes, varies
        )
        return [*before, _with_known_sizes(recur), *after]

    def _rows(
        self, name: str, group: list[gprob.Stmt], s: gprob.For, scope: Scope, private: set[str], carried: set[str]
    ) -> Carried | None:  # fmt: skip
        """How a recurrence carries the rows of an array; None for what it carries as a whole, or not at all."""
        if name in private or name not in carried and not self._is_indexed(group, name):
            return None
        is_own = len(scope.loops) > 1 and scope.over(name) == s.name  # one loop alone is as fast in the backend
        if self._is_indexed(group, name):
            shared = set() if scope.over(name) == s.name else scope.varying() - private - {s.name}
            try:
                return recurrences.carried(group, name, s, self.names, private, shared)
            except NotCarried:
                if not is_own or name not in carried:
                    raise
        elif not is_own and any(a.indices for t in group for a in of_statement(t) if a.name == name and a.writes):
            raise Refused("an array that is carried as a whole")
        return None

    def _is_indexed(self, group: Sequence[gprob.Stmt], name: str) -> bool:
        return all(a.indices for t in group for a in of_statement(t) if a.name == name and a.writes)

    def _classify(
        self, s: gprob.For, body: Stmts, accesses: Sequence[Sequence[Access]]
    ) -> tuple[set[str], set[str], set[str]]:
        """What the body only adds to, what every iteration has for itself, and what it carries on."""
        own = declared(body)
        sums: set[str] = set()
        private, carried = set(own), set()
        for name in written_in_order(body):
            if name in own or not self._depends(name, s, body, accesses):
                continue
            if is_sum(body, name):
                sums.add(name)
            elif is_private(body, name, self.sizes, lasting=s.name):
                private.add(name)
            else:
                carried.add(name)
        return sums, private, carried

    def _depends(self, name: str, s: gprob.For, body: Stmts, accesses: Sequence[Sequence[Access]]) -> bool:
        """Whether an iteration may touch what another one writes to a variable."""
        changing = loop_indices(body) | written(body)
        uses = [a for group in accesses for a in group if a.name == name]
        writes = [a for a in uses if a.writes]
        return any(iterations_between(w, a, s.name, changing) not in (None, 0) for w in writes for a in uses)

    # --- what lanes can't do

    def _refuse_bounds(self, bounds: tuple[gprob.Expr, gprob.Expr], scope: Scope) -> None:
        """Bounds may differ between lanes or depend on the index of a sequential loop, as far as a limit is known."""
        if any(map(self.times.is_dynamic, bounds)):
            raise Refused("the bounds depend on parameters")
        if scope.loops and self.times.draws(bounds):
            raise Refused("the bounds are random")
        if any(mentions_values(e, scope.changing - scope.sequential) for e in bounds):
            raise Refused("the bounds change from iteration to iteration of a loop around")
        if mentions(bounds, scope.sequential) and mentions(bounds, scope.varying()):
            raise Refused("the bounds depend on two kinds of loops")

    def _refuse_unfit(
        self, s: gprob.For, body: Stmts, varying: set[str]
    ) -> tuple[tuple[gprob.Expr, ...], list[gprob.Expr]]:
        """What decides shapes and differs between iterations, and what is left to the loops inside."""
        for t in walk_statements(body):
            if not isinstance(t, _FIT) and not (isinstance(t, gprob.Message) and t.kind == "reject"):
                raise Refused(f"a statement that can't run for all iterations at once: {type(t).__name__}")
        deciding = {}
        for node in traversal.walk(body):
            for e in self._deciding(node, varying):
                if self.times.draws(e):
                    raise Refused("a shape is random")
                if mentions_values(e, varying):
                    deciding[key(e)] = e
        inner = loop_indices(body)
        for e in deciding.values():
            if self.times.is_dynamic(e) or mentions(e, varying - {s.name} - inner):
                raise Refused("a shape differs within an iteration")
        left = [e for e in deciding.values() if mentions(e, inner)]
        return tuple(e for e in deciding.values() if not mentions(e, inner)), left

    def _has_shapes_of_its_own(self, s: gprob.For) -> bool:
        """Whether a shape inside of a loop depends on its index."""
        nodes = traversal.walk(s.body)
        return any(mentions(e, {s.name}) for n in nodes for e in self._deciding(n, {s.name}))

    def _deciding(self, node: object, varying: set[str]) -> Iterator[gprob.Expr]:
        """What decides shapes in a node: sizes, and what is known to tell which of several shapes there is."""
        yield from deciding_in(node, varying, self.functions.unrolled_by)
        traces = self.times.traces  # what is not known then must be of one shape
        chosen = [e for e in self.functions.choices(node) if not (traces and self.times.is_dynamic(e))]
        if any(scalar_of(e.type) != INT and mentions_values(e, varying) for e in chosen):
            raise Refused("which shape there is depends on more than integers")
        yield from chosen


def _with_known_sizes(s: gprob.Stmt) -> gprob.Stmt:
    """A recurrence that takes parts of known sizes, as the backend knows no index of its iterations.

    Raises:
        Refused: for a part whose size the places of its ends alone would tell.
    """
    if not isinstance(s, gprob.Recur):
        return s
    own = {s.name, *s.given, *s.state, *(w.row for w in s.windows), *declared(s.body), *written(s.body)}
    body = as_segments(s.body, own)
    if any(isinstance(n, gprob.Range) and mentions((n.lower, n.upper), own) for n in traversal.walk(body)):
        raise Refused("a recurrence that takes parts of changing places")
    return replace(s, body=body)


_FIT = (
    gprob.Declare, gprob.Assign, gprob.Observe, gprob.Factor, gprob.Bind, gprob.For, gprob.If, gprob.Accumulate,
)  # fmt: skip


def _only_inside(body: Stmts) -> dict[object, set[str]]:
    """Of each loop, by its place in the program, the variables that are read inside of it alone.

    Nothing is known of bodies that neither return nor add to the target: their variables are what they make.
    """
    found: dict[object, set[str]] = {}
    if not any(isinstance(s, (gprob.Return, gprob.Observe, gprob.Factor, gprob.Sample)) for s in walk_statements(body)):
        return found
    total = _reads(body)
    for s in walk_statements(body):
        if isinstance(s, gprob.For):
            inside = {n for n, count in _reads((s,)).items() if count == total[n]}
            found[s.span] = inside & found.get(s.span, inside)
    return found


def _reads(body: Stmts) -> Counter[str]:
    """How often each variable is read, or recorded."""
    return Counter(n.name for n in traversal.walk(body) if isinstance(n, (gprob.Var, gprob.Deterministic)))


def _only_adds(body: Stmts) -> bool:
    """Whether nothing leaves a loop but sums."""
    own = declared(body)
    for t in walk_statements(body):
        if isinstance(t, gprob.Assign) and t.place.name not in own:
            return False
        if not isinstance(t, (gprob.Assign, gprob.Declare, gprob.Accumulate, gprob.For)):
            return False
    calls = [n for n in traversal.walk(body) if isinstance(n, (gprob.Apply, gprob.CallUser))]
    if any(isinstance(n, gprob.CallUser) or n.function.domains or n.function.distribution for n in calls):
        return False  # they may raise for the values of iterations that there are not
    return any(isinstance(t, gprob.Accumulate) for t in walk_statements(body))


def _summed(s: gprob.Stmt, sums: set[str], loop: str, scope: Scope) -> gprob.Stmt:
    """The statement with additions to sums as such."""
    if isinstance(s, gprob.For):
        return replace(s, body=tuple(_summed(t, sums, loop, scope) for t in s.body))
    if isinstance(s, gprob.If):
        then, otherwise = ([_summed(t, sums, loop, scope) for t in side] for side in (s.then, s.otherwise))
        return replace(s, then=tuple(then), otherwise=tuple(otherwise))
    term = added(s) if isinstance(s, gprob.Assign) and s.place.name in sums else None
    if term is None:
        return s
    place, value = term
    return gprob.Accumulate(s.span, place, value, loop, scope.over(place.name) if place.steps else None)
