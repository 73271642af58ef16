"""Calls in loops of functions in which data that differ between iterations decide shapes, as the statements they run.

Such a call would be made once for each choice of those data, and once for each length of a part that it is given. What
it runs, written into the loop, is what other passes know how to run for all iterations at once: its loops become lanes,
its local arrays get room for the longest.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stanlib.types import is_scalar

from ...ir import gprob, traversal
from ...ir.fresh import stem
from ...ir.uses import always_returns, declared, differing, loop_indices, mentions, walk_statements, written
from ..control import tail_returns
from ..surroundings import Surroundings
from .affine import mentions_values
from .given_parts import part_of, taken
from .shapes import shape_varies
from .sizes import certain

Stmts = tuple[gprob.Stmt, ...]
MOST_STATEMENTS = 40  # of a function that is written into a loop


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with such calls inlined, where a call is certain to be made."""
    return _Inline(around, body).block(body, set())


class _Inline:
    def __init__(self, around: Surroundings, body: Stmts):
        self.functions, self.names = around.functions, around.names
        self.times = around.times(body, flat=True)
        self.before: list[gprob.Stmt] = []
        self.outcomes: list[gprob.Expr] = []

    def block(self, body: Sequence[gprob.Stmt], varying: set[str]) -> Stmts:
        return tuple(t for s in body for t in self.statement(s, varying))

    def statement(self, s: gprob.Stmt, varying: set[str]) -> Iterator[gprob.Stmt]:
        """`varying` is what may differ between the iterations of the loops around."""
        if isinstance(s, gprob.For):
            inside = varying | differing(s)
            yield replace(s, body=self.block(s.body, inside))
        elif isinstance(s, gprob.If):
            then, otherwise = (self.block(b, varying) for b in traversal.bodies(s))
            yield replace(s, then=then, otherwise=otherwise)
        elif varying and isinstance(s, (gprob.Declare, gprob.Assign, gprob.Factor, gprob.Observe)):
            yield from self._leaf(s, varying)
        else:
            yield s

    def _leaf(self, s: Any, varying: set[str]) -> Iterator[gprob.Stmt]:
        """A statement that holds no others, behind what its inlined calls run; calls in that are inlined too."""
        self.before, self.outcomes = [], []
        if isinstance(s, gprob.Observe):
            made = self._observed(s, varying)
        elif s.value is None:
            made = s
        else:
            made = replace(s, value=self._expression(s.value, varying))
            if isinstance(s, gprob.Factor) and self.outcomes:
                made = replace(made, outcomes=(*s.outcomes, *self.outcomes), outcome_dims=0)
        before = self.before
        inside = varying | written(tuple(before)) | loop_indices(tuple(before))
        yield from self.block(before, inside) if before else ()  # a function may call others
        yield made

    def _observed(self, s: gprob.Observe, varying: set[str]) -> gprob.Stmt:
        """An observation under a law of the program: a term of the target that tells of its outcome."""
        d = s.distribution
        if not isinstance(d.lpdf, str) or d.lower is not None or d.upper is not None:
            return s
        value = self._called(d.lpdf, (s.value, *d.arguments), s.span, varying)
        return s if value is None else gprob.Factor(s.span, s.site, value, outcomes=_read_in(s.value, varying))

    def _expression(self, e: Any, varying: set[str]) -> Any:
        """An expression with variables for the calls in it that are certain to be made."""
        if isinstance(e, gprob.Cond):
            return replace(e, condition=self._expression(e.condition, varying))
        if isinstance(e, gprob.Logical):
            return replace(e, left=self._expression(e.left, varying))
        made = traversal.rewrite_parts(e, lambda part: self._expression(part, varying))
        if not isinstance(made, gprob.CallUser):
            return made
        value = self._called(made.function, made.arguments, made.span, varying)
        if value is None:
            return made
        if self.functions.by_key[made.function].is_density:
            self.outcomes += _read_in(made.arguments[0], varying)
        return value

    def _called(
        self, key: str, arguments: tuple[gprob.Expr, ...], span: Any, varying: set[str]
    ) -> gprob.Expr | None:  # fmt: skip
        """The variable that holds a call's result behind `before`; None for a call that stays."""
        if not self._is_to_be_inlined(key, arguments, varying):
            return None
        f = self.functions.by_key[key]
        names = {n: self.names.helper(stem(n)) for n in (*sorted(declared(f.body)), *sorted(loop_indices(f.body)))}
        body = self._with_arguments(f, arguments, names, varying)
        result = gprob.Var(f.result, span, self.names.helper(stem(f.stan_name)))
        if (value := _only_returned(body)) is not None:
            self.before += [*body[:-1], gprob.Declare(span, result.name, gprob.Sized(f.result), None, value)]
        else:
            body = _with_result(tail_returns(body), result)
            self.before += [gprob.Declare(span, result.name, gprob.Sized(f.result)), *body]
        return result

    def _with_arguments(
        self, f: gprob.FunDef, arguments: Sequence[gprob.Expr], names: Mapping[str, str], varying: set[str]
    ) -> Stmts:
        """A function's statements with its own variables renamed, and what its parameters stand for in their places."""
        given = {p.name: part_of(a, varying, self.names) for p, a in zip(f.parameters, arguments)}
        parts = {name: part for name, part in given.items() if part is not None}
        values = {p.name: parts[p.name].selection if p.name in parts else self._argument(f, p, a)
                  for p, a in zip(f.parameters, arguments)}  # fmt: skip
        if not parts:
            made: Stmts = traversal.rewrite(f.body, lambda node: _renamed(node, names, values))
            return made
        for part in parts.values():
            self.before += part.statements(varying)
        own = {p.name: self.names.helper(stem(p.name)) for p in f.parameters}  # parts bring names from outside
        body = traversal.rewrite(f.body, lambda node: _renamed(node, {**names, **own}, {}))
        body = taken(body, {own[name]: part for name, part in parts.items()})
        made = traversal.rewrite(body, lambda node: _renamed(node, {}, {own[n]: v for n, v in values.items()}))
        return made

    def _argument(self, f: gprob.FunDef, parameter: gprob.Parameter, e: gprob.Expr) -> gprob.Expr:
        """What stands for a parameter: a part of a variable as it is, else a variable for its value.

        A part that the function may never look at is looked at before: Stan throws for one that there is not.
        """
        is_part = _is_part(e)
        if is_part and (isinstance(e, (gprob.Var, gprob.Const)) or _is_certainly_read(parameter.name, f.body)):
            return e
        made = gprob.Var(parameter.type, e.span, self.names.helper(stem(parameter.name)))
        self.before.append(gprob.Declare(e.span, made.name, gprob.Sized(parameter.type), None, e))
        return e if is_part else made

    def _is_to_be_inlined(self, key: str, arguments: Sequence[gprob.Expr], varying: set[str]) -> bool:
        """Whether a call is one of those that iterations can't make alike, and its statements can take its place."""
        functions = self.functions
        if key in functions.bodiless or key not in functions.by_key or functions.is_random(key):
            return False
        if functions.draws(tuple(arguments)):  # parts are written down wherever their items are read
            return False
        deciding = [arguments[i] for i in functions.shaped_by(key)]
        differs = any(mentions_values(e, varying) for e in deciding) or any(shape_varies(e, varying) for e in arguments)
        if not differs or any(map(self.times.is_dynamic, deciding)):
            return False
        return key not in functions.effectful and not functions.is_recursive(key) and _is_simple(functions.by_key[key])


def _read_in(outcome: gprob.Expr, varying: set[str]) -> tuple[gprob.Expr, ...]:
    """An outcome; of a part of varying length, which would keep iterations from being alike, the variables in it."""
    if not isinstance(outcome, gprob.Index) or not shape_varies(outcome, varying) or mentions(outcome.base, varying):
        return (outcome,)
    return tuple(n for n in traversal.walk(outcome) if isinstance(n, gprob.Var))


def _is_part(e: traversal.Node) -> bool:
    """Whether an expression is a variable, a constant, or a part of a variable."""
    if isinstance(e, gprob.Promote):
        return _is_part(e.value)
    if isinstance(e, gprob.Index):
        return _is_part(e.base) and all(_is_part(x) for i in e.indices for x in traversal.children(i))
    return isinstance(e, (gprob.Var, gprob.Const))


def _is_certainly_read(name: str, body: Stmts) -> bool:
    """Whether a function reads a parameter whatever its arguments are, before it may return."""
    for s in body:
        parts = (c for c in traversal.children(s) if not isinstance(c, gprob.Stmt))
        if any(isinstance(n, gprob.Var) and n.name == name for part in parts for n in certain(part)):
            return True
        if any(isinstance(inner, gprob.Return) for inner in walk_statements((s,))):
            return False
    return False


def _renamed(node: object, names: Mapping[str, str], given: Mapping[str, gprob.Expr]) -> object:
    """A node of a function where it is inlined."""
    if isinstance(node, gprob.Var) and node.name in given:
        return replace(given[node.name], span=node.span)
    if isinstance(node, (gprob.Var, gprob.Place, gprob.Declare, gprob.For)) and node.name in names:
        return replace(node, name=names[node.name])
    return node


# --- functions -------------------------------------------------------------------------------------------------------

_SIMPLE = (gprob.Declare, gprob.Assign, gprob.For, gprob.If, gprob.Return)
_SPECIAL = (gprob.FunctionValue, gprob.TargetValue)


def _is_simple(f: gprob.FunDef) -> bool:
    """Whether a function is a few statements, and returns at the end of every path."""
    statements = list(walk_statements(f.body))
    fit = all(isinstance(s, _SIMPLE) or isinstance(s, gprob.Message) and s.kind == "reject" for s in statements)
    if not fit or len(statements) > MOST_STATEMENTS or any(isinstance(n, _SPECIAL) for n in traversal.walk(f.body)):
        return False
    loops = [s.body for s in statements if isinstance(s, gprob.For)]
    if any(isinstance(t, gprob.Return) for b in loops for t in walk_statements(b)):
        return False
    return _only_returned(f.body) is not None or is_scalar(f.result) and _is_in_tail(tail_returns(f.body))


def _only_returned(body: Stmts) -> gprob.Expr | None:
    """What a function returns, if it does so at its end alone."""
    returns = [s for s in walk_statements(body) if isinstance(s, gprob.Return)]
    return returns[0].value if len(returns) == 1 and returns[0] is body[-1] else None


def _is_in_tail(body: Stmts) -> bool:
    """Whether every path through statements returns, or rejects, at its end alone."""
    if not always_returns(body) or any(isinstance(s, gprob.Return) for s in walk_statements(body[:-1])):
        return False
    return all(map(_is_in_tail, traversal.bodies(body[-1])))


def _with_result(body: Stmts, result: gprob.Var) -> Stmts:
    """Statements that return at the ends of paths, with the result assigned instead."""
    *before, last = body
    if isinstance(last, gprob.Return):
        assert last.value is not None
        last = gprob.Assign(last.span, gprob.Place(result.name, result.type, last.span), last.value)
    elif isinstance(last, gprob.If):
        then, otherwise = (_with_result(side, result) for side in traversal.bodies(last))
        last = replace(last, then=then, otherwise=otherwise)
    return (*before, last)
