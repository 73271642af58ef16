"""Declarations: sized types, constraints, and the names that are declared."""
from __future__ import annotations

from typing import Any

from stanlib import constraints
from stanlib.types import PRIMITIVES

from .. import ast
from ..lexer import KEYWORDS, Token
from .rules import rule, span_of


@rule("declaration : sized_type declarators SEMICOLON")
def p_declaration(context: object, t: ast.SizedType, items: list[Any], end: Token) -> ast.Declaration:
    return ast.Declaration(tuple(_declarator(context, t, *i) for i in items), span_of(t, end))


def _declarator(
    context: Any, t: ast.SizedType, name: ast.Name | ast.DottedName, sizes: Any, value: ast.Expression | None
) -> ast.Declarator:
    span = name.span.to(value.span) if value is not None else name.span
    if sizes is not None:
        exprs, where = sizes
        if isinstance(name, ast.Name):
            hint = f"write array[{', '.join(e.span.text for e in exprs)}] before the type"
            context.removed("the old array syntax has been removed from Stan", where, hint)
        t = ast.SizedArray(t, tuple(exprs), t.span)
    return ast.Declarator(name, t, value, span)


@rule("declarators : declarator", "declarators : declarators COMMA declarator")
def p_declarators(*items: Any) -> list[Any]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


@rule("declarator : declared_name sizes_opt", "declarator : declared_name sizes_opt ASSIGN expression")
def p_declarator(name: ast.Name, sizes: object, *value: object) -> Any:
    return name, sizes, value[1] if value else None


@rule("declared_name : identifier", "declared_name : dotted_name")
def p_declared_name(name: object) -> object:
    return name


@rule("sizes_opt : ", "sizes_opt : LBRACKET expressions RBRACKET")
def p_sizes_opt(*items: object) -> Any:
    return (items[1], span_of(items[0], items[2])) if items else None


@rule("sized_type : ARRAY LBRACKET expressions RBRACKET sized_element")
def p_sized_array(
    word: Token, _: Token, sizes: list[ast.Expression], __: Token, element: ast.SizedType
) -> ast.SizedArray:
    return ast.SizedArray(element, tuple(sizes), span_of(word, element))


@rule("sized_type : sized_element", "sized_element : sized_basic")
def p_sized_type(t: ast.SizedType) -> ast.SizedType:
    return t


@rule(
    "sized_element : TUPLE LPAREN sized_type COMMA RPAREN",
    "sized_element : TUPLE LPAREN sized_type COMMA sized_types RPAREN",
)
def p_sized_tuple(word: Token, _: Token, head: ast.SizedType, __: Token, *rest: Any) -> ast.SizedTuple:
    items = (head, *(rest[0] if len(rest) == 2 else []))
    return ast.SizedTuple(items, span_of(word, rest[-1]))


@rule("sized_types : sized_type", "sized_types : sized_types COMMA sized_type")
def p_sized_types(*items: Any) -> list[ast.SizedType]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


@rule("sized_basic : INT bounds_opt", "sized_basic : REAL bounds_opt", "sized_basic : COMPLEX bounds_opt")
def p_sized_scalar(word: Token, bounds: ast.Constraint | None) -> ast.SizedPrimitive:
    return ast.SizedPrimitive(PRIMITIVES[word.text], (), bounds, span_of(word, bounds or word))


@rule(
    "sized_basic : VECTOR bounds_opt LBRACKET expression RBRACKET",
    "sized_basic : ROW_VECTOR bounds_opt LBRACKET expression RBRACKET",
    "sized_basic : COMPLEX_VECTOR bounds_opt LBRACKET expression RBRACKET",
    "sized_basic : COMPLEX_ROW_VECTOR bounds_opt LBRACKET expression RBRACKET",
    "sized_basic : MATRIX bounds_opt LBRACKET expression COMMA expression RBRACKET",
    "sized_basic : COMPLEX_MATRIX bounds_opt LBRACKET expression COMMA expression RBRACKET",
)
def p_sized_container(word: Token, bounds: ast.Constraint | None, _: Token, *rest: Any) -> ast.SizedPrimitive:
    return ast.SizedPrimitive(PRIMITIVES[word.text], tuple(rest[:-1:2]), bounds, span_of(word, rest[-1]))


def _constrained(base: str, sizes: int) -> list[str]:
    """The rules of the constrained types on values of a type, declared with so many sizes."""
    inside = " COMMA ".join(["expression"] * sizes)
    found = (c.name for c in constraints.types() if c.base == base and sizes in c.sizes)
    return [f"sized_basic : {KEYWORDS[name]} LBRACKET {inside} RBRACKET" for name in found]


@rule(*_constrained("vector", 1))
def p_constrained_vector(word: Token, _: Token, size: ast.Expression, end: Token) -> ast.SizedPrimitive:
    kind = ast.Constraint(word.text, (), word.span)
    return ast.SizedPrimitive(PRIMITIVES["vector"], (size,), kind, span_of(word, end))


@rule(*_constrained("matrix", 1))
def p_constrained_square(word: Token, _: Token, size: ast.Expression, end: Token) -> ast.SizedPrimitive:
    kind = ast.Constraint(word.text, (), word.span)
    return ast.SizedPrimitive(PRIMITIVES["matrix"], (size, size), kind, span_of(word, end))


@rule(*_constrained("matrix", 2))
def p_constrained_matrix(
    word: Token, _: Token, rows: ast.Expression, __: Token, cols: ast.Expression, end: Token
) -> ast.SizedPrimitive:
    kind = ast.Constraint(word.text, (), word.span)
    return ast.SizedPrimitive(PRIMITIVES["matrix"], (rows, cols), kind, span_of(word, end))


@rule("bounds_opt : ")
def p_no_bounds() -> None:
    return None


@rule("bounds_opt : LESS bound GREATER", "bounds_opt : LESS bound COMMA bound GREATER")
def p_bounds(left: Token, *rest: Any) -> ast.Constraint:
    bounds = rest[:-1:2]
    kind = next(k for k, words in constraints.words().items() if bounds[0][0] in words)
    return ast.Constraint(kind, tuple(bounds), span_of(left, rest[-1]))


@rule(*(f"bound : {KEYWORDS[word]} ASSIGN bound_expression" for word in constraints.all_words()))
def p_bound(word: Token, _: Token, value: ast.Expression) -> tuple[str, ast.Expression]:
    return word.text, value
