"""Statements of GProb as Python statements: sites, assignments, and control flow on explicit state."""
from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from stanlib.registry import Function
from stanlib.types import COMPLEX, INT, Tuple, Type, array, is_scalar, scalar_of, unwind

from ..ir.fresh import Fresh, stem
from ..middle import gprob, traversal
from ..middle.comprehensive import is_density
from ..middle.priors import is_half
from ..middle.uses import assigned, defines, walk_statements
from ..passes.binding_times import Nest
from ..passes.ownership import Ownership
from . import bounds, branches, lanes, loops
from .asty import Builder
from .effects import Effect, Effects
from .expressions import Expressions

Stmts = Sequence[gprob.Stmt]


class Statements:
    """Translates the statements of one function body.

    `effects` decides what becomes of increments of the target; `ownership` says which arrays may be changed
    in place (they are nobody else's).
    """

    def __init__(self, expressions: Expressions, effects: Effects, fresh: Fresh):
        self.expr, self.effects, self.fresh = expressions, effects, fresh
        self.names, self.times = expressions.names, expressions.times
        self.depth = 0  # of the blocks around
        self.draws = True  # whether anything in the outermost one takes random numbers
        self.nest: Nest | None = None  # the traced loops around the current statement
        self.limits: list[ast.stmt] = []  # what must be computed before the outermost of them
        self.lanes: list[str] = []  # the loops around whose iterations run as lanes
        self.ownership = Ownership()
        self.assigned: frozenset[str] | set[str] = frozenset()  # what the body assigns to after its declaration
        self.sizes: dict[str, gprob.Sized] = {}  # of the variables that it declares
        self.sites: dict[str, str] = {}  # the parameters that the body samples
        self.bounding: frozenset[str] = frozenset()  # those that bounds of others refer to, where they must be told

    def block(self, body: Stmts) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        if not self.depth:
            self.draws = any(self.expr.draws(n) for n in traversal.walk(tuple(body)))
        self.depth += 1
        for s in body:
            out += _METHODS[type(s)](self, s, Builder(s.span))
            if self.nest is not None and isinstance(s, gprob.Declare) and s.value is not None:
                self.nest.define(s.name, s.value)
            if self.depth == 1:
                self.names.release()
        self.depth -= 1
        return out

    # --- variables

    def declare(self, s: gprob.Declare, b: Builder) -> list[ast.stmt]:
        name = self.names[s.name]
        self.sizes[s.name] = s.sized
        if s.value is not None:
            return [b.assign(name, self._owned(s.value, self._fitted(s, b), s.name))]
        made = self._unset(s.sized, b)
        if s.sized.shape and not s.sized.items and self._begins_as_data(s.name, s.sized.type):
            made = b.call("ppl.tensor", made)
        return [b.assign(name, made)]

    def _fitted(self, s: gprob.Declare, b: Builder) -> ast.expr:
        """The initial value, checked against the declared sizes unless they are the value's own."""
        assert s.value is not None
        value = self.expr(s.value)
        if not s.sized.shape or s.sized.items:
            return value
        return b.call("ppl.fit", value, self.shape(s.sized, b))

    def _unset(self, sized: gprob.Sized, b: Builder) -> ast.expr:
        element, dims = unwind(sized.type)
        if isinstance(element, Tuple) and sized.items:
            return b.tuple_([self._unset(_in_array(sized, i, dims), b) for i in sized.items])
        if not sized.shape and (dims or isinstance(element, Tuple) or _is_container(sized.type)):
            return b.dotted("ppl.UNSET")
        kind = scalar_of(sized.type)
        arguments = [self.shape(sized, b)]
        if kind in (INT, COMPLEX):
            arguments.append(b.const(str(kind)))
        return b.call("ppl.unset", *arguments)

    def shape(self, sized: gprob.Sized, b: Builder) -> ast.expr:
        return b.tuple_([self.expr(e) for e in sized.shape])

    def _owned(self, value: gprob.Expr, made: ast.expr, name: str) -> ast.expr:
        """A copy, where an array that another variable may hold would else be changed in place.

        With PyTorch a tensor, where a variable that depends on parameters later begins as data.
        """
        if (self.lanes or not is_scalar(value.type)) and self.ownership.needs_copy(name, value):
            return Builder(value.span).call("ppl.copy", made)
        if self._begins_as_data(name, value.type) and not self.expr.is_tensor(value):
            return Builder(value.span).call("ppl.tensor", made)
        return made

    def _begins_as_data(self, name: str, t: Type) -> bool:
        """Whether a value of data must be a tensor, as PyTorch's operators take those alone: what changes it may."""
        return name in self.times.dynamic and not self.expr.traces and scalar_of(t) != INT and _is_container(t)

    def assign(self, s: gprob.Assign, b: Builder) -> list[ast.stmt]:
        name, value = self.names[s.place.name], self._owned(s.value, self.expr(s.value), s.place.name)
        if not s.place.steps:
            return [b.assign(name, self._of_size(s.place.name, value, b))]
        shared = {} if s.over is None else {"over": b.name(self.names[s.over])}
        # what every lane has for itself gets an axis for them when assigned to: only what all share stays in place
        shared_by_all = not self.lanes or s.over == self.lanes[0]
        if s.place.name in self.ownership.changed and shared_by_all and not any(p.item for p in s.place.steps):
            indices = [self.expr.one_index(i, b) for p in s.place.steps for i in p.indices]
            return [b.run(b.call("ppl.assign_in_place", b.name(name), value, *indices, **shared))]
        return [b.assign(name, self._updated(b.name(name), s.place.steps, value, b, shared))]

    def _of_size(self, name: str, value: ast.expr, b: Builder) -> ast.expr:
        """A value for a whole variable, checked against its declared sizes as far as these can't have changed."""
        sized = self.sizes.get(name)
        if sized is None or not sized.shape or sized.items:
            return value
        read = {n.name for n in traversal.walk(sized.shape) if isinstance(n, gprob.Var)}
        return value if read & self.assigned else b.call("ppl.fit", value, self.shape(sized, b))

    def _updated(
        self, base: ast.expr, steps: Sequence[gprob.Step], value: ast.expr, b: Builder,
        shared: dict[str, ast.expr] | None = None,
    ) -> ast.expr:  # fmt: skip
        """The container with the part that the steps select replaced."""
        step, *rest = steps
        if step.item:
            if rest:
                value = self._updated(b.subscript(base, b.const(step.item - 1)), rest, value, b)
            return b.call("ppl.replace_item", base, b.const(step.item), value)
        indices = [self.expr.one_index(i, b) for i in step.indices]
        while rest and not rest[0].item:
            indices += [self.expr.one_index(i, b) for i in rest.pop(0).indices]
        if rest:
            value = self._updated(b.call("ppl.at", base, *indices), rest, value, b)
        return b.call("ppl.assign", base, value, *indices, **(shared or {}))

    # --- sites

    def sample(self, s: gprob.Sample, b: Builder) -> list[ast.stmt]:
        if s.distribution is not None:
            return [b.assign(self.names[s.name], self._prior(s, s.distribution, b))]
        return [b.assign(self.names[s.name], self._parameter(s.name, s.site, s.sized, s.constraint, b))]

    def param(self, s: gprob.Param, b: Builder) -> list[ast.stmt]:
        """A parameter of a guide."""
        arguments = [b.const(s.site), *([self.shape(s.sized, b)] if s.sized.shape else [])]
        kind, named = self.constraint(s.constraint, b)
        if kind is not None:
            named = {"kind": b.const(kind), **named}
        if s.value is not None:
            named["init"] = self.expr(s.value)
        return [b.assign(self.names[s.name], b.call("ppl.param", *arguments, **named))]

    def _prior(self, s: gprob.Sample, d: gprob.Distribution, b: Builder) -> ast.expr:
        """A parameter from its law."""
        arguments = [b.const(s.site), self.distribution(d, b)]
        if s.sized.shape:
            arguments.append(self.shape(s.sized, b))
        return b.call("ppl.sample", *arguments, **self._domain(s.name, s.constraint, b))

    def _domain(self, name: str, c: gprob.Constraint | None, b: Builder) -> dict[str, ast.expr]:
        """The domain of a parameter, as keywords of its site."""
        kind, named = self.constraint(c, b)
        if c is not None and not self.expr.traces:
            named = {n: bounds.argument(e, self.sites, self.expr, b) for n, e in c.arguments}
        if name in self.bounding:
            named = {"bounding": b.const(True), **named}
        return named if kind is None else {"kind": b.const(kind), **named}

    def _parameter(
        self, name: str, site: str, sized: gprob.Sized, constraint: gprob.Constraint | None, b: Builder
    ) -> ast.expr:
        element, dims = unwind(sized.type)
        if isinstance(element, Tuple):
            kinds = constraint.items if constraint is not None else (None,) * len(sized.items)
            parts = [_in_array(sized, i, dims) for i in sized.items]
            made = [self._parameter("", f"{site}.{i + 1}", p, k, b) for i, (p, k) in enumerate(zip(parts, kinds))]
            return b.tuple_(made)
        arguments = [b.const(site)]
        if sized.shape:
            arguments.append(self.shape(sized, b))
        named = self._domain(name, constraint, b)
        if scalar_of(sized.type) == COMPLEX:
            named["complex"] = b.const(True)
        return b.call("ppl.parameter", *arguments, **named)

    def constraint(self, c: gprob.Constraint | None, b: Builder) -> tuple[str | None, dict[str, ast.expr]]:
        """The name of a constrained type, and bounds by keyword."""
        if c is None:
            return None, {}
        named = {n: self.expr(e) for n, e in c.arguments}
        return (None if c.kind == "bounds" else c.kind), named

    def distribution(self, d: gprob.Distribution, b: Builder) -> ast.expr:
        arguments = [self.expr(a) for a in d.arguments]
        made = b.call(f"dist.{d.family}", *arguments)
        if d.lower is None and d.upper is None:
            return made
        if is_half(d):
            return b.call("ppl.half", made, *self.truncation_bounds(d, b))
        function = "ppl.restrict" if d.on_domain else "ppl.truncate"
        return b.call(function, made, self.log_normalizer(d, b), *self.truncation_bounds(d, b))

    def truncation_bounds(self, d: gprob.Distribution, b: Builder) -> list[ast.expr]:
        lower = b.const(None) if d.lower is None else self.expr(d.lower)
        return [lower] if d.upper is None else [lower, self.expr(d.upper)]

    def log_normalizer(self, d: gprob.Distribution, b: Builder) -> ast.expr:
        """The log probability between the bounds of a truncation, one entry per observation."""
        arguments = [self.expr(a) for a in d.arguments]
        discrete = d.lpdf.name.endswith("_lpmf") if isinstance(d.lpdf, Function) else stem(d.lpdf).endswith("_lpmf")
        below = None
        if d.lower is not None:
            below = self.expr(d.lower)
            below = b.binary(below, "-", b.const(1)) if discrete else below
        if d.upper is None:
            assert below is not None
            return self.cumulative(d.lccdf, below, arguments, b)
        top = self.cumulative(d.lcdf, self.expr(d.upper), arguments, b)
        if below is None:
            return top
        return b.call("fn.log_diff_exp", top, self.cumulative(d.lcdf, below, arguments, b))

    def cumulative(
        self, f: Function | str | None, bound: ast.expr, arguments: list[ast.expr], b: Builder
    ) -> ast.expr:
        if isinstance(f, Function):
            return b.call("ppl.terms", b.dotted(f"fn.{f.symbol}"), bound, *arguments)
        assert f is not None
        callee = self.expr.functions.identifier(f)
        if self.lanes:
            return b.call("ppl.each", b.name(callee), bound, *arguments)
        return b.call(callee, bound, *arguments)

    def observe(self, s: gprob.Observe, b: Builder) -> list[ast.stmt]:
        return self.effects.add(Effect(s.site, self._is_data(s.value), s), self, b)

    def _is_data(self, e: gprob.Expr) -> bool:
        """Whether a value comes from data alone; the index of a traced loop is no parameter."""
        indices = {loop.name for loop in self.nest.loops} if self.nest is not None else set()
        return not self.expr.with_static(indices).times.is_dynamic(e)

    def factor(self, s: gprob.Factor, b: Builder) -> list[ast.stmt]:
        return self.effects.add(Effect(s.site, not s.jacobian and self._is_of_data(s.value), s), self, b)

    def _is_of_data(self, e: gprob.Expr) -> bool:
        """Whether an increment is made of densities of data: then it has a term per observation."""
        outcomes = [n.arguments[0] for n in traversal.walk(e) if is_density(n)]
        known = [y for y in outcomes if any(isinstance(n, gprob.Var) for n in traversal.walk(y))]
        return bool(known) and all(map(self._is_data, outcomes))

    def bind(self, s: gprob.Bind, b: Builder) -> list[ast.stmt]:
        """A call that returns a value and what it adds to the target."""
        value = b.target(self.names[s.name]) if s.name is not None else b.target(self.names.temporary("_"))
        term = self.names.temporary("term") if s.term is None else self.names[s.term]
        pair = b.make(ast.Tuple, elts=[value, b.target(term)], ctx=ast.Store())
        call = b.assign(pair, self.expr(s.call))
        return [call, *self.effects.add(Effect(s.site, False, s, b.name(term)), self, b)]

    def deterministic(self, s: gprob.Deterministic, b: Builder) -> list[ast.stmt]:
        return [b.run(b.call("ppl.deterministic", b.const(s.site), b.name(self.names[s.name])))]

    def check(self, s: gprob.Check, b: Builder) -> list[ast.stmt]:
        return self._check(s.site, s.constraint, b.name(self.names[s.name]), b)

    def _check(self, site: str, constraint: gprob.Constraint, value: ast.expr, b: Builder) -> list[ast.stmt]:
        if constraint.kind == "tuple":
            out: list[ast.stmt] = []
            for i, c in enumerate(constraint.items):
                if c is not None and c.kind != "offset_multiplier":
                    out += self._check(f"{site}.{i + 1}", c, b.subscript(value, b.const(i)), b)
            return out
        kind, named = self.constraint(constraint, b)
        arguments = [b.const(site), value, *([b.const(kind)] if kind is not None else [])]
        return [b.run(b.call(self.effects.check_function, *arguments, **named))]

    # --- what control flow shares

    def passed_on(self, terms: dict[Effect, str], b: Builder) -> list[ast.stmt]:
        """What a lifted body has collected goes on to whatever is around it."""
        out: list[ast.stmt] = []
        for effect, name in terms.items():
            out += self.effects.add(effect.with_term(b.name(name)), self, b)
        return out

    def with_random(
        self, nodes: object, index: ast.expr, make: Callable[[], list[ast.stmt]], b: Builder
    ) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """A lifted body with random numbers of its own where it draws any, and what must stand before its function."""
        outer = self.expr.random
        if not self.uses_random(nodes):
            return [], make()
        each, own = self.names.temporary("random"), self.names.temporary("random")
        self.expr.random = own
        made = [b.assign(own, b.call(f"{each}.at", index)), *make()]
        self.expr.random = outer
        return [b.assign(each, b.call(f"{outer}.split"))], made

    def uses_random(self, nodes: object) -> bool:
        return self.draws and any(self.expr.draws(node) for node in traversal.walk(nodes))

    def state(self, *bodies: Stmts) -> list[str]:
        """The variables that bodies assign and that live on outside of them, in the order of the first assignment."""
        own = {name for body in bodies for s in walk_statements(body) for name in defines(s)}
        return [n for n in assigned([s for body in bodies for s in body]) if n not in own]

    def results(self, call: ast.expr, names: Sequence[str], b: Builder) -> list[ast.stmt]:
        return [b.assign(b.tuple_target(names), call)] if names else [b.run(call)]

    def break_(self, s: gprob.Break, b: Builder) -> list[ast.stmt]:
        return [b.break_()]

    def continue_(self, s: gprob.Continue, b: Builder) -> list[ast.stmt]:
        return [b.continue_()]

    def return_(self, s: gprob.Return, b: Builder) -> list[ast.stmt]:
        value = None if s.value is None else self.expr(s.value)
        return [b.return_(self.effects.returned(value, b))]

    def run(self, s: gprob.Run, b: Builder) -> list[ast.stmt]:
        return [b.run(self.expr(s.call))]

    def message(self, s: gprob.Message, b: Builder) -> list[ast.stmt]:
        parts = [b.const(i) if isinstance(i, str) else self.expr(i) for i in s.items]
        if s.kind == "print":
            return [b.run(b.call("ppl.message", *parts))]
        return self.effects.reject(s, parts, self, b)


def _is_container(t: Type) -> bool:
    element, dims = unwind(t)
    return dims > 0 or str(element) not in ("int", "real", "complex") and not isinstance(element, Tuple)


def _in_array(sized: gprob.Sized, item: gprob.Sized, dims: int) -> gprob.Sized:
    """An item of an array of tuples, with the sizes of the array in front."""
    return gprob.Sized(array(item.type, dims), (*sized.shape, *item.shape), item.items)


_METHODS: dict[type, Callable[..., list[ast.stmt]]] = {
    gprob.Declare: Statements.declare, gprob.Assign: Statements.assign, gprob.Sample: Statements.sample,
    gprob.Param: Statements.param, gprob.Observe: Statements.observe, gprob.Factor: Statements.factor,
    gprob.Bind: Statements.bind,
    gprob.Deterministic: Statements.deterministic, gprob.Check: Statements.check, gprob.For: loops.for_,
    gprob.While: loops.while_, gprob.If: branches.if_, gprob.Break: Statements.break_,
    gprob.Continue: Statements.continue_, gprob.Return: Statements.return_, gprob.Run: Statements.run,
    gprob.Message: Statements.message, gprob.Recur: lanes.recur, gprob.Cumulate: lanes.cumulate,
    gprob.Accumulate: lanes.accumulate, gprob.Last: lanes.last,
}  # fmt: skip
