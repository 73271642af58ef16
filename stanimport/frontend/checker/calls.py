"""Calls of functions: overloads, promotions, and where functions of each suffix may be called.

Source: Stan Reference Manual, "Function calls" and "User-Defined Functions".
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NoReturn

from stanlib import overloads, registry
from stanlib.types import VOID, Function, Level, Parameter, Type, any_level, is_discrete, is_scalar, level_for

from ...ir import gprob
from ...source import Span
from .. import ast
from . import explain, higher_order, legacy
from .basics import promote, unknown, verify_identifier
from .context import Context, Typed
from .scopes import UserFunction, Variable, is_unnormalized, normalized

CONDITIONAL = ("_lpdf", "_lupdf", "_lpmf", "_lupmf", "_cdf", "_lcdf", "_lccdf")

_FAMILY = re.compile(r"\b[A-Z]{1,2} \w")  # types named by a letter in a signature's text say little to users

# A callable that a call may mean: a library record with one of its overloads, or a user's function.
Callee = tuple[registry.Function, registry.signatures.Overload] | UserFunction


def call(c: Context, e: ast.Call, arguments: list[Typed]) -> Typed:
    """Check a call in an expression."""
    name = e.function.text
    if name == "get_lp" and not arguments and not c.strict:
        c.diagnostics.deprecate("get_lp() has been removed from Stan", e.span, "write target()", "target()")
        return Typed(gprob.TargetValue(registry.signatures.PRIMITIVES["real"], e.span), True)
    if higher_order.is_special(name):
        result = higher_order.call(c, e, arguments)
    else:
        result = _ordinary(c, e, arguments)
    verify_identifier(c, e.function)
    _verify_bar(c, e)
    verify_use(c, e.function, e.span, arguments)
    verify_unnormalized(c, e.function)
    return result


def _ordinary(c: Context, e: ast.Call, arguments: list[Typed]) -> Typed:
    callee = find(c, e.function, e.span, arguments)
    result = result_of(callee)
    if result == VOID:
        c.fail(f"{e.function.text!r} returns nothing, so it can't stand in an expression", e.span)
    return Typed(apply(callee, arguments, e.span), level_of_result(result, arguments))


def level_of_result(t: Type, arguments: Sequence[Typed]) -> Level:
    """The result of a function depends on parameters if an argument does, unless it holds integers only."""
    return level_for(t, not is_discrete(t) and any(any_level(a.level) for a in arguments))


def find(c: Context, name: ast.Name, span: Span, arguments: Sequence[Typed]) -> Callee:
    """The function that a call means. Raises CheckError with the nearest signatures if there is none."""
    full = legacy.modern(c, normalized(name.text))
    variable = c.scope.find(full)
    if variable is not None and not registry.is_known(full):
        c.fail(f"{name.text!r} is a variable, not a function", span)
    resolution = resolve(c, full, arguments)
    if resolution.match is None and not candidates(c, full):
        _unknown_function(c, name)
    if resolution.match is not None:
        warn_removed(c, resolution.match, name, arguments)
        if full != normalized(name.text):
            legacy.warn(c, name, full)
        return resolution.match
    if resolution.ambiguous:
        c.fail(*explain.ambiguous(name, span, arguments, [signature_of(x) for x in resolution.ambiguous]))
    c.fail(*explain.mismatch(name, span, arguments, described(name.text, resolution)))


def described(name: str, resolution: overloads.Resolution[Callee]) -> list[explain.Failure]:
    """The candidates that did not fit, as messages show them: library functions as the reference prints them."""
    out = []
    for callee, m in resolution.failures:
        f = signature_of(callee)
        text = explain.signature(name, f) if isinstance(callee, UserFunction) else _printed(callee)
        out.append((text, f, m))
    return out


def _printed(candidate: registry.Candidate) -> str:
    """The signature among a record's texts that an overload comes from."""
    function, overload = candidate
    for s in function.signatures:
        if overload in s.overloads and not _FAMILY.search(s.text):
            return s.text
    return explain.signature(function.name, Function(overload.parameters, overload.result))


def resolve(c: Context, name: str, arguments: Sequence[Typed]) -> overloads.Resolution[Callee]:
    """Overload resolution among the user's and the library's functions of a name."""
    types = tuple(a.type for a in arguments)
    exact = registry.exact(name).get(types)
    if exact is not None and not c.functions.find(name) and allowed(c, exact):
        if isinstance(overloads.match(exact[1].parameters, [a.given for a in arguments]), int):
            return overloads.Resolution(match=exact)
    given = tuple(a.given for a in arguments)
    if not c.functions.find(name):
        found = promoting(name, c.strict, given)
        if found is not None:
            return overloads.Resolution(match=found)
    known = [(x, signature_of(x).parameters) for x in candidates(c, name)]
    return overloads.resolve(known, given)


@lru_cache(maxsize=4096)
def promoting(name: str, strict: bool, given: tuple[overloads.Given, ...]) -> registry.Candidate | None:
    """The library function that a call means, remembered: programs call few functions with many arguments alike."""
    known = [(x, x[1].parameters) for x in registry.candidates(name) if not (strict and x[0].removed)]
    return overloads.resolve(known, given).match


def candidates(c: Context, name: str) -> list[Callee]:
    users = c.functions.find(name)
    taken = {tuple(p.type for p in f.type.parameters) for f in users}
    library = [x for x in registry.candidates(name) if allowed(c, x)]
    return [*users, *(x for x in library if tuple(p.type for p in x[1].parameters) not in taken)]


def allowed(c: Context, candidate: registry.Candidate) -> bool:
    """Strict mode knows nothing of what Stan has removed."""
    return not (c.strict and candidate[0].removed)


def warn_removed(c: Context, callee: Callee, name: ast.Name, arguments: Sequence[Typed]) -> None:
    if isinstance(callee, UserFunction) or not callee[0].removed:
        return
    message, successor = f"{name.text} has been removed from Stan ({callee[0].removed})", callee[0].successor
    same = successor if _means_the_same(c, callee, arguments) else ""
    c.diagnostics.deprecate(message, name.span, f"write {successor}", same)


def _means_the_same(c: Context, removed: registry.Candidate, arguments: Sequence[Typed]) -> bool:
    """Whether the successor of a function takes these arguments and gives the same type.

    `abs` of an int is an int, `fabs` was a real number, and so another one where it is divided by an int.
    """
    if not removed[0].successor.isidentifier():  # if_else, whose successor is an operator
        return is_scalar(arguments[0].type) and not all(is_discrete(a.type) for a in arguments[1:])
    now = resolve(c, removed[0].successor, arguments).match
    return now is not None and signature_of(now).result == signature_of(removed).result


def signature_of(callee: Callee) -> Function:
    if isinstance(callee, UserFunction):
        return callee.type
    return Function(callee[1].parameters, callee[1].result)


def result_of(callee: Callee) -> Type:
    return signature_of(callee).result


def apply(callee: Callee, arguments: Sequence[Typed], span: Span) -> gprob.Expr:
    """The call itself, its arguments promoted to what the function takes."""
    signature = signature_of(callee)
    made = promoted(arguments, signature.parameters)
    if isinstance(callee, UserFunction):
        return gprob.CallUser(signature.result, span, callee.key, made)
    return gprob.Apply(signature.result, span, callee[0], made)


def promoted(arguments: Sequence[Typed], parameters: Sequence[Parameter]) -> tuple[gprob.Expr, ...]:
    return tuple(
        a.expr if isinstance(p.type, Function) else promote(a, p.type).expr for a, p in zip(arguments, parameters)
    )


def _unknown_function(c: Context, name: ast.Name) -> NoReturn:
    """Say what is missing: a suffix of a known distribution, or a name that resembles another."""
    prefix, _, suffix = name.text.rpartition("_")
    other = {"lpdf": "lpmf", "lupdf": "lupmf", "lpmf": "lpdf", "lupmf": "lupdf"}.get(suffix)
    if other and candidates(c, normalized(f"{prefix}_{other}")):
        c.fail(f"{prefix!r} has no {name.text!r}", name.span, f"did you mean {prefix}_{other}?", "scope")
    if _has_density(name.text):
        written = f"{name.text}_lpdf" if registry.is_known(f"{name.text}_lpdf") else f"{name.text}_lpmf"
        c.fail(f"{name.text!r} is a distribution, not a function", name.span, f"write {written}(...)", "scope")
    if suffix in ("cdf", "lcdf", "lccdf", "rng") and (_has_density(prefix)):
        c.fail(f"distribution {prefix!r} has no {name.text!r}", name.span, code="scope")
    unknown(c, name)


def _has_density(family: str) -> bool:
    return registry.is_known(f"{family}_lpdf") or registry.is_known(f"{family}_lpmf")


def _verify_bar(c: Context, e: ast.Call) -> None:
    is_density = e.function.text.endswith(CONDITIONAL)
    if is_density and not e.conditional:
        if legacy.is_cdf_with_comma(c, e.function):
            return
        c.fail(f"the first argument of {e.function.text!r} is followed by a bar", e.span, "write f(y | ...)")
    if e.conditional and not is_density:
        c.fail(f"only densities and distribution functions take a bar, not {e.function.text!r}", e.span)


def verify_use(c: Context, name: ast.Name, span: Span, arguments: Sequence[Typed]) -> None:
    """Functions that change the target or draw random numbers can't be called everywhere."""
    if name.text.endswith("_lp"):
        _verify_lp(c, name, span)
    elif name.text.endswith("_jacobian"):
        _verify_jacobian(c, name, span, arguments)
    elif name.text.endswith("_rng"):
        _verify_rng(c, name, span)


def _verify_lp(c: Context, name: ast.Name, span: Span) -> None:
    if c.place.block == "transformed parameters":
        c.diagnostics.deprecate("_lp functions in transformed parameters are deprecated", span,
                                "use a function that ends in _jacobian")  # fmt: skip
    elif c.place.suffix != "lp" and c.place.block != "model":
        c.fail(f"{name.text!r} can only be called in the model block and in functions ending in _lp", span)


def _verify_jacobian(c: Context, name: ast.Name, span: Span, arguments: Sequence[Typed]) -> None:
    """In transformed parameters, and in functions of the same kind; it should have parameters."""
    if c.place.suffix != "jacobian" and c.place.block != "transformed parameters":
        if legacy.is_jacobian_by_name_alone(c, name):
            return
        c.fail(
            f"{name.text!r} can only be called in transformed parameters and in functions ending in _jacobian", span
        )
    if not any(any_level(a.level) for a in arguments):
        c.diagnostics.warn("a _jacobian function without parameters among its arguments adds to the target", span)


def _verify_rng(c: Context, name: ast.Name, span: Span) -> None:
    if c.place.in_sizes:
        c.fail("the sizes and bounds of program variables can't be random", span)
    if c.place.suffix != "rng" and c.place.block not in ("generated quantities", "transformed data"):
        c.fail(
            f"{name.text!r} can only be called in transformed data, generated quantities and functions ending in _rng",
            span,
        )


def verify_unnormalized(c: Context, name: ast.Name) -> None:
    if is_unnormalized(name.text) and c.place.suffix not in ("lpdf", "lpmf") and c.place.block != "model":
        c.fail(f"{name.text!r} can only be used in the model block and in densities", name.span)


def statement(c: Context, s: ast.CallStatement, arguments: list[Typed]) -> gprob.Run:
    """Check a call that stands by itself."""
    verify_identifier(c, s.function)
    verify_use(c, s.function, s.span, arguments)
    variable: Variable | None = c.scope.find(s.function.text)
    if variable is not None and not registry.is_known(s.function.text):
        c.fail(f"{s.function.text!r} is a variable, not a function", s.span)
    callee = find(c, s.function, s.span, arguments)
    if result_of(callee) != VOID:
        c.fail(f"the value that {s.function.text!r} returns is not used", s.span, "assign it to a variable")
    return gprob.Run(s.span, apply(callee, arguments, s.span))
