"""User functions: their signatures first, so that order does not matter, then their bodies.

Source: Stan Reference Manual, "User-Defined Functions".
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stanlib import registry
from stanlib.types import REAL, VOID, Array, Function, Parameter, Tuple, is_discrete, scalar_of

from ...errors import nearest
from ...ir import gprob
from ...ir.fresh import Fresh
from .. import ast
from . import declarations, legacy
from .basics import verify_identifier
from .calls import CONDITIONAL
from .context import CheckError, Context
from .scopes import Place, Scope, UserFunction, Variable, function_type, is_unnormalized, suffix_of
from .statements import Flow, statement


def declare_all(c: Context, block: ast.ProgramBlock) -> dict[int, UserFunction]:
    """Enter the signature of every function; the result tells by the definition's identity which function it is."""
    out: dict[int, UserFunction] = {}
    for d in block.body:
        if isinstance(d, ast.FunctionDefinition):
            try:
                out[id(d)] = _declare(c, d)
            except CheckError as e:
                c.report(e)
    return out


def _declare(c: Context, d: ast.FunctionDefinition) -> UserFunction:
    """Enter the signature of a declaration or definition; a definition keeps the key of its forward declaration."""
    name = d.name.text
    parameters = [Parameter(a.type, a.data_only) for a in d.arguments]
    signature = function_type(parameters, d.result, name)
    defined = not isinstance(d.body, ast.Empty)
    declared = [f for f in c.functions.find(name) if f.type == signature and not f.defined]
    if not declared:
        _verify_new_overload(c, d, signature)
    _verify_name(c, d)
    if declared and not defined:
        c.fail(f"{name!r} is declared twice", d.span, f"first in line {declared[0].span.line}", "redeclared")
    key = declared[0].key if declared else c.functions.keys.again(name)
    function = UserFunction(name, key, signature, d.name.span, defined, adds=legacy.adds_to_jacobian(d.body))
    c.functions.add(function)
    return function


def _verify_new_overload(c: Context, d: ast.FunctionDefinition, signature: Function) -> None:
    """Overloads differ in the types of their arguments, also from the library's."""
    types = tuple(p.type for p in signature.parameters)
    for f in c.functions.find(d.name.text):
        if tuple(p.type for p in f.type.parameters) == types:
            if f.type.result != signature.result:
                c.fail(f"overloads of {d.name.text!r} can't differ in the result alone", d.span)
            hint = f"in line {f.span.line}"
            c.fail(f"{d.name.text!r} is already defined for these arguments", d.span, hint, "redeclared")
    library = registry.exact(d.name.text).get(types)
    if library is not None and not legacy.is_younger(c, d.name, library[0]):
        c.fail(f"{d.name.text!r} is defined for these arguments in the library", d.span, code="redeclared")


def _verify_name(c: Context, d: ast.FunctionDefinition) -> None:
    name = d.name.text
    if registry.variadic(name) is not None:
        c.fail(f"the library's {name!r} can't be overloaded", d.name.span, code="redeclared")
    if is_unnormalized(name):
        c.fail(f"{name!r} can't be defined: define the normalised density", d.name.span,
               "its unnormalised form comes with it")  # fmt: skip


def check_all(c: Context, block: ast.ProgramBlock, known: dict[int, UserFunction]) -> list[gprob.FunDef]:
    """Check the bodies."""
    out: list[gprob.FunDef] = []
    for d in block.body:
        if not isinstance(d, ast.FunctionDefinition) or id(d) not in known:
            continue
        try:
            made = _definition(c, d, known[id(d)])
        except CheckError as e:
            c.report(e)
            continue
        if made is not None:
            out.append(made)
    _verify_all_defined(c)
    return out


def _verify_all_defined(c: Context) -> None:
    for functions in c.functions.by_name.values():
        for f in functions:
            if not f.defined and not f.network:
                said = f"{f.name!r} is declared but never defined"
                hint = f"give it a body, or say where Python has it: functions={{{f.name!r}: 'package.module.name'}}"
                c.diagnostics.error(said, f.span, hint, code="undefined")


def bind_externals(
    c: Context, block: ast.ProgramBlock, known: dict[int, UserFunction], bound: Mapping[str, str]
) -> list[gprob.External]:  # fmt: skip
    """Enter the functions without a body that Python has as defined."""
    out: list[gprob.External] = []
    for d in block.body:
        function = known.get(id(d))
        if function is None or function.name not in bound or not isinstance(d, ast.FunctionDefinition):
            continue
        if any(f.defined and f.key == function.key for f in c.functions.find(function.name)):
            continue
        if problem := _not_python(d, function):
            c.diagnostics.error(f"{function.name!r} can't be a function of Python, {problem}",
                                d.name.span, "give it a body", code="undefined")  # fmt: skip
            continue
        c.functions.add(replace(function, defined=True))
        parameters = tuple(gprob.Parameter(a.name.text, a.type, a.data_only) for a in d.arguments)
        out.append(gprob.External(function.key, bound[function.name], parameters, d.result, d.span))
    for name in bound.keys() - {f.name for f in known.values()}:
        meant = nearest(name, [f.name for f in known.values()])
        c.diagnostics.error(f"the program declares no function {name!r} without a body", block.span,
                            f"did you mean {meant!r}?" if meant else "", code="undefined")  # fmt: skip
    return out


def _not_python(d: ast.FunctionDefinition, function: UserFunction) -> str:
    """Why Python can't have a function; empty if it can."""
    if d.result == VOID or function.type.suffix in ("rng", "lp", "jacobian"):
        return "which has only values"
    return "for it returns tuples" if isinstance(scalar_of(d.result), Tuple) else ""


def _definition(c: Context, d: ast.FunctionDefinition, function: UserFunction) -> gprob.FunDef | None:
    """A function with its body, checked in a scope of its own; None for a declaration without a body."""
    for a in d.arguments:
        verify_identifier(c, a.name)
    verify_identifier(c, d.name)
    _verify_density(c, d)
    inner = Context(
        c.functions, c.diagnostics, c.strict, Scope(), Place("functions", function), Fresh(), c.reported,
        c.second_order,
    )  # fmt: skip
    parameters = [_argument(inner, a) for a in d.arguments]
    if isinstance(d.body, ast.Empty):
        return None
    checked = statement(inner, d.body)
    if d.result != VOID and checked.flow != Flow.COMPLETE:
        c.fail(f"{d.name.text!r} does not return a value on every path", d.span, code="return")
    name = d.name.text
    return gprob.FunDef(
        function.key, name, tuple(parameters), d.result, checked.body, d.span, suffix_of(name)
    )  # fmt: skip


def _argument(c: Context, a: ast.Argument) -> gprob.Parameter:
    declarations.verify_fresh(c, a.name)
    symbol = c.symbols.again(a.name.text)
    c.scope.add(
        Variable(a.name.text, symbol, a.type, "functions", a.name.span, read_only=True, data_only=a.data_only)
    )
    return gprob.Parameter(symbol, a.type, a.data_only)


def _verify_density(c: Context, d: ast.FunctionDefinition) -> None:
    """Densities return real, and what they are densities of is real or integer as their name says."""
    name = d.name.text
    if name.endswith(CONDITIONAL) and d.result != REAL:
        c.fail(f"{name!r} must return real, not {d.result}", d.span)
    first = d.arguments[0].type if d.arguments else None
    if name.endswith("_lpdf") and (first is None or is_discrete(first)):
        c.fail(f"the first argument of {name!r} must be real, not {first or 'absent'}", d.span)
    if name.endswith("_lpmf") and (first is None or not is_discrete(first)):
        c.fail(f"the first argument of {name!r} must be int, not {first or 'absent'}", d.span)


def declare_networks(c: Context, block: ast.ProgramBlock) -> list[gprob.External]:
    """Enter the networks as functions."""
    out: list[gprob.External] = []
    for d in block.body:
        assert isinstance(d, ast.NetworkDeclaration)
        name = d.name.text
        try:
            verify_identifier(c, d.name)
            if c.functions.find(name) or registry.is_known(name):
                c.fail(f"{name!r} is already a function", d.name.span, code="redeclared")
            _verify_network(c, d)
        except CheckError as e:
            c.report(e)
            continue
        parameters = [Parameter(a.type, a.data_only) for a in d.arguments]
        signature = function_type(parameters, d.result, name)
        c.functions.add(UserFunction(name, name, signature, d.name.span, True, network=True))
        made = tuple(gprob.Parameter(a.name.text, a.type, a.data_only) for a in d.arguments)
        out.append(gprob.External(name, d.path, made, d.result, d.span))
    return out


def _verify_network(c: Context, d: ast.NetworkDeclaration) -> None:
    """A network is a function of arrays: it returns one, or a tuple of such."""
    for a in d.arguments:
        if isinstance(scalar_of(a.type), Tuple):
            c.fail(f"a network takes arrays of numbers, {a.name.text!r} is {a.type}: pass items", a.name.span)
    parts = [d.result]
    for t in parts:
        parts += t.items if isinstance(t, Tuple) else ()
        if isinstance(t, Array) and isinstance(t.element, Tuple):
            c.fail(f"a network can't return arrays of tuples ({t}): a tuple of arrays", d.name.span)
