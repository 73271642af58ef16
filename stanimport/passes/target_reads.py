"""Programs that read `target()` keep the log density in a variable beside what they add to it.

Every statement that adds to the target adds to the variable too; functions that read it get it as a further argument.
Programs that never read it stay as they are.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stanlib import registry
from stanlib.registry import Function
from stanlib.types import INT, REAL, is_scalar, scalar_of

from ..ir import gprob, traversal
from ..ir.calls import apply
from ..ir.fresh import Fresh, stem
from ..ir.uses import observation_dims, outcome_dims, outcomes
from ..source import Span
from .call_graph import closure
from .normalize import map_blocks

Stmts = tuple[gprob.Stmt, ...]


def run(program: gprob.Program, names: Fresh) -> gprob.Program:
    """The program with explicit reads of the target."""
    readers = closure(program.functions, _is_read)
    if not readers and not any(map(_is_read, traversal.walk((*program.model, *program.recomputed)))):
        return program
    tracker = _Tracker(readers, names)
    rest = tuple(f for f in program.functions if f.name not in readers)
    program = replace(program, functions=tuple(f for f in program.functions if f.name in readers))
    program = map_blocks(program, lambda block: tuple(tracker.block(block)))
    functions = (*rest, *map(tracker.with_argument, program.functions))
    start = tracker.start(program.span, gprob.Const(REAL, program.span, 0.0))
    return replace(
        program, functions=functions, model=(start, *program.model), recomputed=(start, *program.recomputed)
    )


def _is_read(node: object) -> bool:
    return isinstance(node, gprob.TargetValue)


class _Tracker:
    def __init__(self, readers: frozenset[str], names: Fresh):
        self.readers, self.names = readers, names
        self.target = names.helper("target")

    def start(self, span: Span, value: gprob.Expr) -> gprob.Stmt:
        return gprob.Declare(span, self.target, gprob.Sized(REAL), None, value)

    def with_argument(self, f: gprob.FunDef) -> gprob.FunDef:
        """The function with the target so far as its last argument: one of its own, as arguments are not changed."""
        parameter = gprob.Parameter(self.names.helper("target_before"), REAL)
        start = self.start(f.span, gprob.Var(REAL, f.span, parameter.name))
        return replace(f, parameters=(*f.parameters, parameter), body=(start, *f.body))

    def block(self, block: Sequence[gprob.Stmt]) -> Iterator[gprob.Stmt]:
        for s in block:
            if isinstance(s, (gprob.For, gprob.While)):
                s = replace(s, body=tuple(self.block(s.body)))
            elif isinstance(s, gprob.If):
                s = replace(s, then=tuple(self.block(s.then)), otherwise=tuple(self.block(s.otherwise)))
            yield from self._statement(traversal.rewrite(s, self._expression))

    def _expression(self, node: object) -> object:
        if isinstance(node, gprob.TargetValue):
            return gprob.Var(REAL, node.span, self.target)
        if isinstance(node, gprob.CallUser) and node.function in self.readers:
            target = gprob.Var(REAL, node.span, self.target)
            if not any(isinstance(a, gprob.Var) and a.name == self.target for a in node.arguments[-1:]):
                return replace(node, arguments=(*node.arguments, target))
        return node

    def _statement(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """A statement; one that adds to the target has its term in a variable, and adds it to the target so far too."""
        if isinstance(s, gprob.Bind):
            term = self.names.helper("added")
            yield gprob.Declare(s.span, term, gprob.Sized(REAL), None, None)  # each iteration of a loop has its own
            yield replace(s, term=term)
            yield self._add(gprob.Var(REAL, s.span, term), s.span)
        elif isinstance(s, (gprob.Observe, gprob.Factor)):
            name = self.names.helper("added")
            if isinstance(s, gprob.Observe) and _counts_observations(s.distribution):
                yield from self._observations(s, name)
            else:
                value = log_density(s.distribution, s.value) if isinstance(s, gprob.Observe) else total(s.value)
                yield gprob.Declare(s.span, name, gprob.Sized(REAL), None, value)
            added = gprob.Var(REAL, s.span, name)
            yield s if _is_law(s) else _as_factor(s, added)
            yield self._add(added, s.span)
        else:
            yield s

    def _observations(self, s: gprob.Observe, name: str) -> Iterator[gprob.Stmt]:
        """The log density as a loop: the difference of two probabilities has to be taken for each observation."""
        index = self.names.helper("observation")
        parts, size = [], None
        for e in (s.value, *s.distribution.arguments):
            if is_scalar(e.type):
                parts.append(e)
                continue
            container = gprob.Var(e.type, s.span, self.names.helper("operand"))
            yield gprob.Declare(s.span, container.name, gprob.Sized(e.type), None, e)
            size = size or apply("num_elements", container)
            parts.append(_element(container, gprob.Var(INT, s.span, index)))
        assert size is not None
        yield gprob.Declare(s.span, name, gprob.Sized(REAL), None, gprob.Const(REAL, s.span, 0.0))
        value, *arguments = parts
        term = log_density(replace(s.distribution, arguments=tuple(arguments)), value)
        added = apply("add", gprob.Var(REAL, s.span, name), term)
        add = gprob.Assign(s.span, gprob.Place(name, REAL, s.span), added)
        yield gprob.For(s.span, index, gprob.int_const(1, s.span), size, (add,))

    def _add(self, term: gprob.Expr, span: Span) -> gprob.Stmt:
        target = gprob.Var(REAL, span, self.target)
        return gprob.Assign(span, gprob.Place(self.target, REAL, span), apply("add", target, term))


def _is_law(s: gprob.Observe | gprob.Factor) -> bool:
    """Whether a statement observes a law of the library, whose single observations count: nothing in it prints."""
    law = s.distribution.lpdf if isinstance(s, gprob.Observe) else None
    return isinstance(law, Function) and law.distribution is not None and not any(
        isinstance(n, gprob.CallUser) for n in traversal.walk(s)
    )  # fmt: skip


def _as_factor(s: gprob.Observe | gprob.Factor, added: gprob.Expr) -> gprob.Factor:
    """What a statement adds, which is computed before it; it still tells of which outcomes that is the density."""
    if isinstance(s, gprob.Observe):
        dims = observation_dims(s.distribution.lpdf)
        return gprob.Factor(s.span, s.site, added, outcomes=(s.value,), outcome_dims=dims)
    return replace(s, value=added, outcomes=tuple(outcomes(s)), outcome_dims=outcome_dims(s))


def _counts_observations(d: gprob.Distribution) -> bool:
    """Whether a truncation's normaliser is no sum over vectorised arguments: one between two bounds."""
    two_sided = d.lower is not None and d.upper is not None
    return two_sided and isinstance(d.lpdf, Function) and any(not is_scalar(a.type) for a in d.arguments)


def _element(container: gprob.Var, index: gprob.Expr) -> gprob.Expr:
    element = INT if scalar_of(container.type) == INT else REAL
    return gprob.Index(element, container.span, container, (gprob.Single(index),))


def total(value: gprob.Expr) -> gprob.Expr:
    """The sum of all components of what is added to the target."""
    if not is_scalar(value.type):
        value = gprob.Apply(scalar_of(value.type), value.span, registry.by_symbol("sum"), (value,))
    return _as_real(value)


def _as_real(value: gprob.Expr) -> gprob.Expr:
    return value if value.type == REAL else gprob.Promote(REAL, value.span, value)


def log_density(d: gprob.Distribution, value: gprob.Expr) -> gprob.Expr:
    """The log density of a `~` statement as an expression."""
    density = _call(d.lpdf, (value, *d.arguments), value.span)
    if d.lower is None and d.upper is None:
        return density
    span = value.span
    normalizer = _times(log_normalizer(d, span), value, d)
    inside: gprob.Expr = apply("subtract", density, normalizer)
    never = gprob.Const(REAL, span, float("-inf"))
    for bound, extreme, comparison in ((d.lower, "min", "logical_lt"), (d.upper, "max", "logical_gt")):
        if bound is not None:
            furthest = value if is_scalar(value.type) else apply(extreme, value)
            outside = apply(comparison, furthest, bound)
            inside = gprob.Cond(REAL, span, outside, never, inside)
    return inside


def log_normalizer(d: gprob.Distribution, span: Span) -> gprob.Expr:
    """The log probability between the bounds of a truncation, summed over vectorised arguments."""
    name = d.lpdf.name if isinstance(d.lpdf, Function) else stem(d.lpdf)
    below, above = d.lower, d.upper
    if "_lpmf" not in name:
        below, above = (None if b is None else _as_real(b) for b in (below, above))
    elif below is not None:
        below = apply("subtract", below, gprob.int_const(1, span))
    if above is None:
        assert below is not None and d.lccdf is not None
        return _call(d.lccdf, (below, *d.arguments), span)
    assert d.lcdf is not None
    top = _call(d.lcdf, (above, *d.arguments), span)
    return top if below is None else apply("log_diff_exp", top, _call(d.lcdf, (below, *d.arguments), span))


def _times(normalizer: gprob.Expr, value: gprob.Expr, d: gprob.Distribution) -> gprob.Expr:
    """The normaliser counts once per observation, which vectorised arguments see to by themselves."""
    if is_scalar(value.type) or any(not is_scalar(a.type) for a in d.arguments):
        return normalizer
    count = gprob.Promote(REAL, value.span, apply("num_elements", value))
    return apply("multiply", normalizer, count)


def _call(f: Function | str, arguments: tuple[gprob.Expr, ...], span: Span) -> gprob.Expr:
    if isinstance(f, Function):
        return gprob.Apply(REAL, span, f, arguments)
    return gprob.CallUser(REAL, span, f, arguments)
