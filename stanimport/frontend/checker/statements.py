"""Statements, and what control flow makes of them. Source: Stan Reference Manual, "Statements"."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from stanlib import overloads, registry
from stanlib.types import (
    INT,
    MATRIX,
    REAL,
    ROW_VECTOR,
    VECTOR,
    VOID,
    Array,
    Function,
    Type,
    array,
    is_discrete,
    is_scalar,
    unwind,
)  # fmt: skip

from ...errors import nearest
from ...ir import gprob, typed
from ...ir.calls import apply
from ...source import Span
from .. import ast
from . import basics, calls, declarations, explain, higher_order, legacy
from .assignments import assignment
from .basics import promote, verify_identifier
from .context import CheckError, Context, Typed
from .counted import counted
from .expressions import expression, fits, of_condition, of_int
from .scopes import UserFunction


class Flow(Enum):
    """How control leaves a statement, as far as definite returns are concerned (stanc's terms)."""

    INCOMPLETE = "falls through"
    COMPLETE = "returns or rejects on every path"
    NONLOCAL = "may break out of a loop"


class Checked(NamedTuple):
    """The GProb statements that a Stan statement becomes, and its flow."""

    body: tuple[gprob.Stmt, ...]
    flow: Flow = Flow.INCOMPLETE


def statement(c: Context, s: ast.Statement, is_global: bool = False) -> Checked:
    """Check one statement. What is wrong is reported, so that checking goes on behind it."""
    try:
        if isinstance(s, ast.Declaration):
            return _declaration(c, s, is_global)
        return _CHECKS[type(s)](c, s)
    except CheckError as e:
        c.report(e)
        return Checked((), Flow.COMPLETE)


def _declaration(c: Context, s: ast.Declaration, is_global: bool) -> Checked:
    out: list[gprob.Stmt] = []
    for d in s.declarators:
        try:
            out += declarations.declaration(c, ast.Declaration((d,), s.span), is_global)
        except CheckError as e:
            c.report(e)
    return Checked(tuple(out))


def sequence(c: Context, statements: Sequence[ast.Statement]) -> Checked:
    """The statements of a block, in a scope that the caller has opened."""
    body: list[gprob.Stmt] = []
    flow, escaped = Flow.INCOMPLETE, False
    warned = False
    for s in statements:
        if escaped and not warned:
            c.diagnostics.warn("this statement is never reached", s.span, code="unreachable")
            warned = True
        checked = statement(c, s)
        body += checked.body
        if not escaped:
            flow = _in_sequence(flow, checked.flow)
        escaped = escaped or isinstance(s, (ast.Break, ast.Continue, ast.Return)) or _ends(s)
    return Checked(tuple(body), flow)


def _ends(s: ast.Statement) -> bool:
    return isinstance(s, ast.Message) and s.kind != "print"


def _in_sequence(a: Flow, b: Flow) -> Flow:
    if a == Flow.NONLOCAL or b == Flow.NONLOCAL:
        return Flow.NONLOCAL
    return Flow.COMPLETE if b == Flow.COMPLETE else Flow.INCOMPLETE


def _block(c: Context, s: ast.Block) -> Checked:
    return sequence(c.nested(), s.body)


def _profile(c: Context, s: ast.Profile) -> Checked:
    return sequence(c.nested(), s.body)


def _empty(c: Context, s: ast.Empty) -> Checked:
    return Checked(())


def _assignment(c: Context, s: ast.Assignment) -> Checked:
    return Checked((assignment(c, s),))


def _call(c: Context, s: ast.CallStatement) -> Checked:
    arguments = [expression(c, a) for a in s.arguments]
    return Checked((calls.statement(c, s, arguments),))


def _increment(c: Context, s: ast.Increment) -> Checked:
    value = expression(c, s.value)
    if s.kind == "target":
        verify_target(c, s.span, "target +=")
    elif c.place.suffix != "jacobian" and c.place.block != "transformed parameters":
        c.fail("jacobian += can only be used in transformed parameters and in functions ending in _jacobian", s.span)
    if isinstance(value.type, Function):
        c.fail("a function can't be added to the target", s.span)
    return Checked((typed.Increment(s.span, s.kind, value.expr),))


def verify_target(c: Context, span: Span, what: str) -> None:
    if c.place.suffix != "lp" and c.place.block not in ("model", "guide"):
        c.fail(f"{what} can only be used in the model block and in functions ending in _lp", span)


def _tilde(c: Context, s: ast.Tilde) -> Checked:
    """`value ~ name(...)`: the density that it means, the outcome and the other arguments apart, and its truncation."""
    value = expression(c, s.value)
    arguments = [value, *(expression(c, a) for a in s.arguments)]
    bounds = _truncation(c, s)
    s = legacy.without_suffix(c, s)
    name = s.distribution
    verify_identifier(c, name)
    verify_target(c, s.span, "~")
    if name.text.endswith(("_cdf", "_ccdf")):
        c.fail(f"{name.text!r} is no density", s.span)
    distribution = _distribution_of_any_shape(c, s, arguments)
    if s.truncation is not None:
        distribution = _truncated(c, s, distribution, arguments[1:], bounds)
    parameters = distribution.arguments
    rest = gprob.Distribution(
        distribution.family, distribution.lpdf, parameters[1:], distribution.lower, distribution.upper,
        distribution.lcdf, distribution.lccdf,
    )  # fmt: skip
    return Checked((typed.Tilde(s.span, parameters[0], rest),))


def _distribution_of_any_shape(c: Context, s: ast.Tilde, arguments: list[Typed]) -> gprob.Distribution:
    """The density; in programs with networks univariate laws are also those of matrices and arrays of any shape."""
    if not any(f.network for fs in c.functions.by_name.values() for f in fs):
        return _distribution(c, s, arguments)
    try:
        return _distribution(c, s, arguments)
    except CheckError:
        flat = list(map(_flat, arguments))
        if flat == arguments:
            raise
        return _distribution(c, s, flat)


def _flat(value: Typed) -> Typed:
    """The components of a matrix, or of an array of more than one dimension, one after the other."""
    element, dims = unwind(value.type)
    if value.type != MATRIX and (element not in (INT, REAL) or dims < 2):
        return value
    name = "to_vector" if value.type == MATRIX else "to_array_1d"
    return Typed(apply(name, value.expr), value.level)


def _truncation(c: Context, s: ast.Tilde) -> list[Typed | None]:
    out: list[Typed | None] = []
    for e in (s.truncation.lower, s.truncation.upper) if s.truncation is not None else ():
        bound = None if e is None else expression(c, e)
        if bound is not None and not is_scalar(bound.type):
            c.fail(f"the bounds of a truncation must be int or real, not {bound.type}", bound.span)
        out.append(bound)
    return out


def _distribution(c: Context, s: ast.Tilde, arguments: list[Typed]) -> gprob.Distribution:
    """The density that `~ name(...)` means; all arguments, the value included, promoted."""
    name = s.distribution.text
    tried: list[tuple[str, overloads.Resolution[calls.Callee]]] = []
    old = () if c.strict else (legacy.USER_DENSITY,)
    for suffix in ("_lpmf", "_lpdf", *old):
        if suffix in old and not c.functions.find(name + suffix):
            continue
        resolution = calls.resolve(c, name + suffix, arguments)
        if resolution.match is not None:
            calls.warn_removed(c, resolution.match, s.distribution, arguments)
            if suffix == legacy.USER_DENSITY:
                legacy.warn_user_density(c, s, is_discrete(arguments[0].type))
            return _density(name, resolution.match, arguments)
        if resolution.ambiguous:
            found = [calls.signature_of(x) for x in resolution.ambiguous]
            c.fail(*explain.ambiguous(s.distribution, s.span, arguments, found))
        tried.append((name + suffix, resolution))
    failures = [f for function, resolution in tried for f in calls.described(function, resolution)]
    if not failures:
        return _unknown_distribution(c, s, arguments)
    c.fail(*explain.mismatch(s.distribution, s.span, arguments, failures, tilde=True))


def _density(family: str, callee: calls.Callee, arguments: list[Typed]) -> gprob.Distribution:
    made = calls.promoted(arguments, calls.signature_of(callee).parameters)
    return gprob.Distribution(family, callee.key if isinstance(callee, UserFunction) else callee[0], made)


def _unknown_distribution(c: Context, s: ast.Tilde, arguments: list[Typed]) -> gprob.Distribution:
    """The embedded Laplace approximation of this name; if there is none an error, with what may be meant."""
    name = s.distribution
    if higher_order.is_special(f"{name.text}_lpmf"):
        special = ast.Name(f"{name.text}_lupmf", name.span)
        call = higher_order.laplace(c, special, s.span, arguments).expr
        assert isinstance(call, gprob.Apply)
        return gprob.Distribution(name.text, call.function, call.arguments)
    suffix = "lpmf" if arguments[0].type in (INT, array(INT, 1)) else "lpdf"
    families = {n.rpartition("_")[0] for n in registry.names(False) if n.endswith(("_lpdf", "_lpmf"))}
    families |= {n.rpartition("_")[0] for n in c.functions.by_name if n.endswith(("_lpdf", "_lpmf"))}
    similar = basics.FOREIGN.get(name.text) or nearest(name.text, families)
    hint = f"did you mean {similar!r}?" if similar else f"a function {name.text}_{suffix} would define it"
    hint = basics.law_meant(name.text) or hint
    c.fail(f"there is no distribution {name.text!r}", name.span, hint, "scope")


def _truncated(
    c: Context, s: ast.Tilde, d: gprob.Distribution, arguments: list[Typed], bounds: list[Typed | None]
) -> gprob.Distribution:
    """The distribution with its truncation, and the functions that normalise it."""
    name = s.distribution.text
    functions: list[registry.Function | str | None] = [None, None]
    for bound in bounds:
        if bound is None:
            continue
        for i, suffix in enumerate(("_lcdf", "_lccdf")):
            match = calls.resolve(c, legacy.users_cdf(c, s.distribution, suffix), [bound, *arguments]).match
            if match is None or calls.result_of(match) != REAL:
                c.fail(f"{name!r} can't be truncated: it has no fitting {name}{suffix}", s.span)
            functions[i] = match.key if isinstance(match, UserFunction) else match[0]
    lower, upper = (None if b is None else b.expr for b in bounds)
    return gprob.Distribution(d.family, d.lpdf, d.arguments, lower, upper, functions[0], functions[1])


def _break(c: Context, s: ast.Break) -> Checked:
    if c.place.loops == 0:
        c.fail("break stands outside a loop", s.span)
    return Checked((gprob.Break(s.span),), Flow.NONLOCAL)


def _continue(c: Context, s: ast.Continue) -> Checked:
    if c.place.loops == 0:
        c.fail("continue stands outside a loop", s.span)
    return Checked((gprob.Continue(s.span),))


def _return(c: Context, s: ast.Return) -> Checked:
    """A return: with a value, promoted to the result's type, if the function has a result, else without."""
    result: Type | None = c.place.function.type.result if c.place.function is not None else None
    if s.value is None:
        if result is None or result != VOID:
            c.fail("return without a value can only stand in a void function", s.span)
        return Checked((gprob.Return(s.span, None),), Flow.COMPLETE)
    if result is None or result == VOID:
        c.fail("return with a value can only stand in a function that returns one", s.span)
    value = expression(c, s.value)
    if not fits(result, value):
        hint = explain.conversion(result, value.type)
        c.fail(f"the function returns {result}, not {value.type}", s.span, hint, code="return")
    return Checked((gprob.Return(s.span, promote(value, result).expr),), Flow.COMPLETE)


def _message(c: Context, s: ast.Message) -> Checked:
    """`print`, `reject` or `fatal_error`: control goes on behind the first alone."""
    items: list[str | gprob.Expr] = []
    for item in s.items:
        if isinstance(item, str):
            items.append(item)
            continue
        value = expression(c, item)
        if isinstance(value.type, Function):
            c.fail("a function can't be printed", value.span)
        items.append(value.expr)
    flow = Flow.INCOMPLETE if s.kind == "print" else Flow.COMPLETE
    return Checked((gprob.Message(s.span, s.kind, tuple(items)),), flow)


def _if(c: Context, s: ast.If) -> Checked:
    condition = of_condition(c, s.condition, "the condition of if")
    then = statement(c.nested(), s.then)
    otherwise = Checked(()) if s.otherwise is None else statement(c.nested(), s.otherwise)
    flows = (then.flow, otherwise.flow)
    flow = Flow.COMPLETE if flows == (Flow.COMPLETE, Flow.COMPLETE) else Flow.INCOMPLETE
    if Flow.NONLOCAL in flows:
        flow = Flow.NONLOCAL
    return Checked((gprob.If(s.span, condition.expr, then.body, otherwise.body),), flow)


def _while(c: Context, s: ast.While) -> Checked:
    condition = of_condition(c, s.condition, "the condition of while")
    body = statement(c.nested(c.place.in_loop()), s.body)
    endless = isinstance(condition.expr, gprob.Const) and bool(condition.expr.value)
    complete = body.flow == Flow.COMPLETE or body.flow == Flow.INCOMPLETE and endless
    flow = Flow.COMPLETE if complete else Flow.INCOMPLETE
    return Checked((gprob.While(s.span, condition.expr, body.body),), flow)


def _for(c: Context, s: ast.For) -> Checked:
    lower = of_int(c, s.lower, "the lower bound of a loop")
    upper = of_int(c, s.upper, "the upper bound of a loop")
    verify_identifier(c, s.variable)
    inner = c.nested(c.place.in_loop())
    symbol = declarations.loop_variable(inner, s.variable, INT)
    body = statement(inner, s.body)
    loop = counted(s.span, symbol, lower.expr, upper.expr, body.body, c.symbols)
    return Checked(loop, _after_loop(body.flow))


def _for_each(c: Context, s: ast.ForEach) -> Checked:
    """A loop over the elements of an array, or the numbers of a vector or matrix."""
    container = expression(c, s.container)
    verify_identifier(c, s.variable)
    element = _element(container.type)
    if element is None:
        c.fail(f"a loop can run over an array, a vector or a matrix, not {container.type}", container.span)
    inner = c.nested(c.place.in_loop())
    symbol = declarations.loop_variable(inner, s.variable, element)
    body = statement(inner, s.body)
    loop = gprob.ForEach(s.span, symbol, element, container.expr, body.body)
    return Checked((loop,), _after_loop(body.flow))


def _element(t: Type) -> Type | None:
    if isinstance(t, Array):
        element, dims = unwind(t)
        return array(element, dims - 1)
    return REAL if t in (VECTOR, ROW_VECTOR, MATRIX) else None


def _after_loop(flow: Flow) -> Flow:
    return Flow.COMPLETE if flow == Flow.COMPLETE else Flow.INCOMPLETE


_CHECKS: dict[type, Callable[..., Checked]] = {
    ast.Block: _block, ast.Profile: _profile, ast.Empty: _empty, ast.Assignment: _assignment,
    ast.CallStatement: _call, ast.Increment: _increment, ast.Tilde: _tilde, ast.Break: _break,
    ast.Continue: _continue, ast.Return: _return, ast.Message: _message, ast.If: _if, ast.While: _while,
    ast.For: _for, ast.ForEach: _for_each,
}  # fmt: skip
