"""Declarations: sizes, constraints, initial values. Source: Stan Reference Manual, "Data Types and Declarations"."""
from __future__ import annotations

from dataclasses import replace

from stanlib import constraints
from stanlib.types import INT, REAL, Tuple, Type, array, contains_int, is_complex, is_scalar, unwind

from ...ir import gprob, traversal
from ...source import Span
from .. import ast
from . import explain
from .basics import promote, verify_identifier
from .context import CheckError, Context
from .expressions import expression, fits, of_int
from .scopes import Variable, is_unnormalized

_SIZE_NAMES = {
    "vector": ("the size of a vector",), "row_vector": ("the size of a row vector",),
    "matrix": ("the number of rows", "the number of columns"),
    "complex_vector": ("the size of a complex vector",), "complex_row_vector": ("the size of a complex row vector",),
    "complex_matrix": ("the number of rows", "the number of columns"),
}  # fmt: skip


def declaration(c: Context, d: ast.Declaration, is_global: bool) -> list[gprob.Stmt]:
    """Check a declaration and enter its variables; what is wrong with one leaves the others known."""
    return [s for x in d.declarators for s in _set_after(_declarator(c, x, d.span, is_global))]


def _set_after(s: gprob.Declare) -> list[gprob.Stmt]:
    """A variable whose initial value reads it, unset as it is there, is set after it has been declared."""
    if s.value is None or not any(isinstance(n, gprob.Var) and n.name == s.name for n in traversal.walk(s.value)):
        return [s]
    place = gprob.Place(s.name, s.sized.type, s.span)
    return [replace(s, value=None), gprob.Assign(s.span, place, s.value)]


def _declarator(c: Context, d: ast.Declarator, span: Span, is_global: bool) -> gprob.Declare:
    """One checked variable, in scope from its own initial value on, and also where its sizes or bounds are wrong."""
    name = d.name.text
    try:
        sized = _sized(c.inside(replace(c.place, in_sizes=is_global)), d.type)
        constraint = _constraint(c, d.type, sized)
    except CheckError:
        _enter(c, d, _bare_type(d.type), is_global)  # the name is known although its declaration is wrong
        raise
    symbol = _enter(c, d, sized.type, is_global)
    value = None if d.value is None else _initial_value(c, d, sized.type, span)
    _verify_kind(c, sized.type, constraint, span, is_global)
    return gprob.Declare(span, symbol, sized, constraint, value, name if is_global else None)


def _enter(c: Context, d: ast.Declarator, t: Type, is_global: bool) -> str:
    if isinstance(d.name, ast.Name):
        verify_identifier(c, d.name)
        verify_fresh(c, d.name)
    symbol = c.symbols.again(d.name.text)
    c.scope.add(Variable(d.name.text, symbol, t, c.place.block, d.name.span, is_global))
    return symbol


def verify_fresh(c: Context, name: ast.Name) -> None:
    """A name can be declared once; library functions may be shadowed."""
    if is_unnormalized(name.text):
        c.fail("names that end in _lupdf or _lupmf are reserved for densities", name.span)
    previous = c.scope.find(name.text)
    if previous is not None:
        c.fail(f"{name.text!r} is already declared", name.span, f"first in line {previous.span.line}", "redeclared")


def _bare_type(t: ast.SizedType) -> Type:
    if isinstance(t, ast.SizedArray):
        return array(_bare_type(t.element), len(t.sizes))
    if isinstance(t, ast.SizedTuple):
        return Tuple(tuple(map(_bare_type, t.items)))
    return t.base


def _sized(c: Context, t: ast.SizedType) -> gprob.Sized:
    """The declared type with its checked sizes, those of an array in front of those of its elements."""
    if isinstance(t, ast.SizedArray):
        element = _sized(c, t.element)
        sizes = tuple(of_int(c, s, "the size of an array").expr for s in t.sizes)
        return gprob.Sized(array(element.type, len(sizes)), (*sizes, *element.shape), element.items)
    if isinstance(t, ast.SizedTuple):
        items = tuple(_sized(c, i) for i in t.items)
        return gprob.Sized(Tuple(tuple(i.type for i in items)), (), items)
    names = _SIZE_NAMES.get(str(t.base), ())
    return gprob.Sized(t.base, tuple(of_int(c, s, n).expr for s, n in zip(t.sizes, names)))


def _constraint(c: Context, t: ast.SizedType, sized: gprob.Sized) -> gprob.Constraint | None:
    """The constraint of a type, or of the elements of an array; for tuples by item, and None where there is none."""
    whole = sized.type
    while isinstance(t, ast.SizedArray):
        t = t.element
    if isinstance(t, ast.SizedTuple):
        items = tuple(_constraint(c, i, s) for i, s in zip(t.items, sized.items))
        return gprob.Constraint("tuple", (), items) if any(items) else None
    if t.constraint is None:
        return None
    arguments = tuple((n, _bound(c, n, e, whole)) for n, e in t.constraint.arguments)
    return gprob.Constraint(t.constraint.kind, arguments)


def _bound(c: Context, name: str, e: ast.Expression, t: Type) -> gprob.Expr:
    value = expression(c, e)
    if not is_scalar(value.type) and value.type != t:
        what = "scalar" if is_scalar(t) else f"scalar or of type {t}"
        c.fail(f"{name} must be {what}, not {value.type}", value.span)
    if value.type == INT and not contains_int(t):
        return promote(value, REAL).expr
    return value.expr


def _initial_value(c: Context, d: ast.Declarator, t: Type, span: Span) -> gprob.Expr:
    assert d.value is not None
    if _mentions(d.value, d.name.text):
        c.diagnostics.warn(f"{d.name.text!r} is used in its own initial value", span, code="self-assignment")
    value = expression(c, d.value)
    if not fits(t, value):
        hint = explain.conversion(t, value.type)
        c.fail(f"{d.name.text!r} is {t}, its value {value.type}", span, hint, code="assignment")
    return promote(value, t).expr


def _mentions(e: ast.Node, name: str) -> bool:
    stack: list[ast.Node] = [e]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Variable) and node.name.text == name:
            return True
        stack.extend(ast.children(node))
    return False


def _verify_kind(c: Context, t: Type, constraint: gprob.Constraint | None, span: Span, is_global: bool) -> None:
    """What program variables of a block and a type can't be."""
    if not is_global:
        return
    if constraint is not None and constraint.kind == constraints.BOUNDS:
        real_bound = any(e.type == REAL for _, e in constraint.arguments)
        if t == INT and real_bound:
            c.fail("the bounds of an int must be int", span)
    if constraint is not None and is_complex(t):
        c.fail("complex variables can't be constrained", span)
    if c.place.block == "transformed parameters" and contains_int(t):
        c.fail("transformed parameters can't hold integers", span)
    if c.place.block == "parameters" and contains_int(t):
        _verify_discrete(c, t, constraint, span)


def _verify_discrete(c: Context, t: Type, constraint: gprob.Constraint | None, span: Span) -> None:
    """Discrete parameters, which Stan does not have, are summed out: they need finitely many values."""
    if c.strict:
        c.fail("parameters can't hold integers", span)
    if unwind(t)[0] != INT:
        c.fail("tuples of parameters can't hold integers: discrete parameters are declared by themselves", span)
    for bound in ("lower", "upper"):
        found = constraint.argument(bound) if constraint is not None else None
        if found is None:
            hint = "for counts without a limit choose one beyond which nothing matters" if bound == "upper" else ""
            c.fail(f"a discrete parameter is summed out, so it needs finite bounds: declare {bound}=...", span, hint)
        if isinstance(found, gprob.Apply) and found.function.name in ("positive_infinity", "negative_infinity"):
            c.fail(f"a discrete parameter is summed out, so it needs finite bounds: declare {bound}=...", span)
        _verify_of_data(c, found)


def _verify_of_data(c: Context, bound: gprob.Expr) -> None:
    """The values that are summed over can't depend on parameters."""
    symbols = {n.name for n in traversal.walk(bound) if isinstance(n, gprob.Var)}
    for name in c.scope.names():
        v = c.scope.find(name)
        if v is not None and v.symbol in symbols and v.block == "parameters":
            c.fail(f"the bounds of a discrete parameter can depend on data only, not on {name!r}", bound.span)


def loop_variable(c: Context, name: ast.Name, t: Type) -> str:
    """Enter the variable of a loop: it can't be assigned to."""
    verify_fresh(c, name)
    symbol = c.symbols.again(name.text)
    c.scope.add(Variable(name.text, symbol, t, c.place.block, name.span, read_only=True))
    return symbol

