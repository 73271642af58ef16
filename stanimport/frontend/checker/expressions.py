"""Types of expressions. Source: Stan Reference Manual, "Expressions"."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanlib import registry
from stanlib.types import (
    COMPLEX,
    COMPLEX_MATRIX,
    COMPLEX_ROW_VECTOR,
    INT,
    MATRIX,
    MATRIX_DIMS,
    REAL,
    ROW_VECTOR,
    TO_COMPLEX,
    Array,
    Function,
    Level,
    Primitive,
    Tuple,
    Type,
    array,
    common_type,
    is_scalar,
    join_levels,
    level_for,
    promotion_cost,
    unwind,
)  # fmt: skip

from ...ir import gprob
from ...source import Span
from .. import ast
from . import calls, explain
from .basics import promote, unknown, verify_identifier
from .context import Context, Typed
from .scopes import level_of, normalized

# The library functions that an operator stands for; the first that has a fitting overload is meant.
BINARY = {
    "+": ("add",), "-": ("subtract",), "*": ("multiply",), "/": ("mdivide_right", "divide"), "%": ("modulus",),
    "\\": ("mdivide_left",), ".*": ("elt_multiply",), "./": ("elt_divide",), "^": ("pow",), ".^": ("pow",),
    "==": ("logical_eq",), "!=": ("logical_neq",), "<": ("logical_lt",), "<=": ("logical_lte",),
    ">": ("logical_gt",), ">=": ("logical_gte",), "||": ("logical_or",), "&&": ("logical_and",),
}  # fmt: skip
PREFIX = {"-": "minus", "+": "plus", "!": "logical_negation"}
_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


def expression(c: Context, e: ast.Expression) -> Typed:
    """Check one expression. Raises CheckError."""
    return _CHECKS[type(e)](c, e)


def _integer(c: Context, e: ast.IntLiteral) -> Typed:
    digits = e.text.replace("_", "").lstrip("0") or "0"
    value = int(digits) if len(digits) <= 10 else 2**31
    if value >= 2**31:
        c.fail("integer literals must be less than 2147483648", e.span, "write a real number: 1e10 or 3000000000.0")
    return Typed(gprob.Const(INT, e.span, value), False)


def _real(c: Context, e: ast.RealLiteral) -> Typed:
    return Typed(gprob.Const(REAL, e.span, float(e.text.replace("_", ""))), False)


def _imaginary(c: Context, e: ast.ImaginaryLiteral) -> Typed:
    return Typed(gprob.Const(COMPLEX, e.span, complex(0.0, float(e.text.replace("_", "")))), False)


def _variable(c: Context, e: ast.Variable) -> Typed:
    """A variable in scope, else a function as a value, which only calls that pass it on can use."""
    name = e.name.text
    verify_identifier(c, e.name)
    v = c.scope.find(name)
    if v is not None:
        if c.place.in_sizes and v.block in ("parameters", "transformed parameters", "generated quantities"):
            c.fail(f"sizes can depend on data only, not on {name!r} of block {v.block!r}", e.span)
        return Typed(gprob.Var(v.type, e.span, v.symbol), level_of(v, c.place))
    functions = c.functions.find(normalized(name))
    if functions:
        calls.verify_unnormalized(c, e.name)
        return Typed(gprob.FunctionValue(functions[0].type, e.span, functions[0].key), True)
    if registry.is_known(normalized(name)):
        return Typed(gprob.FunctionValue(Function((), Primitive("void")), e.span, name), True)
    unknown(c, e.name)


def _paren(c: Context, e: ast.Paren) -> Typed:
    return expression(c, e.inner)


def _prefix(c: Context, e: ast.Prefix) -> Typed:
    operand = expression(c, e.operand)
    if e.operator == "!":
        operand = truth(c, operand)
    found = _operator((PREFIX[e.operator],), [operand])
    if found is None:
        c.fail(f"operator {e.operator} is not defined for {operand.type}", e.span)
    return Typed(gprob.Apply(found[1], e.span, found[0], (operand.expr,)), operand.level)


def _postfix(c: Context, e: ast.Postfix) -> Typed:
    operand = expression(c, e.operand)
    found = _operator(("transpose",), [operand])
    if found is None:
        c.fail(f"{operand.type} can't be transposed", e.span)
    return Typed(gprob.Apply(found[1], e.span, found[0], (operand.expr,)), operand.level)


def _binary(c: Context, e: ast.Binary) -> Typed:
    """Chains of operators lean to the left: they are folded in a loop, so that their length costs no recursion."""
    chain: list[ast.Binary] = [e]
    while isinstance(chain[-1].left, ast.Binary):
        chain.append(chain[-1].left)
    left = expression(c, chain[-1].left)
    for link in reversed(chain):
        left = _combine(c, link, left, expression(c, link.right))
    return left


def _combine(c: Context, e: ast.Binary, left: Typed, right: Typed) -> Typed:
    """One operator applied to checked operands; && and || of ints are `Logical`, which may skip the right one."""
    level = join_levels([left.level, right.level])
    if e.operator in ("&&", "||") and is_scalar(left.type) and is_scalar(right.type):
        left, right = truth(c, left), truth(c, right)
    if e.operator in ("&&", "||") and left.type == right.type == INT:
        return Typed(gprob.Logical(INT, e.span, e.operator, left.expr, right.expr), level)
    result = binary_operator(e.operator, left, right, e.span)
    if result is None:
        hint = explain.no_operator(e.operator, left.type, right.type)
        c.fail(f"operator {e.operator} is not defined for {left.type} and {right.type}", e.span, hint, "operator")
    _warn_binary(c, e, left, right)
    return Typed(result, level)


def truth(c: Context, t: Typed) -> Typed:
    """A real number where int is meant as a truth value, as before Stan 2.33: whether it is not zero."""
    if c.strict or t.type != REAL:
        return t
    message = "a real number as a condition has been removed from Stan (2.33)"
    c.diagnostics.deprecate(message, t.span, "write x != 0", "!=")
    compared = apply_operator(BINARY["!="], t, Typed(gprob.Const(REAL, t.span, 0.0), False), t.span)
    assert compared is not None
    return Typed(compared, t.level)


def binary_operator(operator: str, left: Typed, right: Typed, span: Span) -> gprob.Expr | None:
    """The application of an operator, or None where it is not defined for the operands' types."""
    if operator == "%/%":
        return apply_operator(("divide",), left, right, span) if left.type == right.type == INT else None
    return apply_operator(BINARY[operator], left, right, span)


def apply_operator(names: tuple[str, ...], left: Typed, right: Typed, span: Span) -> gprob.Expr | None:
    """The application of the first of these library functions that takes both operands."""
    found = _operator(names, [left, right])
    if found is None:
        return None
    function, result, parameters = found
    operands = tuple(promote(o, p.type).expr for o, p in zip((left, right), parameters))
    return gprob.Apply(result, span, function, operands)


def _operator(
    names: tuple[str, ...], operands: list[Typed]
) -> tuple[registry.Function, Type, tuple[registry.Parameter, ...]] | None:
    for name in names:
        match = registry.exact(name).get(tuple(o.type for o in operands))
        match = match or calls.promoting(name, False, tuple(o.given for o in operands))
        if match is not None:
            return match[0], match[1].result, match[1].parameters
    return None


def _warn_binary(c: Context, e: ast.Binary, left: Typed, right: Typed) -> None:
    """Warn of int / int, matrix ^ number and chains of comparisons, which may mean something else than they seem to."""
    if e.operator == "/" and left.type == right.type == INT:
        c.diagnostics.warn(
            "division of integers rounds towards zero", e.span,
            "write %/% if that is meant, else make one operand real: 1.0 / 2", code="integer-division",
        )  # fmt: skip
    elif e.operator == "^" and unwind(left.type)[0] == MATRIX and right.type in (INT, REAL):
        c.diagnostics.warn(
            "matrix ^ number raises each element", e.span, "write .^ if that is meant, else matrix_power(...)"
        )
    elif e.operator in _COMPARISONS and isinstance(e.left, ast.Binary) and e.left.operator in _COMPARISONS:
        text = e.left.span.text
        hint = f"write ({text}) {e.operator} ... if that is meant, else join the comparisons with &&"
        message = "a chain of comparisons compares the first result (0 or 1) with the next operand"
        c.diagnostics.warn(message, e.span, hint)


def _conditional(c: Context, e: ast.Conditional) -> Typed:
    """`condition ? then : otherwise`, with both sides promoted to their common type."""
    condition, then, otherwise = (expression(c, x) for x in (e.condition, e.then, e.otherwise))
    common = common_type(then.type, otherwise.type)
    if condition.type != INT or common is None or isinstance(common, Function):
        c.fail(
            f"operator ?: is not defined for {condition.type} ? {then.type} : {otherwise.type}", e.span,
            "the condition must be int, and both sides of one type",
        )  # fmt: skip
    sides = promote(then, common).expr, promote(otherwise, common).expr
    level = level_for(common, join_levels([condition.level, then.level, otherwise.level]))
    return Typed(gprob.Cond(common, e.span, condition.expr, *sides), level)


def _array(c: Context, e: ast.ArrayLiteral) -> Typed:
    """An array literal, its items promoted to their common type."""
    items = [expression(c, i) for i in e.items]
    common: Type = items[0].type
    for item in items[1:]:
        joined = common_type(common, item.type)
        if joined is None:
            c.fail(f"the items of an array must have one type: {item.type} after {common}", item.span)
        common = joined
    made = tuple(promote(i, common).expr for i in items)
    return Typed(gprob.MakeArray(array(common, 1), e.span, made), join_levels(i.level for i in items))


def _row_vector(c: Context, e: ast.RowVectorLiteral) -> Typed:
    """A literal in square brackets: a row vector of scalars, or a matrix of row vectors."""
    items = [expression(c, i) for i in e.items]
    rows = bool(items) and items[0].type in (ROW_VECTOR, COMPLEX_ROW_VECTOR)
    common: Type = items[0].type if rows else REAL
    for item in items:
        joined = common_type(common, item.type)
        if joined is None or isinstance(joined, (Array, Tuple)):
            what = "a matrix must all be row vectors" if rows else "a row vector must all be int, real or complex"
            c.fail(f"the items of {what}, not {item.type}", item.span)
        common = joined
    made = tuple(promote(i, common).expr for i in items)
    kinds: dict[Type, Type] = {COMPLEX: COMPLEX_ROW_VECTOR, ROW_VECTOR: MATRIX, COMPLEX_ROW_VECTOR: COMPLEX_MATRIX}
    result = kinds.get(common, ROW_VECTOR)
    return Typed(gprob.MakeRow(result, e.span, made), join_levels(i.level for i in items))


def _tuple(c: Context, e: ast.TupleLiteral) -> Typed:
    items = [expression(c, i) for i in e.items]
    for item in items:
        if isinstance(item.type, Function):
            c.fail("a tuple can't hold a function", item.span)
    made = tuple(i.expr for i in items)
    return Typed(gprob.MakeTuple(Tuple(tuple(i.type for i in items)), e.span, made), tuple(i.level for i in items))


def _tuple_item(c: Context, e: ast.TupleItem) -> Typed:
    base = expression(c, e.base)
    t, level = tuple_item_type(c, base.type, base.level, e)
    return Typed(gprob.Item(t, e.span, base.expr, e.number), level)


def tuple_item_type(c: Context, base: Type, level: Level, e: ast.TupleItem) -> tuple[Type, Level]:
    if not isinstance(base, Tuple):
        c.fail(f"only a tuple has items to select by .{e.number}, not {base}", e.span)
    if not 1 <= e.number <= len(base.items):
        c.fail(f"a {base} has {len(base.items)} items, no item {e.number}", e.span)
    item = base.items[e.number - 1]
    return item, level[e.number - 1] if isinstance(level, tuple) else level_for(item, level)


def _call(c: Context, e: ast.Call) -> Typed:
    return calls.call(c, e, [expression(c, a) for a in e.arguments])


def _target_value(c: Context, e: ast.TargetValue) -> Typed:
    if not (c.place.suffix == "lp" or c.place.block in ("model", "transformed parameters")):
        c.fail("target() can only be used in the model, transformed parameters and functions ending in _lp", e.span)
    return Typed(gprob.TargetValue(REAL, e.span), True)


def _dotted(c: Context, e: ast.DottedName) -> Typed:
    v = c.scope.find(e.text)
    if v is None:
        unknown(c, ast.Name(e.text, e.span))
    return Typed(gprob.Var(v.type, e.span, v.symbol), level_of(v, c.place))


def _indexed(c: Context, e: ast.Indexed) -> Typed:
    indices = [index(c, i) for i in e.indices]
    base = expression(c, e.base)
    t = indexed_type(c, base.type, [i[0] for i in indices], e.span)
    level = level_for(t, join_levels([base.level, *(i[1] for i in indices)]))
    return Typed(gprob.Index(t, e.span, base.expr, tuple(i[0] for i in indices)), level)


def index(c: Context, i: ast.Index) -> tuple[gprob.IndexExpr, Level]:
    """One index and whether it may depend on parameters."""
    if isinstance(i, ast.SingleIndex):
        value = expression(c, i.value)
        if value.type == INT:
            return gprob.Single(value.expr), value.level
        if value.type == array(INT, 1):
            return gprob.Multi(value.expr), value.level
        c.fail(f"an index must be an int, an array of ints or a range, not {value.type}", value.span)
    bounds = [None if b is None else of_int(c, b, "a bound of an index range") for b in (i.lower, i.upper)]
    level = join_levels(b.level for b in bounds if b is not None)
    lower, upper = (None if b is None else b.expr for b in bounds)
    return gprob.Range(lower, upper), level


def indexed_type(c: Context, t: Type, indices: list[gprob.IndexExpr], span: Span) -> Type:
    """The type of `x[indices]` for x of type t: a single index drops its dimension."""
    element, dims = unwind(t)
    kept, rest = 0, list(indices)
    while rest and dims:
        kept += not isinstance(rest.pop(0), gprob.Single)
        dims -= 1
    single = [isinstance(i, gprob.Single) for i in rest]
    axes = MATRIX_DIMS.get(element, 0) if isinstance(element, Primitive) else 0
    if len(single) > axes:
        c.fail(f"{len(indices)} indices for a value of type {t}", span, "there are fewer dimensions")
    return array(_indexed_matrix(element, single), kept + dims)


def _indexed_matrix(t: Type, single: list[bool]) -> Type:
    """The type that indices leave of a vector or matrix; `single` tells for each whether it drops its axis."""
    if not single:
        return t
    complex_ = t in TO_COMPLEX.values()
    scalar: Type = COMPLEX if complex_ else REAL
    row: Type = COMPLEX_ROW_VECTOR if complex_ else ROW_VECTOR
    if all(single) and len(single) == MATRIX_DIMS[t]:
        return scalar
    if not any(single):
        return t
    if single[0]:
        return row
    return Primitive("complex_vector" if complex_ else "vector")


def of_condition(c: Context, e: ast.Expression, what: str) -> Typed:
    """An expression that decides a branch: an int, where it is not strict a real number too."""
    t = truth(c, expression(c, e))
    if t.type != INT:
        c.fail(f"{what} must be int, not {t.type}", t.span)
    return t


def of_int(c: Context, e: ast.Expression, what: str) -> Typed:
    """An expression that must be an int."""
    t = expression(c, e)
    if t.type != INT:
        c.fail(f"{what} must be int, not {t.type}", t.span)
    return t


def fits(to: Type, t: Typed) -> bool:
    """Whether a value can stand where one of type `to` is asked for."""
    return promotion_cost(to, t.type) is not None


_CHECKS: dict[type, Callable[[Context, Any], Typed]] = {
    ast.IntLiteral: _integer, ast.RealLiteral: _real, ast.ImaginaryLiteral: _imaginary, ast.Variable: _variable,
    ast.Paren: _paren, ast.Prefix: _prefix, ast.Postfix: _postfix, ast.Binary: _binary,
    ast.Conditional: _conditional, ast.ArrayLiteral: _array, ast.RowVectorLiteral: _row_vector,
    ast.TupleLiteral: _tuple, ast.TupleItem: _tuple_item, ast.TargetValue: _target_value, ast.DottedName: _dotted,
    ast.Indexed: _indexed, ast.Call: _call,
}  # fmt: skip
