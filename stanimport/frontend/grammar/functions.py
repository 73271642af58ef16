"""Functions, networks, and types without sizes."""
from __future__ import annotations

from typing import Any

from stanlib.types import PRIMITIVES, VOID, Type, array
from stanlib.types import Tuple as TupleType

from ...source import Span
from .. import ast
from ..lexer import KEYWORDS, Token
from .rules import name_of, rule, span_of


@rule("definition : result_type identifier LPAREN formals RPAREN function_body")
def p_definition(
    result: "_Unsized", name: ast.Name, _: Token, formals: list[ast.Argument], __: Token, body: ast.Statement
) -> ast.FunctionDefinition:
    return ast.FunctionDefinition(result.type, name, tuple(formals), body, span_of(result, body))


@rule("function_body : empty_statement", "function_body : braced")
def p_function_body(body: ast.Statement) -> ast.Statement:
    return body


@rule("network : unsized_type path LPAREN formals RPAREN SEMICOLON")
def p_network(
    result: "_Unsized", path: list[Token], _: Token, formals: list[ast.Argument], __: Token, end: Token
) -> ast.NetworkDeclaration:
    name = name_of(path[-1])
    text = "".join(t.text for t in path)
    return ast.NetworkDeclaration(result.type, text, name, tuple(formals), span_of(result, end))


@rule("path : word", "path : DOT path", "path : word DOT path")
def p_path(*parts: object) -> list[Token]:
    *first, last = parts
    return [*first, *(last if isinstance(last, list) else [last])]


@rule("word : IDENTIFIER", *(f"word : {k}" for k in KEYWORDS.values()))
def p_word(t: Token) -> Token:
    return t


@rule("result_type : VOID")
def p_void(t: Token) -> "_Unsized":
    return _Unsized(VOID, t.span)


@rule("result_type : unsized_type")
def p_result_type(t: "_Unsized") -> "_Unsized":
    return t


@rule("formals : ", "formals : formal_list")
def p_formals(*items: list[ast.Argument]) -> list[ast.Argument]:
    return items[0] if items else []


@rule("formal_list : formal", "formal_list : formal_list COMMA formal")
def p_formal_list(*items: Any) -> list[ast.Argument]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


@rule("formal : unsized_type identifier")
def p_formal(t: "_Unsized", name: ast.Name) -> ast.Argument:
    return ast.Argument(t.type, name, False, span_of(t, name))


@rule("formal : DATA unsized_type identifier")
def p_data_formal(data: Token, t: "_Unsized", name: ast.Name) -> ast.Argument:
    return ast.Argument(t.type, name, True, span_of(data, name))


class _Unsized:
    """A type without sizes, and where it stands."""

    __slots__ = ("type", "span")

    def __init__(self, type: Type, span: Span):
        self.type, self.span = type, span


@rule("unsized_type : ARRAY unsized_dims unsized_element")
def p_unsized_array(word: Token, dims: tuple[int, Token], element: _Unsized) -> _Unsized:
    return _Unsized(array(element.type, dims[0]), span_of(word, element))


@rule("unsized_type : unsized_element")
def p_unsized_plain(t: _Unsized) -> _Unsized:
    return t


@rule("unsized_type : basic_type unsized_dims")
def p_unsized_old(context: Any, word: Token, dims: tuple[int, Token]) -> _Unsized:
    t = array(PRIMITIVES[word.text], dims[0])
    context.removed("the old array syntax has been removed from Stan", dims[1].span, f"write {t}")
    return _Unsized(t, word.span.to(dims[1].span))


@rule("unsized_element : basic_type")
def p_unsized_basic(word: Token) -> _Unsized:
    return _Unsized(PRIMITIVES[word.text], word.span)


@rule(
    "unsized_element : TUPLE LPAREN unsized_type COMMA RPAREN",
    "unsized_element : TUPLE LPAREN unsized_type COMMA unsized_types RPAREN",
)
def p_unsized_tuple(word: Token, _: Token, head: _Unsized, __: Token, *rest: Any) -> _Unsized:
    items = [head, *(rest[0] if len(rest) == 2 else [])]
    return _Unsized(TupleType(tuple(i.type for i in items)), span_of(word, rest[-1]))


@rule("unsized_types : unsized_type", "unsized_types : unsized_types COMMA unsized_type")
def p_unsized_types(*items: Any) -> list[_Unsized]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


@rule("unsized_dims : LBRACKET commas RBRACKET")
def p_unsized_dims(left: Token, commas: int, right: Token) -> tuple[int, Token]:
    return commas + 1, Token("", span_of(left, right))


@rule("commas : ", "commas : commas COMMA")
def p_commas(*items: Any) -> int:
    return items[0] + 1 if items else 0


@rule(*(f"basic_type : {w}" for w in (
    "INT", "REAL", "COMPLEX", "VECTOR", "ROW_VECTOR", "MATRIX", "COMPLEX_VECTOR", "COMPLEX_ROW_VECTOR",
    "COMPLEX_MATRIX",
)))  # fmt: skip
def p_basic_type(t: Token) -> Token:
    return t
