"""Expressions."""
from __future__ import annotations

from typing import Any

from ...source import Span
from .. import ast
from ..lexer import Token
from .rules import name_of, rule, span_of

_ARITHMETIC = (
    "PLUS", "MINUS", "TIMES", "DIVIDE", "INTEGER_DIVIDE", "MODULO", "LEFT_DIVIDE", "ELT_TIMES", "ELT_DIVIDE", "POWER",
    "ELT_POWER",
)  # fmt: skip
_LOGICAL = ("OR", "AND", "EQUALS", "NOT_EQUALS", "LESS", "LEQ", "GREATER", "GEQ")


@rule("expression : expression QUESTION expression COLON expression")
def p_conditional(c: ast.Expression, _: Token, a: ast.Expression, __: Token, b: ast.Expression) -> ast.Conditional:
    return ast.Conditional(c, a, b, span_of(c, b))


@rule(
    *(f"expression : expression {op} expression" for op in _ARITHMETIC + _LOGICAL),
    *(f"bound_expression : bound_expression {op} bound_expression" for op in _ARITHMETIC),
)
def p_binary(a: ast.Expression, op: Token, b: ast.Expression) -> ast.Binary:
    return ast.Binary(a, op.text, b, span_of(a, b))


@rule("expression : expression ARROW expression")
def p_less_than_negative(a: ast.Expression, op: Token, b: ast.Expression) -> ast.Binary:
    minus = Span(op.span.source, op.span.start + 1, op.span.end)
    return ast.Binary(a, "<", _negated(minus, b), span_of(a, b))


def _negated(minus: Span, e: ast.Expression) -> ast.Expression:
    """A minus in front of an expression: it binds the first operand, and weaker than powers only."""
    if isinstance(e, ast.Binary) and e.operator not in ("^", ".^"):
        return ast.Binary(_negated(minus, e.left), e.operator, e.right, minus.to(e.span))
    return ast.Prefix("-", e, minus.to(e.span))


@rule(
    *(f"expression : {op} expression %prec UNARY" for op in ("NOT", "MINUS", "PLUS")),
    *(f"bound_expression : {op} bound_expression %prec UNARY" for op in ("NOT", "MINUS", "PLUS")),
)
def p_prefix(op: Token, e: ast.Expression) -> ast.Prefix:
    return ast.Prefix(op.text, e, span_of(op, e))


@rule("primary : primary TRANSPOSE")
def p_postfix(e: ast.Expression, op: Token) -> ast.Postfix:
    return ast.Postfix(e, op.text, span_of(e, op))


@rule("expression : primary %prec LOWEST", "bound_expression : primary")
def p_expression(e: ast.Expression) -> ast.Expression:
    return e


@rule("primary : identifier")
def p_variable(name: ast.Name) -> ast.Variable:
    return ast.Variable(name, name.span)


@rule("primary : dotted_name")
def p_dotted(name: ast.DottedName) -> ast.DottedName:
    return name


@rule(
    "dotted_name : identifier DOT identifier", "dotted_name : dotted_name DOT identifier",
    "dotted_name : numbered DOT identifier", "dotted_name : dotted_name DOT_NUMBER",
)  # fmt: skip
def p_dotted_name(first: object, *rest: Any) -> ast.DottedName:
    last = rest[-1] if isinstance(rest[-1], ast.Name) else _numbered(rest[-1])
    parts = _parts(first)
    return ast.DottedName((*parts, last), span_of(parts[0], last))


@rule("numbered : identifier DOT_NUMBER", "numbered : numbered DOT_NUMBER")
def p_numbered(first: object, number: Token) -> list[Any]:
    """`t.1`, an item of a tuple, or the beginning of the path to a layer of a network: `net.0.weight`."""
    return [*(first if isinstance(first, list) else [first]), number]


@rule("primary : numbered")
def p_numbered_item(context: object, parts: list[Any]) -> ast.Expression:
    first, *numbers = parts
    made: ast.Expression = ast.Variable(first, first.span)
    for number in numbers:
        made = _item(context, made, number)
    return made


def _parts(first: object) -> list[Any]:
    if isinstance(first, list):
        return [p if isinstance(p, ast.Name) else _numbered(p) for p in first]
    return list(first.parts) if isinstance(first, ast.DottedName) else [first]


def _numbered(number: Token) -> ast.Name:
    """A layer's number as a part of a path."""
    return ast.Name(number.text[1:], number.span)


@rule("identifier : IDENTIFIER", "identifier : TRUNCATE")
def p_identifier(t: Token) -> ast.Name:
    return name_of(t)


@rule("primary : INTEGER")
def p_integer(t: Token) -> ast.IntLiteral:
    return ast.IntLiteral(t.text, t.span)


@rule("primary : REAL_NUMBER", "primary : DOT_NUMBER")
def p_real(t: Token) -> ast.RealLiteral:
    return ast.RealLiteral(t.text, t.span)


@rule("primary : IMAGINARY")
def p_imaginary(t: Token) -> ast.ImaginaryLiteral:
    return ast.ImaginaryLiteral(t.text[:-1], t.span)


@rule("primary : LBRACE expressions RBRACE")
def p_array_literal(left: Token, items: list[ast.Expression], right: Token) -> ast.ArrayLiteral:
    return ast.ArrayLiteral(tuple(items), span_of(left, right))


@rule("primary : LBRACKET RBRACKET", "primary : LBRACKET expressions RBRACKET")
def p_row_vector_literal(left: Token, *rest: Any) -> ast.RowVectorLiteral:
    return ast.RowVectorLiteral(tuple(rest[0]) if len(rest) == 2 else (), span_of(left, rest[-1]))


@rule("primary : identifier LPAREN RPAREN", "primary : identifier LPAREN expressions RPAREN")
def p_call(name: ast.Name, _: Token, *rest: Any) -> ast.Call:
    arguments = tuple(rest[0]) if len(rest) == 2 else ()
    # A density of one argument has nothing behind a bar: f_lpdf(y)
    conditional = len(arguments) == 1 and name.text.endswith(CONDITIONAL_SUFFIXES)
    return ast.Call(name, arguments, conditional, span_of(name, rest[-1]))


CONDITIONAL_SUFFIXES = ("_lpdf", "_lupdf", "_lpmf", "_lupmf", "_cdf", "_lcdf", "_lccdf")


@rule(
    "primary : identifier LPAREN expression BAR RPAREN",
    "primary : identifier LPAREN expression BAR expressions RPAREN",
)
def p_conditional_call(name: ast.Name, _: Token, first: ast.Expression, __: Token, *rest: Any) -> ast.Call:
    arguments = (first, *(rest[0] if len(rest) == 2 else ()))
    return ast.Call(name, arguments, True, span_of(name, rest[-1]))


@rule("primary : TARGET LPAREN RPAREN")
def p_target_value(word: Token, _: Token, end: Token) -> ast.TargetValue:
    return ast.TargetValue(span_of(word, end))


@rule(
    "primary : LPAREN expression COMMA RPAREN",
    "primary : LPAREN expression COMMA expressions RPAREN",
)
def p_tuple_literal(left: Token, head: ast.Expression, _: Token, *rest: Any) -> ast.TupleLiteral:
    items = (head, *(rest[0] if len(rest) == 2 else ()))
    return ast.TupleLiteral(items, span_of(left, rest[-1]))


@rule("primary : LPAREN expression RPAREN")
def p_paren(left: Token, e: ast.Expression, right: Token) -> ast.Paren:
    return ast.Paren(e, span_of(left, right))


@rule("primary : primary DOT_NUMBER")
def p_tuple_item(context: object, base: ast.Expression, number: Token) -> ast.TupleItem:
    return _item(context, base, number)


def _item(context: Any, base: ast.Expression, number: Token) -> ast.TupleItem:
    digits = number.text[1:].replace("_", "")
    if len(digits) > 9:
        context.error("the number of a tuple item is too large", number.span)
        digits = "1"
    return ast.TupleItem(base, int(digits), span_of(base, number))


@rule("primary : primary LBRACKET indices RBRACKET")
def p_indexed(
    context: Any, base: ast.Expression, left: Token, indices: list[Any], right: Token
) -> ast.Indexed:
    if isinstance(base, ast.Postfix):
        context.removed("indices behind a transpose have been removed from Stan", left.span, "write (x')[i]")
    at = [i if i is not None else ast.RangeIndex(None, None, span_of(left, right)) for i in indices]
    return ast.Indexed(base, tuple(at), span_of(base, right))


@rule("indices : index", "indices : indices COMMA index")
def p_indices(*items: Any) -> list[Any]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


@rule("index : ")
def p_no_index() -> None:
    return None


@rule("index : expression")
def p_single_index(e: ast.Expression) -> ast.SingleIndex:
    return ast.SingleIndex(e, e.span)


@rule("index : expression_opt COLON expression_opt")
def p_range_index(lower: ast.Expression | None, colon: Token, upper: ast.Expression | None) -> ast.RangeIndex:
    return ast.RangeIndex(lower, upper, span_of(lower or colon, upper or colon))


@rule("expressions : expression", "expressions : expressions COMMA expression")
def p_expressions(*items: Any) -> list[ast.Expression]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]
