"""Statements."""
from __future__ import annotations

from typing import Any

from .. import ast
from ..lexer import Token
from .rules import rule, span_of


@rule(
    "statement : declaration",
    "statement : empty_statement",
    "statement : braced",
)
def p_statement(s: ast.Statement) -> ast.Statement:
    return s


@rule("empty_statement : SEMICOLON")
def p_empty(t: Token) -> ast.Empty:
    return ast.Empty(t.span)


@rule(*(f"statement : primary {op} expression SEMICOLON" for op in (
    "ASSIGN", "PLUS_ASSIGN", "MINUS_ASSIGN", "TIMES_ASSIGN", "DIVIDE_ASSIGN", "ELT_TIMES_ASSIGN", "ELT_DIVIDE_ASSIGN",
)))  # fmt: skip
def p_assignment(
    context: Any, target: ast.Expression, op: Token, value: ast.Expression, end: Token
) -> ast.Assignment:
    if not _assignable(target):
        context.error("this can't be assigned to", target.span, "assign to a variable or a part of one")
    return ast.Assignment(target, op.text, value, span_of(target, end))


@rule("statement : primary ARROW expression SEMICOLON")
def p_old_assignment(
    context: Any, target: ast.Expression, op: Token, value: ast.Expression, end: Token
) -> ast.Assignment:
    context.removed("assignment by <- has been removed from Stan", op.span, "write = instead")
    if not _assignable(target):
        context.error("this can't be assigned to", target.span, "assign to a variable or a part of one")
    return ast.Assignment(target, "=", value, span_of(target, end))


def _assignable(e: ast.Expression) -> bool:
    """A variable, an indexed or projected one, or a tuple of such."""
    if isinstance(e, ast.TupleLiteral):
        return all(map(_assignable, e.items))
    while isinstance(e, (ast.Indexed, ast.TupleItem)):
        e = e.base
    return isinstance(e, ast.Variable)


@rule("statement : primary SEMICOLON")
def p_call_statement(context: Any, e: ast.Expression, end: Token) -> ast.Statement:
    if not isinstance(e, ast.Call) or e.conditional:
        context.error("an expression is no statement", end.span, "only a call of a void function stands by itself")
        return ast.Empty(end.span)
    return ast.CallStatement(e.function, e.arguments, span_of(e, end))


@rule(
    "statement : expression TILDE identifier LPAREN RPAREN truncation_opt SEMICOLON",
    "statement : expression TILDE identifier LPAREN expressions RPAREN truncation_opt SEMICOLON",
)
def p_tilde(value: ast.Expression, _: Token, name: ast.Name, __: Token, *rest: Any) -> ast.Tilde:
    arguments = tuple(rest[0]) if len(rest) == 4 else ()
    return ast.Tilde(value, name, arguments, rest[-2], span_of(value, rest[-1]))


@rule("truncation_opt : ")
def p_no_truncation() -> None:
    return None


@rule("truncation_opt : TRUNCATE LBRACKET expression_opt COMMA expression_opt RBRACKET")
def p_truncation(
    word: Token, _: Token, lower: ast.Expression | None, __: Token, upper: ast.Expression | None, end: Token
) -> ast.Truncation | None:
    return ast.Truncation(lower, upper, span_of(word, end)) if lower or upper else None


@rule("expression_opt : ", "expression_opt : expression")
def p_expression_opt(*e: ast.Expression) -> ast.Expression | None:
    return e[0] if e else None


@rule(
    "statement : TARGET PLUS_ASSIGN expression SEMICOLON",
    "statement : JACOBIAN PLUS_ASSIGN expression SEMICOLON",
)
def p_increment(word: Token, _: Token, value: ast.Expression, end: Token) -> ast.Increment:
    return ast.Increment(word.text, value, span_of(word, end))


@rule("statement : INCREMENT_LOG_PROB LPAREN expression RPAREN SEMICOLON")
def p_increment_log_prob(
    context: Any, word: Token, _: Token, value: ast.Expression, __: Token, end: Token
) -> ast.Increment:
    context.removed("increment_log_prob(...) has been removed from Stan", word.span, "write target += ...;")
    return ast.Increment("target", value, span_of(word, end))


@rule("statement : BREAK SEMICOLON")
def p_break(word: Token, end: Token) -> ast.Break:
    return ast.Break(span_of(word, end))


@rule("statement : CONTINUE SEMICOLON")
def p_continue(word: Token, end: Token) -> ast.Continue:
    return ast.Continue(span_of(word, end))


@rule("statement : RETURN expression_opt SEMICOLON")
def p_return(word: Token, value: ast.Expression | None, end: Token) -> ast.Return:
    return ast.Return(value, span_of(word, end))


@rule(
    "statement : PRINT LPAREN printables RPAREN SEMICOLON",
    "statement : REJECT LPAREN printables RPAREN SEMICOLON",
    "statement : FATAL_ERROR LPAREN printables RPAREN SEMICOLON",
)
def p_message(word: Token, _: Token, items: list[Any], __: Token, end: Token) -> ast.Message:
    return ast.Message(word.text, tuple(items), span_of(word, end))


# The parser prefers a semicolon that is there.
@rule("statement : PRINT LPAREN printables RPAREN", "statement : REJECT LPAREN printables RPAREN")
def p_unended_message(context: Any, word: Token, _: Token, items: list[Any], end: Token) -> ast.Message:
    span = span_of(word, end)
    context.removed(f"{word.text}(...) without a semicolon has been removed from Stan", span, "write ; behind it")
    return ast.Message(word.text, tuple(items), span)


@rule("printables : printable", "printables : printables COMMA printable")
def p_printables(*items: Any) -> list[Any]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


@rule("printable : expression", "printable : string")
def p_printable(item: object) -> object:
    return item


@rule("string : STRING")
def p_string(t: Token) -> str:
    return t.text[1:-1]


@rule("statement : IF LPAREN expression RPAREN statement %prec BELOW_ELSE")
def p_if(word: Token, _: Token, condition: ast.Expression, __: Token, then: ast.Statement) -> ast.If:
    return ast.If(condition, then, None, span_of(word, then))


@rule("statement : IF LPAREN expression RPAREN statement ELSE statement")
def p_if_else(
    word: Token, _: Token, condition: ast.Expression, __: Token, then: ast.Statement, ___: Token,
    otherwise: ast.Statement,
) -> ast.If:  # fmt: skip
    return ast.If(condition, then, otherwise, span_of(word, otherwise))


@rule("statement : WHILE LPAREN expression RPAREN statement")
def p_while(word: Token, _: Token, condition: ast.Expression, __: Token, body: ast.Statement) -> ast.While:
    return ast.While(condition, body, span_of(word, body))


@rule("statement : FOR LPAREN identifier IN expression COLON expression RPAREN statement")
def p_for(
    word: Token, _: Token, name: ast.Name, __: Token, lower: ast.Expression, ___: Token, upper: ast.Expression,
    ____: Token, body: ast.Statement
) -> ast.For:
    return ast.For(name, lower, upper, body, span_of(word, body))


@rule("statement : FOR LPAREN identifier IN expression RPAREN statement")
def p_for_each(
    word: Token, _: Token, name: ast.Name, __: Token, e: ast.Expression, ___: Token, body: ast.Statement
) -> ast.ForEach:
    return ast.ForEach(name, e, body, span_of(word, body))


@rule("statement : PROFILE LPAREN string RPAREN braced")
def p_profile(word: Token, _: Token, name: str, __: Token, body: ast.Block) -> ast.Profile:
    return ast.Profile(name, body.body, span_of(word, body))
