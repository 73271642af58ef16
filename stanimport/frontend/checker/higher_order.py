"""Calls of functions that take functions and pass further arguments on to them.

Source: Stan Functions Reference, "Higher-Order Functions", "Embedded Laplace Approximation".
"""
from __future__ import annotations

from collections.abc import Sequence

from stanlib import overloads, registry
from stanlib.overloads import Mismatch
from stanlib.types import (
    INT,
    MATRIX,
    REAL,
    ROW_VECTOR,
    VECTOR,
    Function,
    Parameter,
    Tuple,
    Type,
    any_level,
    array,
    unwind,
)  # fmt: skip
from stanlib.variadic import Variadic

from ...errors import InternalError
from ...ir import gprob, traversal
from ...source import Span
from .. import ast
from . import explain
from .basics import promote
from .context import Context, Typed
from .scopes import UserFunction, normalized

_SLICED = (REAL, INT, MATRIX, VECTOR, ROW_VECTOR)  # what the arrays that reduce_sum takes slices of may hold

# A function that could be passed: the user's, its type, and the parameters that the whole call then has.
_Option = tuple[UserFunction, tuple[Parameter, ...]]


def is_special(name: str) -> bool:
    return registry.variadic(normalized(name)) is not None


def call(c: Context, e: ast.Call, arguments: list[Typed]) -> Typed:
    """Check a call of a variadic function, reduce_sum or an embedded Laplace function."""
    name = normalized(e.function.text)
    rules = registry.variadic(name)
    assert rules is not None
    if rules.kind == "reduce_sum":
        return _reduce_sum(c, e, arguments)
    if rules.kind == "laplace":
        return laplace(c, e.function, e.span, arguments)
    return _variadic(c, e, arguments, rules)


def library_call(name: str, result: Type, span: Span, arguments: Sequence[gprob.Expr]) -> gprob.Expr:
    """The application of the record for a special function."""
    functions = registry.FUNCTIONS.get(name) if registry.is_known(name) else None
    if functions is None:
        function = registry.unbuilt(name)
    elif len(functions) == 1:
        function = functions[0]
    else:
        raise InternalError(f"special function {name} has several records")
    return gprob.Apply(result, span, function, tuple(arguments))


def _variadic(c: Context, e: ast.Call, arguments: list[Typed], v: Variadic) -> Typed:
    name = e.function.text
    options, failures = _options(c, arguments, v.control, v.required, v.function_result, allow_density=False)
    function, parameters = _choose(c, e, arguments, options, failures, v)
    made: list[gprob.Expr] = [gprob.FunctionValue(function.type, arguments[0].span, function.key)]
    made += [promote(a, p.type).expr for a, p in zip(arguments[1:], parameters[1:])]
    level = any(any_level(a.level) for a in arguments[1:])
    return Typed(library_call(name, v.result, e.span, made), level)


def _options(
    c: Context, arguments: Sequence[Typed], control: Sequence[Parameter], required: Sequence[Parameter],
    function_result: Type, allow_density: bool,
) -> tuple[list[tuple[int, _Option]], list[tuple[Function, Mismatch]]]:  # fmt: skip
    """The overloads of the passed function that fit, with the promotions they need, and why the others don't."""
    fits: list[tuple[int, _Option]] = []
    failures: list[tuple[Function, Mismatch]] = []
    for f in _passed_functions(c, arguments):
        parameters = (Parameter(f.type), *control, *f.type.parameters[len(required) :])
        outcome = _function_fits(f.type, required, function_result, allow_density)
        if outcome is None:
            given = [a.given for a in arguments]
            cost = overloads.match(parameters[1:], given[1:])
            if isinstance(cost, int):
                fits.append((cost, (f, parameters)))
                continue
            position = None if cost.position is None else cost.position + 1
            outcome = Mismatch(position, cost.expected, cost.given, cost.reason, cost.inner)
            if cost.reason == "count":
                outcome = Mismatch(None, len(parameters), len(given), "count")
        failures.append((Function(parameters, function_result), outcome))
    return fits, failures


def _passed_functions(c: Context, arguments: Sequence[Typed]) -> list[UserFunction]:
    first = arguments[0].expr if arguments else None
    if isinstance(first, gprob.FunctionValue) and isinstance(first.function, str):
        name = normalized(first.span.text)
        return c.functions.find(name)
    return []


def _function_fits(
    f: Function, required: Sequence[Parameter], result: Type, allow_density: bool
) -> Mismatch | None:
    """Why the type of the passed function does not do, for its own part."""
    if f.suffix and not (allow_density and f.suffix in ("lpdf", "lpmf")):
        return Mismatch(0, "", f.suffix, "suffix", Mismatch(None, "", f.suffix, "suffix"))
    wanted = [overloads.Given(p.type, not p.data_only) for p in required]
    inner = overloads.match(f.parameters[: len(required)], wanted, promote=False)
    if isinstance(inner, Mismatch):
        return Mismatch(0, None, f, "arguments", Mismatch(None, None, f, "arguments", inner))
    if f.result != result:
        return Mismatch(0, None, f, "result", Mismatch(None, result, f.result, "result"))
    return None


def _choose(
    c: Context, e: ast.Call, arguments: Sequence[Typed], options: list[tuple[int, _Option]],
    failures: list[tuple[Function, Mismatch]], v: Variadic,
) -> _Option:  # fmt: skip
    """The overload that needs the fewest promotions; an error if none fits, or several do equally well."""
    if not options:
        if not failures:
            needed = Function(v.required, v.function_result)
            c.fail(
                f"the first argument of {e.function.text!r} must be a function of type ({needed})",
                arguments[0].span if arguments else e.span,
            )
        f, why = failures[0]
        shown = (explain.signature(e.function.text, f), f, why)
        message, _, hint, code = explain.mismatch(e.function, e.span, arguments, [shown])
        c.fail(message, _misfit(e, arguments, failures[0][1]), hint, code)
    least = min(cost for cost, _ in options)
    best = [o for cost, o in options if cost == least]
    if len(best) > 1:
        c.fail(f"the call of {e.function.text!r} is ambiguous: several overloads fit", e.span, code="ambiguous")
    return best[0]


def _misfit(e: ast.Call, arguments: Sequence[Typed], m: Mismatch) -> Span:
    """The argument to point at: the one that differs, or the one where the count goes wrong."""
    if m.reason == "count" and m.position is None:
        expected, given = int(str(m.expected)), int(str(m.given))
        at = given - 1 if expected > given else expected
    else:
        at = m.position or 0
    return arguments[max(0, at)].span if 0 <= max(0, at) < len(arguments) else e.span


def _reduce_sum(c: Context, e: ast.Call, arguments: list[Typed]) -> Typed:
    """`reduce_sum(f, x, grainsize, ...)`: the slices that f takes are of the type of x."""
    if len(arguments) >= 2 and isinstance(arguments[0].expr, gprob.FunctionValue):
        sliced = arguments[1]
        element, dims = unwind(sliced.type)
        if dims == 0:
            c.fail(f"the second argument of {e.function.text!r} must be an array, not {sliced.type}", sliced.span)
        if element not in _SLICED:
            c.fail(f"{e.function.text!r} can't slice an array of {element}", sliced.span)
    options, failures = [], []
    for f in _passed_functions(c, arguments):
        slice_type = f.type.parameters[0].type if f.type.parameters else array(REAL, 1)
        data_only = bool(f.type.parameters) and f.type.parameters[0].data_only
        v = _reduce_sum_signature(slice_type, data_only)
        found, why = _options(_only(c, f), arguments, v.control, v.required, REAL, allow_density=True)
        options += found
        failures += why
    function, parameters = _choose(c, e, arguments, options, failures, _reduce_sum_signature(array(REAL, 1), False))
    made: list[gprob.Expr] = [gprob.FunctionValue(function.type, arguments[0].span, function.key)]
    made += [promote(a, p.type).expr for a, p in zip(arguments[1:], parameters[1:])]
    level = any(any_level(a.level) for a in arguments[1:])
    return Typed(library_call(e.function.text, REAL, e.span, made), level)


def _reduce_sum_signature(slice_type: Type, data_only: bool) -> Variadic:
    sliced = Parameter(slice_type, data_only)
    bounds = (Parameter(INT, True), Parameter(INT, True))
    return Variadic(REAL, (sliced, Parameter(INT)), (sliced, *bounds), REAL)


def _only(c: Context, f: UserFunction) -> Context:
    """The context with this one overload of the passed function."""
    functions = type(c.functions)()
    functions.by_name = {**c.functions.by_name, f.name: [f]}
    return Context(functions, c.diagnostics, c.strict, c.scope, c.place, c.symbols)


# --- the embedded Laplace approximation ------------------------------------------------------------------------------


def laplace(c: Context, name: ast.Name, span: Span, arguments: list[Typed]) -> Typed:
    """`laplace_marginal(likelihood, arguments, block size, covariance, arguments[, control])` and its like."""
    full, rules = normalized(name.text), _rules(name)
    made, rest = _laplace_likelihood(c, name, span, arguments)
    if not rest or rest[0].type != INT or any_level(rest[0].level):
        at = rest[0].span if rest else (made[-1].span if made else span)
        c.fail(f"{name.text!r} takes the size of the Hessian's blocks here, an int that is data", at)
    made.append(rest[0].expr)
    rest = rest[1:]
    _laplace_data_only(c, name, rest)
    if len(rest) < 2 or not isinstance(rest[0].expr, gprob.FunctionValue):
        c.fail(f"{name.text!r} takes a covariance function and a tuple of its arguments here",
               rest[0].span if rest else span)  # fmt: skip
    made += _forwarded(c, name, rest[0], rest[1], (), MATRIX)
    _laplace_control(c, name, span, rest[2:])
    if rest[2:]:
        made.append(promote(rest[2], Tuple(tuple(p.type for p in rules.control))).expr)
    result = rules.result
    level = any(any_level(a.level) for a in arguments if not isinstance(a.type, Function))
    return Typed(library_call(full, result, span, made), level if result == REAL else (level, level))


def _rules(name: ast.Name) -> Variadic:
    """How calls of a function that passes arguments on are checked."""
    rules = registry.variadic(normalized(name.text))
    assert rules is not None
    return rules


def _laplace_likelihood(
    c: Context, name: ast.Name, span: Span, arguments: list[Typed]
) -> tuple[list[gprob.Expr], list[Typed]]:
    """The arguments that give the likelihood, checked, and those behind them."""
    builtin = _rules(name).likelihood
    if builtin is not None:
        given, rest = arguments[: len(builtin)], arguments[len(builtin) :]
        outcome = overloads.match(builtin, [a.given for a in given])
        if isinstance(outcome, Mismatch):
            at = given[outcome.position].span if outcome.position is not None else span
            c.fail(f"the likelihood of {name.text!r} takes ({', '.join(map(str, builtin))})", at,
                   explain.reason(outcome))  # fmt: skip
        return [promote(a, p.type).expr for a, p in zip(given, builtin)], rest
    if len(arguments) >= 2:
        _laplace_data_only(c, name, arguments)
    if len(arguments) < 2 or not isinstance(arguments[0].expr, gprob.FunctionValue):
        c.fail(f"{name.text!r} takes a likelihood function and a tuple of its arguments first", span)
    c.second_order.append((str(arguments[0].expr.function), arguments[0].span))
    made = _forwarded(c, name, arguments[0], arguments[1], (Parameter(VECTOR),), REAL)
    return made, arguments[2:]


def _laplace_data_only(c: Context, name: ast.Name, arguments: Sequence[Typed]) -> None:
    """`laplace_latent_solve` has no derivatives: its arguments are data outside generated quantities."""
    if not _rules(name).data_only or len(arguments) < 2:
        return
    forwarded = arguments[1]
    if any_level(forwarded.level) and not isinstance(forwarded.type, Function):
        at = forwarded.span
        if isinstance(forwarded.expr, gprob.MakeTuple) and isinstance(forwarded.level, tuple):
            at = next(i.span for i, lv in zip(forwarded.expr.items, forwarded.level) if any_level(lv))
        c.fail(f"the arguments of {name.text!r} must be data", at)


def _forwarded(
    c: Context, caller: ast.Name, function: Typed, given: Typed, required: tuple[Parameter, ...], result: Type
) -> list[gprob.Expr]:
    """A function and the tuple of arguments that is passed on to it behind the required ones."""
    if not isinstance(given.type, Tuple):
        c.fail(f"the arguments for {function.span.text!r} must be a tuple, not {given.type}", given.span)
    levels = given.level if isinstance(given.level, tuple) else (given.level,) * len(given.type.items)
    items = [overloads.Given(t, lv) for t, lv in zip(given.type.items, levels)]
    wanted = [*(overloads.Given(p.type, True) for p in required), *items]
    matches: list[tuple[int, UserFunction]] = []
    why: list[tuple[str, Span]] = []
    for f in c.functions.find(normalized(function.span.text)):
        problem = _forwarding_problem(f, required, result)
        cost = overloads.match(f.type.parameters, wanted)
        if problem is None and isinstance(cost, int):
            matches.append((cost, f))
        elif problem is not None:
            why.append((f"{function.span.text!r} can't be used in {caller.text!r}: {problem}", function.span))
        elif isinstance(cost, Mismatch):
            why.append((f"{function.span.text!r} can't be called: {explain.reason(cost)}", given.span))
    chosen = _least(c, function, matches, why)
    to = Tuple(tuple(p.type for p in chosen.type.parameters[len(required) :]))
    return [gprob.FunctionValue(chosen.type, function.span, chosen.key), promote(given, to).expr]


def _forwarding_problem(f: UserFunction, required: tuple[Parameter, ...], result: Type) -> str | None:
    if f.type.result != result:
        return f"it returns {f.type.result}, not {result}"
    if f.type.suffix:
        return f"its name must not end in _{f.type.suffix}"
    head = f.type.parameters[: len(required)]
    if head != required:
        return f"it must take ({', '.join(map(str, required))}, ...) first"
    return None


def _least(
    c: Context, function: Typed, matches: list[tuple[int, UserFunction]], why: list[tuple[str, Span]]
) -> UserFunction:
    if not matches:
        message, at = why[0] if why else (f"{function.span.text!r} is not a function of this program", function.span)
        c.fail(message, at)
    best = [f for cost, f in matches if cost == min(m[0] for m in matches)]
    if len(best) > 1:
        c.fail(f"which {function.span.text!r} is meant is ambiguous", function.span, code="ambiguous")
    return best[0]


def _laplace_control(c: Context, name: ast.Name, span: Span, control: Sequence[Typed]) -> None:
    """Functions with _tol in their names end with a tuple of control parameters, others with nothing more."""
    expected = _rules(name).control
    wants = bool(expected)
    if not wants and control or len(control) > 1:
        c.fail(f"{name.text!r} takes no more arguments here", control[1 if wants else 0].span)
    if not wants:
        return
    if not control:
        c.fail(f"{name.text!r} takes a tuple of {len(expected)} control parameters last", span)
    t = control[0]
    if not isinstance(t.type, Tuple):
        c.fail(f"the control parameters of {name.text!r} must be a tuple, not {t.type}", t.span)
    levels = t.level if isinstance(t.level, tuple) else (t.level,) * len(t.type.items)
    outcome = overloads.match(expected, [overloads.Given(x, lv) for x, lv in zip(t.type.items, levels)])
    if isinstance(outcome, Mismatch):
        at = t.span
        if outcome.position is not None and isinstance(t.expr, gprob.MakeTuple):
            at = t.expr.items[outcome.position].span
        c.fail(f"the control parameters of {name.text!r} are wrong", at, explain.reason(outcome))


def verify_second_order(c: Context, bodies: dict[str, gprob.FunDef]) -> None:
    """A likelihood of the Laplace approximation can't call functions without second derivatives, however deep."""
    for key, span in c.second_order:
        found = _first_order_call(bodies, key, set())
        if found is not None:
            c.fail(f"{found!r}, which this likelihood calls, has no second derivatives", span)


def _first_order_call(bodies: dict[str, gprob.FunDef], key: str, seen: set[str]) -> str | None:
    """A function without second derivatives in a body, or in those of what it calls; None if there is none."""
    if key in seen or key not in bodies:
        return None
    seen.add(key)
    for node in traversal.walk(bodies[key].body):
        if isinstance(node, gprob.Apply) and node.function.first_order:
            return node.function.name
        callee = node.function if isinstance(node, (gprob.CallUser, gprob.FunctionValue)) else None
        if isinstance(callee, str):
            found = _first_order_call(bodies, callee, seen)
            if found is not None:
                return found
    return None
