"""Programs: blocks, and lists of statements in braces."""
from __future__ import annotations

from typing import Any

from ...source import Span
from .. import ast
from ..lexer import Token
from .rules import rule, span_of


@rule("program : blocks")
def p_program(context: Any, blocks: list[ast.ProgramBlock]) -> ast.Program:
    end = context.stream.end
    return ast.Program(tuple(blocks), Span(end.source, 0, end.end))


@rule("blocks : blocks block")
def p_blocks(blocks: list[ast.ProgramBlock], block: ast.ProgramBlock) -> list[ast.ProgramBlock]:
    return [*blocks, block]


@rule("blocks : ", "definitions : ", "networks : ")
def p_nothing() -> list[Any]:
    return []


@rule(
    "block : DATA braced",
    "block : TRANSFORMED_DATA braced",
    "block : PARAMETERS braced",
    "block : TRANSFORMED_PARAMETERS braced",
    "block : MODEL braced",
    "block : GENERATED_QUANTITIES braced",
    "block : GUIDE_PARAMETERS braced",
    "block : GUIDE braced",
    "block : FUNCTIONS braced_definitions",
    "block : NETWORKS braced_networks",
)
def p_block(word: Token, body: ast.Block) -> ast.ProgramBlock:
    return ast.ProgramBlock(" ".join(word.text.split()), body.body, span_of(word, body))


@rule("braced_definitions : LBRACE definitions RBRACE", "braced_networks : LBRACE networks RBRACE")
def p_braced_definitions(left: Token, body: list[ast.Statement], right: Token) -> ast.Block:
    return ast.Block(tuple(body), span_of(left, right))


# Without an empty production, so that `{` may begin a block as well as an array literal.
@rule("braced : LBRACE RBRACE", "braced : LBRACE statements RBRACE")
def p_braced(left: Token, *rest: Any) -> ast.Block:
    return ast.Block(tuple(rest[0]) if len(rest) == 2 else (), span_of(left, rest[-1]))


@rule("statements : statement")
def p_first(item: ast.Statement) -> list[ast.Statement]:
    return [item]


@rule("statements : statements statement", "definitions : definitions definition", "networks : networks network")
def p_more(items: list[Any], item: object) -> list[Any]:
    items.append(item)
    return items
