"""How the statements of a body run: which loops and branches are traced, what is copied, what is an observation."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, Tuple, Type, is_scalar, scalar_of, unwind

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob, traversal
from ..ir.outcomes import deciding
from ..ir.uses import depending, is_units, mentions, outcomes, own_nodes, walk_statements, writes, written
from .binding_times import has_dynamic_work
from .loops.affine import key
from .nests import Nest
from .operands import Operands
from .ownership import Ownership

Stmts = tuple[gprob.Stmt, ...]
MOST_TERMS = 16  # of a branch on parameters that are sites of their own


@dataclass(frozen=True)
class Facts:
    """Of a whole body: who owns its arrays, what it assigns, its declared sizes, sampled sites and results."""

    ownership: Ownership
    assigned: frozenset[str]
    sizes: Mapping[str, gprob.Sized]
    sites: Mapping[str, str]
    bounding: frozenset[str]
    results: frozenset[str]
    body: Stmts
    dynamic: tuple[str, ...]  # from the start

    @cached_property
    def by_parameters(self) -> frozenset[str]:
        """The variables whose values are not of data alone, by what is assigned or by what decides whether it is."""
        kinds = (gprob.Sample, gprob.Param, gprob.Bind)
        anew = (s for s in walk_statements(self.body) if isinstance(s, kinds) or any(map(_is_made_anew, own_nodes(s))))
        return frozenset(depending(self.body, {*self.dynamic, *(n for s in anew for n in writes(s))}, deciding))

    @classmethod
    def of(cls, body: Stmts, ownership: Ownership, assigned: frozenset[str], dynamic: Iterable[str]) -> Facts:
        """The facts of a body; `bounding` are the parameters that the constraints of others refer to."""
        statements = list(walk_statements(body))
        declared = [s for s in statements if isinstance(s, gprob.Declare)]
        sizes, results = {s.name: s.sized for s in declared}, frozenset(s.name for s in declared if s.site is not None)
        samples = [s for s in statements if isinstance(s, gprob.Sample)]
        sites = {s.name: s.site for s in samples}
        constraints = tuple(s.constraint for s in samples if s.constraint)
        bounding = frozenset(_parameters(constraints, sites))
        return cls(ownership, assigned, sizes, sites, bounding, results, body, tuple(dynamic))


@dataclass(frozen=True)
class Running:
    """Prepares the statements of one body.

    `lanes` are the loops around whose iterations run at once, `nest` the traced ones; `rows` is what the iterations of
    recurrences around have of data; `branch` tells that a branch that is traced is around.
    """

    facts: Facts
    operands: Operands
    lanes: tuple[str, ...] = ()
    nest: Nest | None = None
    rows: frozenset[str] = frozenset()
    branch: bool = False

    @property
    def traces(self) -> bool:
        return self.operands.traces

    def is_dynamic(self, e: object) -> bool:
        return self.operands.times.is_dynamic(e)

    def block(self, body: Stmts) -> Stmts:
        """The statements of a block; a nest is told what they define."""
        made = []
        for s in body:
            made.append(self.statement(s))
            if self.nest is not None and isinstance(s, gprob.Declare) and s.value is not None:
                self.nest.define(s.name, s.value)
        return tuple(made)

    def statement(self, s: gprob.Stmt) -> Any:
        """A statement as it will run, and those inside of it."""
        prepare = _METHODS.get(type(s))
        return prepare(self, s) if prepare is not None else self.operands.parts(s)

    # --- variables

    def declare(self, s: gprob.Declare) -> gprob.Declare:
        """A variable with its first value: of its own, of the declared sizes, unset if there is none."""
        made: gprob.Declare = self.operands.parts(s)
        if made.value is None:
            value: gprob.Expr = gprob.Unset(s.sized.type, s.span, made.sized)
            if s.sized.shape and not s.sized.items and self._begins_as_data(s.name, s.sized.type):
                value = gprob.Converted(value.type, s.span, value)
            return replace(made, value=value)
        value = made.value
        if s.sized.shape or s.sized.items:
            value = gprob.Fitted(value.type, s.span, value, made.sized, s.site is not None)
        assert s.value is not None
        return replace(made, value=self._owned(s.name, s.value, value))

    def assign(self, s: gprob.Assign) -> gprob.Assign:
        """An assignment of a value of its own: in place where the array is nobody else's."""
        made: gprob.Assign = self.operands.parts(s)
        value = self._owned(s.place.name, s.value, made.value)
        if all(step.item for step in s.place.steps):  # parts that indices select have the size that is there
            value = self._of_size(s, value)
        return replace(made, value=value, in_place=self._is_in_place(s))

    def _is_in_place(self, s: gprob.Assign) -> bool:
        # what every lane has for itself gets an axis for them when assigned to: only what all share stays in place
        shared_by_all = not self.lanes or s.over == self.lanes[0]
        if not s.place.steps or s.place.name not in self.facts.ownership.changed or not shared_by_all:
            return False
        return not any(step.item for step in s.place.steps)

    def _of_size(self, s: gprob.Assign, value: gprob.Expr) -> gprob.Expr:
        """A value for a whole variable or item, checked against its declared sizes if these can't have changed."""
        sized = self.facts.sizes.get(s.place.name)
        for step in s.place.steps:
            sized = sized.items[step.item - 1] if sized is not None and sized.items else None
        if sized is None or not (sized.shape or sized.items):
            return value
        if any(isinstance(n, gprob.Var) and n.name in self.facts.assigned for n in traversal.walk(sized)):
            return value
        return gprob.Fitted(value.type, s.span, value, self.operands.parts(sized), s.place.name in self.facts.results)

    def _owned(self, name: str, value: gprob.Expr, made: gprob.Expr) -> gprob.Expr:
        """A copy, where an array that another variable may hold would else be changed in place.

        With PyTorch a tensor, where a variable that depends on parameters later begins as data.
        """
        if (self.lanes or not is_scalar(value.type)) and self.facts.ownership.needs_copy(name, value):
            return gprob.Copied(made.type, value.span, made)
        if self._begins_as_data(name, value.type) and not self.operands.is_tensor(value):
            return gprob.Converted(made.type, value.span, made)
        return made

    def _begins_as_data(self, name: str, t: Type) -> bool:
        """Whether a value of data must be a tensor, as PyTorch's operators take those alone: what changes it may."""
        dynamic = name in self.operands.times.dynamic
        return dynamic and not self.traces and scalar_of(t) != INT and _is_container(t)

    def last(self, s: gprob.Last) -> gprob.Last:
        return replace(s, copied=s.name in self.facts.ownership.changed)

    # --- sites

    def sample(self, s: gprob.Sample) -> gprob.Sample:
        """A parameter, whose bounds may depend on others."""
        if self.branch:
            raise _sampled(s)
        made: gprob.Sample = self.operands.parts(s)
        law = made.distribution
        if law is not None and law.drawn_by is not None and s.distribution is not None:
            made = replace(made, distribution=replace(law, **self.operands.functions_of_elements(s.distribution)))
        if self.traces:
            return replace(made, bounding=False)
        constraint = None if made.constraint is None else self._bounds(made.constraint)
        return replace(made, constraint=constraint, bounding=s.name in self.facts.bounding)

    def _bounds(self, c: gprob.Constraint) -> gprob.Constraint:
        """A constraint, its arguments functions of the parameters that they depend on, if there are any."""
        items = tuple(None if i is None else self._bounds(i) for i in c.items)
        return replace(c, arguments=tuple((n, self._bound(e)) for n, e in c.arguments), items=items)

    def _bound(self, e: gprob.Expr) -> gprob.Expr:
        names = dict.fromkeys(_parameters(e, self.facts.sites))
        return gprob.Bound(e.type, e.span, e, tuple((n, self.facts.sites[n]) for n in names)) if names else e

    def observe(self, s: gprob.Observe) -> gprob.Observe:
        made: gprob.Observe = self.operands.parts(s)
        law = made.distribution
        if isinstance(law.lpdf, str):
            law = replace(law, **self.operands.functions_of_law(s.distribution, s.value))
        return replace(made, distribution=law, of_data=self._is_data(s.value))

    def factor(self, s: gprob.Factor) -> gprob.Factor:
        """An increment; one made of densities of data has a term per observation, as have the places of these."""
        found = outcomes(s)
        known = any(isinstance(n, gprob.Var) for y in found for n in traversal.walk(y))
        of_data = s.place or is_units(s.value) or not s.jacobian and known and all(map(self._is_data, found))
        return replace(self.operands.parts(s), of_data=of_data)

    def _is_data(self, e: gprob.Expr) -> bool:
        """Whether a value comes from data alone, be it by what traced loops carry; nor is a row of data a parameter."""
        known = self.rows if self.nest is None else self.rows | self.nest.indices
        if not self.operands.with_static(known).times.is_dynamic(e):
            return True
        return not mentions(e, self.facts.by_parameters) and not any(map(_is_made_anew, traversal.walk(e)))

    # --- control flow

    def for_(self, s: gprob.For) -> gprob.For:
        """A loop: how it runs, and how often at the most where its bounds are traced."""
        runs = self.operands.times.loop(s) if self.traces else gprob.Loop.STATIC
        traced = any(map(self.is_dynamic, (s.lower, s.upper)))
        most = self._limit(s) if traced and (s.lanes or runs == gprob.Loop.TRACED) else None
        dense = s.dense and not traced and any(map(self.operands.varies, (s.lower, s.upper)))
        in_python = not self.traces and not s.lanes
        lower, upper = (self._end(e, in_python) for e in (s.lower, s.upper))
        inside = self._inside(s, runs)
        alike = tuple(map(inside.operands, s.alike))
        return replace(
            s, lower=lower, upper=upper, alike=alike, body=inside.block(s.body), runs=runs, most=most, dense=dense
        )  # fmt: skip

    def _end(self, e: gprob.Expr, in_python: bool) -> gprob.Expr:
        """A bound of a loop; one on parameters may decide how often Python runs the body."""
        made = self.operands(e)
        return gprob.Decided(INT, e.span, made) if in_python and self.is_dynamic(e) else made

    def _inside(self, s: gprob.For, runs: gprob.Loop) -> Running:
        """What is around the body of a loop; traced ones are counted from the outermost on."""
        nest = self.nest
        if nest is not None:
            nest = nest.inside(s)
        elif runs == gprob.Loop.TRACED and not s.lanes:
            nest = Nest.of(s, self.operands.times)
        inside = replace(self, nest=nest)
        if not s.lanes:
            return inside
        varying = self.operands.varying | {s.name} | written(s.body)
        operands = replace(self.operands, varying=varying, alike=self.operands.alike | set(map(key, s.alike)))
        return replace(inside, operands=operands, lanes=(*self.lanes, s.name))

    def _limit(self, s: gprob.For) -> gprob.Limit | None:
        """The most iterations that an inner loop can have, told before the loops that its bounds depend on."""
        if self.nest is None:
            return None
        found = self.nest.limit(s, self.operands.varying - self.nest.indices)
        if found is None:
            return None
        lower, upper, ranges = found
        known: Any = self.operands.with_static(self.nest.indices)
        told = tuple((name, known(low), known(high)) for name, low, high in ranges)
        return gprob.Limit(INT, s.span, known(lower), known(upper), told)

    def recur(self, s: gprob.Recur) -> gprob.Recur:
        """A recurrence, a step of which is of one iteration."""
        around = self.lanes[:-1]
        index = {s.name} if s.ragged else frozenset()
        varying = (self.operands.varying - {s.loop} if around else frozenset()) | index
        computed = self.operands.times.dynamic - self.rows
        rows = self.rows | {s.name} | {own for own, i in zip(s.given, s.inputs) if i not in computed}
        step = replace(self, operands=replace(self.operands, varying=varying), lanes=around, rows=rows)
        traced = not self.traces or has_dynamic_work(s.body, self.operands.times)
        return replace(self.operands.parts(s), body=step.block(s.body), traced=traced)

    def while_(self, s: gprob.While) -> gprob.While:
        traced, condition = self.operands.is_traced(s.condition), self.operands.condition(s.condition)
        return replace(s, condition=condition, body=self.block(s.body), traced=traced)

    def if_(self, s: gprob.If) -> gprob.If:
        """A branch: whether the backend decides between its sides, and whether their increments are one term."""
        traced = self.traces and not s.lanes and self.is_dynamic(s.condition)
        condition, inside = self.operands.condition(s.condition), replace(self, branch=self.branch or traced)
        then, otherwise = inside.block(s.then), inside.block(s.otherwise)
        return replace(
            s, condition=condition, then=then, otherwise=otherwise, traced=traced, sums=traced and _adds_often(s)
        )  # fmt: skip


def _is_made_anew(node: object) -> bool:
    """Whether a node is of no variables alone: the log density so far, a random number, a function of the program."""
    if isinstance(node, gprob.Apply):
        return node.function.random
    return isinstance(node, (gprob.TargetValue, gprob.CallUser))


def _adds_often(s: gprob.If) -> bool:
    """Whether so many statements add to the target that each side had better return their sum."""
    kinds = (gprob.Observe, gprob.Factor, gprob.Bind, gprob.Message)
    found = (n for n in traversal.walk(s) if isinstance(n, kinds))
    return next(islice(found, MOST_TERMS, None), None) is not None


def _sampled(s: gprob.Sample) -> StanSemanticError:
    """A branch on a sampled value can't sample: laws of one family have become one sample before."""
    message = f"NumPyro can't sample {s.site} in a branch on sampled values"
    hint = "give it laws of one family, in the same order, on both sides; or translate for Pyro"
    return StanSemanticError([Diagnostic(message, s.span, hint, code="not-generative")])


def _parameters(e: object, sites: Mapping[str, str]) -> Iterator[str]:
    return (n.name for n in traversal.walk(e) if isinstance(n, gprob.Var) and n.name in sites)


def _is_container(t: Type) -> bool:
    element, dims = unwind(t)
    return dims > 0 or str(element) not in ("int", "real", "complex") and not isinstance(element, Tuple)


_METHODS: dict[type, Callable[..., gprob.Stmt]] = {
    gprob.Declare: Running.declare, gprob.Assign: Running.assign, gprob.Last: Running.last,
    gprob.Sample: Running.sample, gprob.Observe: Running.observe, gprob.Factor: Running.factor,
    gprob.For: Running.for_, gprob.Recur: Running.recur, gprob.While: Running.while_, gprob.If: Running.if_,
}  # fmt: skip
