"""The grammar of Stan 2.39 with the deprecated forms and the DeepStan blocks, in PLY's form.

Every rule only builds nodes. What the grammar accepts beyond Stan, so that errors can be told precisely, is refused by
`shape.py` after the parse. PLY swallows a SyntaxError raised in an action, so actions note errors in the context.

Source: Stan Reference Manual, "Language Syntax"; the deprecated forms: its "Removed Features".
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanlib import constraints
from stanlib.types import PRIMITIVES, VOID, Type, array
from stanlib.types import Tuple as TupleType

from ..source import Span
from . import ast
from .lexer import KEYWORDS, Token, tokens  # noqa: F401  (PLY reads the tokens here)

start = "program"

precedence = (
    ("nonassoc", "LOWEST"),  # so that `x <- 1;` is the old assignment and not a comparison
    ("right", "QUESTION", "COLON"),
    ("left", "OR"),
    ("left", "AND"),
    ("left", "EQUALS", "NOT_EQUALS"),
    ("left", "LEQ", "LESS", "GEQ", "GREATER", "ARROW"),
    ("left", "PLUS", "MINUS"),
    ("left", "TIMES", "DIVIDE", "MODULO", "ELT_TIMES", "ELT_DIVIDE"),
    ("left", "INTEGER_DIVIDE", "LEFT_DIVIDE"),
    ("nonassoc", "UNARY"),
    ("right", "POWER", "ELT_POWER"),
    ("left", "TRANSPOSE"),
    ("nonassoc", "BELOW_ELSE"),
    ("nonassoc", "ELSE"),
)

_count = 0


def rule(*productions: str) -> Callable[[Callable[..., Any]], Callable[[Any], None]]:
    """Make an action of a function of the symbols' values, for all of these productions.

    The productions are no docstring, so that they are there under `python -OO` too. An action whose first argument is
    called `context` gets the parse's context.
    """

    def decorate(build: Callable[..., Any]) -> Callable[[Any], None]:
        global _count
        _count += 1
        wants_context = build.__code__.co_varnames[:1] == ("context",)

        def action(p: Any) -> None:
            values = p.slice[1:]
            values = [v.value for v in values]
            p[0] = build(p.parser.context, *values) if wants_context else build(*values)

        action.__doc__ = "\n".join(productions)
        action.__name__ = build.__name__
        action.co_firstlineno = _count  # type: ignore[attr-defined]  # PLY orders the rules by it
        return action

    return decorate


def _span(first: Any, last: Any) -> Span:
    return first.span.to(last.span)


def _name(t: Token) -> ast.Name:
    return ast.Name(t.text, t.span)


# --- program ---------------------------------------------------------------------------------------------------------


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
    return ast.ProgramBlock(" ".join(word.text.split()), body.body, _span(word, body))


@rule("braced_definitions : LBRACE definitions RBRACE", "braced_networks : LBRACE networks RBRACE")
def p_braced_definitions(left: Token, body: list[ast.Statement], right: Token) -> ast.Block:
    return ast.Block(tuple(body), _span(left, right))


# Without an empty production, so that `{` may begin a block as well as an array literal.
@rule("braced : LBRACE RBRACE", "braced : LBRACE statements RBRACE")
def p_braced(left: Token, *rest: Any) -> ast.Block:
    return ast.Block(tuple(rest[0]) if len(rest) == 2 else (), _span(left, rest[-1]))


@rule("statements : statement")
def p_first(item: ast.Statement) -> list[ast.Statement]:
    return [item]


@rule("statements : statements statement", "definitions : definitions definition", "networks : networks network")
def p_more(items: list[Any], item: Any) -> list[Any]:
    items.append(item)
    return items


# --- functions and networks ------------------------------------------------------------------------------------------


@rule("definition : result_type identifier LPAREN formals RPAREN function_body")
def p_definition(
    result: "_Unsized", name: ast.Name, _: Token, formals: list[ast.Argument], __: Token, body: ast.Statement
) -> ast.FunctionDefinition:
    return ast.FunctionDefinition(result.type, name, tuple(formals), body, _span(result, body))


@rule("function_body : empty_statement", "function_body : braced")
def p_function_body(body: ast.Statement) -> ast.Statement:
    return body


@rule("network : unsized_type path LPAREN formals RPAREN SEMICOLON")
def p_network(
    result: "_Unsized", path: list[Token], _: Token, formals: list[ast.Argument], __: Token, end: Token
) -> ast.NetworkDeclaration:
    name = _name(path[-1])
    text = "".join(t.text for t in path)
    return ast.NetworkDeclaration(result.type, text, name, tuple(formals), _span(result, end))


@rule("path : word", "path : DOT path", "path : word DOT path")
def p_path(*parts: Any) -> list[Token]:
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
    return ast.Argument(t.type, name, False, _span(t, name))


@rule("formal : DATA unsized_type identifier")
def p_data_formal(data: Token, t: "_Unsized", name: ast.Name) -> ast.Argument:
    return ast.Argument(t.type, name, True, _span(data, name))


class _Unsized:
    """A type without sizes, and where it stands."""

    __slots__ = ("type", "span")

    def __init__(self, type: Type, span: Span):
        self.type, self.span = type, span


@rule("unsized_type : ARRAY unsized_dims unsized_element")
def p_unsized_array(word: Token, dims: tuple[int, Token], element: _Unsized) -> _Unsized:
    return _Unsized(array(element.type, dims[0]), _span(word, element))


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
    return _Unsized(TupleType(tuple(i.type for i in items)), _span(word, rest[-1]))


@rule("unsized_types : unsized_type", "unsized_types : unsized_types COMMA unsized_type")
def p_unsized_types(*items: Any) -> list[_Unsized]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


@rule("unsized_dims : LBRACKET commas RBRACKET")
def p_unsized_dims(left: Token, commas: int, right: Token) -> tuple[int, Token]:
    return commas + 1, Token("", _span(left, right))


@rule("commas : ", "commas : commas COMMA")
def p_commas(*items: Any) -> int:
    return items[0] + 1 if items else 0


@rule(*(f"basic_type : {w}" for w in (
    "INT", "REAL", "COMPLEX", "VECTOR", "ROW_VECTOR", "MATRIX", "COMPLEX_VECTOR", "COMPLEX_ROW_VECTOR",
    "COMPLEX_MATRIX",
)))  # fmt: skip
def p_basic_type(t: Token) -> Token:
    return t


# --- declarations ----------------------------------------------------------------------------------------------------


@rule("declaration : sized_type declarators SEMICOLON")
def p_declaration(context: Any, t: ast.SizedType, items: list[Any], end: Token) -> ast.Declaration:
    return ast.Declaration(tuple(_declarator(context, t, *i) for i in items), _span(t, end))


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
def p_declarator(name: ast.Name, sizes: Any, *value: Any) -> Any:
    return name, sizes, value[1] if value else None


@rule("declared_name : identifier", "declared_name : dotted_name")
def p_declared_name(name: Any) -> Any:
    return name


@rule("sizes_opt : ", "sizes_opt : LBRACKET expressions RBRACKET")
def p_sizes_opt(*items: Any) -> Any:
    return (items[1], _span(items[0], items[2])) if items else None


@rule("sized_type : ARRAY LBRACKET expressions RBRACKET sized_element")
def p_sized_array(word: Token, _: Token, sizes: list[ast.Expression], __: Token, element: Any) -> ast.SizedArray:
    return ast.SizedArray(element, tuple(sizes), _span(word, element))


@rule("sized_type : sized_element", "sized_element : sized_basic")
def p_sized_type(t: ast.SizedType) -> ast.SizedType:
    return t


@rule(
    "sized_element : TUPLE LPAREN sized_type COMMA RPAREN",
    "sized_element : TUPLE LPAREN sized_type COMMA sized_types RPAREN",
)
def p_sized_tuple(word: Token, _: Token, head: ast.SizedType, __: Token, *rest: Any) -> ast.SizedTuple:
    items = (head, *(rest[0] if len(rest) == 2 else []))
    return ast.SizedTuple(items, _span(word, rest[-1]))


@rule("sized_types : sized_type", "sized_types : sized_types COMMA sized_type")
def p_sized_types(*items: Any) -> list[ast.SizedType]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


@rule("sized_basic : INT bounds_opt", "sized_basic : REAL bounds_opt", "sized_basic : COMPLEX bounds_opt")
def p_sized_scalar(word: Token, bounds: ast.Constraint | None) -> ast.SizedPrimitive:
    return ast.SizedPrimitive(PRIMITIVES[word.text], (), bounds, _span(word, bounds or word))


@rule(
    "sized_basic : VECTOR bounds_opt LBRACKET expression RBRACKET",
    "sized_basic : ROW_VECTOR bounds_opt LBRACKET expression RBRACKET",
    "sized_basic : COMPLEX_VECTOR bounds_opt LBRACKET expression RBRACKET",
    "sized_basic : COMPLEX_ROW_VECTOR bounds_opt LBRACKET expression RBRACKET",
    "sized_basic : MATRIX bounds_opt LBRACKET expression COMMA expression RBRACKET",
    "sized_basic : COMPLEX_MATRIX bounds_opt LBRACKET expression COMMA expression RBRACKET",
)
def p_sized_container(word: Token, bounds: ast.Constraint | None, _: Token, *rest: Any) -> ast.SizedPrimitive:
    return ast.SizedPrimitive(PRIMITIVES[word.text], tuple(rest[:-1:2]), bounds, _span(word, rest[-1]))


def _constrained(base: str, sizes: int) -> list[str]:
    """The rules of the constrained types on values of a type, declared with so many sizes."""
    inside = " COMMA ".join(["expression"] * sizes)
    found = (c.name for c in constraints.types() if c.base == base and sizes in c.sizes)
    return [f"sized_basic : {KEYWORDS[name]} LBRACKET {inside} RBRACKET" for name in found]


@rule(*_constrained("vector", 1))
def p_constrained_vector(word: Token, _: Token, size: ast.Expression, end: Token) -> ast.SizedPrimitive:
    kind = ast.Constraint(word.text, (), word.span)
    return ast.SizedPrimitive(PRIMITIVES["vector"], (size,), kind, _span(word, end))


@rule(*_constrained("matrix", 1))
def p_constrained_square(word: Token, _: Token, size: ast.Expression, end: Token) -> ast.SizedPrimitive:
    kind = ast.Constraint(word.text, (), word.span)
    return ast.SizedPrimitive(PRIMITIVES["matrix"], (size, size), kind, _span(word, end))


@rule(*_constrained("matrix", 2))
def p_constrained_matrix(word: Token, _: Token, rows: Any, __: Token, cols: Any, end: Token) -> ast.SizedPrimitive:
    kind = ast.Constraint(word.text, (), word.span)
    return ast.SizedPrimitive(PRIMITIVES["matrix"], (rows, cols), kind, _span(word, end))


@rule("bounds_opt : ")
def p_no_bounds() -> None:
    return None


@rule("bounds_opt : LESS bound GREATER", "bounds_opt : LESS bound COMMA bound GREATER")
def p_bounds(left: Token, *rest: Any) -> ast.Constraint:
    bounds = rest[:-1:2]
    kind = "offset_multiplier" if bounds[0][0] in ("offset", "multiplier") else "bounds"
    return ast.Constraint(kind, tuple(bounds), _span(left, rest[-1]))


@rule(
    "bound : LOWER ASSIGN bound_expression",
    "bound : UPPER ASSIGN bound_expression",
    "bound : OFFSET ASSIGN bound_expression",
    "bound : MULTIPLIER ASSIGN bound_expression",
)
def p_bound(word: Token, _: Token, value: ast.Expression) -> tuple[str, ast.Expression]:
    return word.text, value


# --- statements ------------------------------------------------------------------------------------------------------


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
    return ast.Assignment(target, op.text, value, _span(target, end))


@rule("statement : primary ARROW expression SEMICOLON")
def p_old_assignment(context: Any, target: ast.Expression, op: Token, value: Any, end: Token) -> ast.Assignment:
    context.removed("assignment by <- has been removed from Stan", op.span, "write = instead")
    if not _assignable(target):
        context.error("this can't be assigned to", target.span, "assign to a variable or a part of one")
    return ast.Assignment(target, "=", value, _span(target, end))


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
    return ast.CallStatement(e.function, e.arguments, _span(e, end))


@rule(
    "statement : expression TILDE identifier LPAREN RPAREN truncation_opt SEMICOLON",
    "statement : expression TILDE identifier LPAREN expressions RPAREN truncation_opt SEMICOLON",
)
def p_tilde(value: ast.Expression, _: Token, name: ast.Name, __: Token, *rest: Any) -> ast.Tilde:
    arguments = tuple(rest[0]) if len(rest) == 4 else ()
    return ast.Tilde(value, name, arguments, rest[-2], _span(value, rest[-1]))


@rule("truncation_opt : ")
def p_no_truncation() -> None:
    return None


@rule("truncation_opt : TRUNCATE LBRACKET expression_opt COMMA expression_opt RBRACKET")
def p_truncation(word: Token, _: Token, lower: Any, __: Token, upper: Any, end: Token) -> ast.Truncation | None:
    return ast.Truncation(lower, upper, _span(word, end)) if lower or upper else None


@rule("expression_opt : ", "expression_opt : expression")
def p_expression_opt(*e: ast.Expression) -> ast.Expression | None:
    return e[0] if e else None


@rule(
    "statement : TARGET PLUS_ASSIGN expression SEMICOLON",
    "statement : JACOBIAN PLUS_ASSIGN expression SEMICOLON",
)
def p_increment(word: Token, _: Token, value: ast.Expression, end: Token) -> ast.Increment:
    return ast.Increment(word.text, value, _span(word, end))


@rule("statement : INCREMENT_LOG_PROB LPAREN expression RPAREN SEMICOLON")
def p_increment_log_prob(context: Any, word: Token, _: Token, value: Any, __: Token, end: Token) -> ast.Increment:
    context.removed("increment_log_prob(...) has been removed from Stan", word.span, "write target += ...;")
    return ast.Increment("target", value, _span(word, end))


@rule("statement : BREAK SEMICOLON")
def p_break(word: Token, end: Token) -> ast.Break:
    return ast.Break(_span(word, end))


@rule("statement : CONTINUE SEMICOLON")
def p_continue(word: Token, end: Token) -> ast.Continue:
    return ast.Continue(_span(word, end))


@rule("statement : RETURN expression_opt SEMICOLON")
def p_return(word: Token, value: ast.Expression | None, end: Token) -> ast.Return:
    return ast.Return(value, _span(word, end))


@rule(
    "statement : PRINT LPAREN printables RPAREN SEMICOLON",
    "statement : REJECT LPAREN printables RPAREN SEMICOLON",
    "statement : FATAL_ERROR LPAREN printables RPAREN SEMICOLON",
)
def p_message(word: Token, _: Token, items: list[Any], __: Token, end: Token) -> ast.Message:
    return ast.Message(word.text, tuple(items), _span(word, end))


# The parser prefers a semicolon that is there.
@rule("statement : PRINT LPAREN printables RPAREN", "statement : REJECT LPAREN printables RPAREN")
def p_unended_message(context: Any, word: Token, _: Token, items: list[Any], end: Token) -> ast.Message:
    span = _span(word, end)
    context.removed(f"{word.text}(...) without a semicolon has been removed from Stan", span, "write ; behind it")
    return ast.Message(word.text, tuple(items), span)


@rule("printables : printable", "printables : printables COMMA printable")
def p_printables(*items: Any) -> list[Any]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


@rule("printable : expression", "printable : string")
def p_printable(item: Any) -> Any:
    return item


@rule("string : STRING")
def p_string(t: Token) -> str:
    return t.text[1:-1]


@rule("statement : IF LPAREN expression RPAREN statement %prec BELOW_ELSE")
def p_if(word: Token, _: Token, condition: ast.Expression, __: Token, then: ast.Statement) -> ast.If:
    return ast.If(condition, then, None, _span(word, then))


@rule("statement : IF LPAREN expression RPAREN statement ELSE statement")
def p_if_else(word: Token, _: Token, condition: Any, __: Token, then: Any, ___: Token, otherwise: Any) -> ast.If:
    return ast.If(condition, then, otherwise, _span(word, otherwise))


@rule("statement : WHILE LPAREN expression RPAREN statement")
def p_while(word: Token, _: Token, condition: ast.Expression, __: Token, body: ast.Statement) -> ast.While:
    return ast.While(condition, body, _span(word, body))


@rule("statement : FOR LPAREN identifier IN expression COLON expression RPAREN statement")
def p_for(
    word: Token, _: Token, name: ast.Name, __: Token, lower: Any, ___: Token, upper: Any, ____: Token, body: Any
) -> ast.For:
    return ast.For(name, lower, upper, body, _span(word, body))


@rule("statement : FOR LPAREN identifier IN expression RPAREN statement")
def p_for_each(word: Token, _: Token, name: ast.Name, __: Token, e: Any, ___: Token, body: Any) -> ast.ForEach:
    return ast.ForEach(name, e, body, _span(word, body))


@rule("statement : PROFILE LPAREN string RPAREN braced")
def p_profile(word: Token, _: Token, name: str, __: Token, body: ast.Block) -> ast.Profile:
    return ast.Profile(name, body.body, _span(word, body))


# --- expressions -----------------------------------------------------------------------------------------------------

_ARITHMETIC = (
    "PLUS", "MINUS", "TIMES", "DIVIDE", "INTEGER_DIVIDE", "MODULO", "LEFT_DIVIDE", "ELT_TIMES", "ELT_DIVIDE", "POWER",
    "ELT_POWER",
)  # fmt: skip
_LOGICAL = ("OR", "AND", "EQUALS", "NOT_EQUALS", "LESS", "LEQ", "GREATER", "GEQ")


@rule("expression : expression QUESTION expression COLON expression")
def p_conditional(c: ast.Expression, _: Token, a: ast.Expression, __: Token, b: ast.Expression) -> ast.Conditional:
    return ast.Conditional(c, a, b, _span(c, b))


@rule(
    *(f"expression : expression {op} expression" for op in _ARITHMETIC + _LOGICAL),
    *(f"bound_expression : bound_expression {op} bound_expression" for op in _ARITHMETIC),
)
def p_binary(a: ast.Expression, op: Token, b: ast.Expression) -> ast.Binary:
    return ast.Binary(a, op.text, b, _span(a, b))


@rule("expression : expression ARROW expression")
def p_less_than_negative(a: ast.Expression, op: Token, b: ast.Expression) -> ast.Binary:
    minus = Span(op.span.source, op.span.start + 1, op.span.end)
    return ast.Binary(a, "<", _negated(minus, b), _span(a, b))


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
    return ast.Prefix(op.text, e, _span(op, e))


@rule("primary : primary TRANSPOSE")
def p_postfix(e: ast.Expression, op: Token) -> ast.Postfix:
    return ast.Postfix(e, op.text, _span(e, op))


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
def p_dotted_name(first: Any, *rest: Any) -> ast.DottedName:
    last = rest[-1] if isinstance(rest[-1], ast.Name) else _numbered(rest[-1])
    parts = _parts(first)
    return ast.DottedName((*parts, last), _span(parts[0], last))


@rule("numbered : identifier DOT_NUMBER", "numbered : numbered DOT_NUMBER")
def p_numbered(first: Any, number: Token) -> list[Any]:
    """`t.1`, an item of a tuple, or the beginning of the path to a layer of a network: `net.0.weight`."""
    return [*(first if isinstance(first, list) else [first]), number]


@rule("primary : numbered")
def p_numbered_item(context: Any, parts: list[Any]) -> ast.Expression:
    first, *numbers = parts
    made: ast.Expression = ast.Variable(first, first.span)
    for number in numbers:
        made = _item(context, made, number)
    return made


def _parts(first: Any) -> list[Any]:
    if isinstance(first, list):
        return [p if isinstance(p, ast.Name) else _numbered(p) for p in first]
    return list(first.parts) if isinstance(first, ast.DottedName) else [first]


def _numbered(number: Token) -> ast.Name:
    """A layer's number as a part of a path."""
    return ast.Name(number.text[1:], number.span)


@rule("identifier : IDENTIFIER", "identifier : TRUNCATE")
def p_identifier(t: Token) -> ast.Name:
    return _name(t)


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
    return ast.ArrayLiteral(tuple(items), _span(left, right))


@rule("primary : LBRACKET RBRACKET", "primary : LBRACKET expressions RBRACKET")
def p_row_vector_literal(left: Token, *rest: Any) -> ast.RowVectorLiteral:
    return ast.RowVectorLiteral(tuple(rest[0]) if len(rest) == 2 else (), _span(left, rest[-1]))


@rule("primary : identifier LPAREN RPAREN", "primary : identifier LPAREN expressions RPAREN")
def p_call(name: ast.Name, _: Token, *rest: Any) -> ast.Call:
    arguments = tuple(rest[0]) if len(rest) == 2 else ()
    # A density of one argument has nothing behind a bar: f_lpdf(y)
    conditional = len(arguments) == 1 and name.text.endswith(CONDITIONAL_SUFFIXES)
    return ast.Call(name, arguments, conditional, _span(name, rest[-1]))


CONDITIONAL_SUFFIXES = ("_lpdf", "_lupdf", "_lpmf", "_lupmf", "_cdf", "_lcdf", "_lccdf")


@rule(
    "primary : identifier LPAREN expression BAR RPAREN",
    "primary : identifier LPAREN expression BAR expressions RPAREN",
)
def p_conditional_call(name: ast.Name, _: Token, first: ast.Expression, __: Token, *rest: Any) -> ast.Call:
    arguments = (first, *(rest[0] if len(rest) == 2 else ()))
    return ast.Call(name, arguments, True, _span(name, rest[-1]))


@rule("primary : TARGET LPAREN RPAREN")
def p_target_value(word: Token, _: Token, end: Token) -> ast.TargetValue:
    return ast.TargetValue(_span(word, end))


@rule(
    "primary : LPAREN expression COMMA RPAREN",
    "primary : LPAREN expression COMMA expressions RPAREN",
)
def p_tuple_literal(left: Token, head: ast.Expression, _: Token, *rest: Any) -> ast.TupleLiteral:
    items = (head, *(rest[0] if len(rest) == 2 else ()))
    return ast.TupleLiteral(items, _span(left, rest[-1]))


@rule("primary : LPAREN expression RPAREN")
def p_paren(left: Token, e: ast.Expression, right: Token) -> ast.Paren:
    return ast.Paren(e, _span(left, right))


@rule("primary : primary DOT_NUMBER")
def p_tuple_item(context: Any, base: ast.Expression, number: Token) -> ast.TupleItem:
    return _item(context, base, number)


def _item(context: Any, base: ast.Expression, number: Token) -> ast.TupleItem:
    digits = number.text[1:].replace("_", "")
    if len(digits) > 9:
        context.error("the number of a tuple item is too large", number.span)
        digits = "1"
    return ast.TupleItem(base, int(digits), _span(base, number))


@rule("primary : primary LBRACKET indices RBRACKET")
def p_indexed(
    context: Any, base: ast.Expression, left: Token, indices: list[Any], right: Token
) -> ast.Indexed:
    if isinstance(base, ast.Postfix):
        context.removed("indices behind a transpose have been removed from Stan", left.span, "write (x')[i]")
    at = [i if i is not None else ast.RangeIndex(None, None, _span(left, right)) for i in indices]
    return ast.Indexed(base, tuple(at), _span(base, right))


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
def p_range_index(lower: Any, colon: Token, upper: Any) -> ast.RangeIndex:
    return ast.RangeIndex(lower, upper, _span(lower or colon, upper or colon))


@rule("expressions : expression", "expressions : expressions COMMA expression")
def p_expressions(*items: Any) -> list[ast.Expression]:
    return [items[0]] if len(items) == 1 else [*items[0], items[2]]


def p_error(t: Any) -> None:
    """PLY's error hook; the parser sets its own for every parse."""
    raise AssertionError("the parser's own hook is missing")
