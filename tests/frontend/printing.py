"""Stan text of a syntax tree, in one canonical layout: parsing it must give the same tree again.

Comments are not kept, included files are in place, deprecated forms are written in today's syntax, and numbers and
parentheses stay as they were written.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from stanimport.frontend import ast

_INDENT = "  "
_PLAIN = ("bounds", "offset_multiplier")  # constraints that are no types


def program_text(program: ast.Program) -> str:
    """The text of a whole program, one statement a line."""
    return "".join(f"{block.name} {_braced(block.body, '')}\n" for block in program.blocks)


def statement_text(s: ast.Statement, indent: str = "") -> str:
    """The text of a statement, without the end of its last line."""
    return "\n".join(_statement(s, indent))


def expression_text(e: ast.Expression) -> str:
    """The text of an expression."""
    if isinstance(e, ast.Binary):
        return _chain(e)
    return _EXPRESSIONS[type(e)](e)


# --- expressions -----------------------------------------------------------------------------------------------------


def _chain(e: ast.Binary) -> str:
    """A chain of operators, which leans to the left: in a loop, so that its length costs no recursion."""
    parts: list[str] = []
    node: ast.Expression = e
    while isinstance(node, ast.Binary):
        parts.append(f" {node.operator} {expression_text(node.right)}")
        node = node.left
    return expression_text(node) + "".join(reversed(parts))


def _list(items: Iterable[ast.Expression]) -> str:
    return ", ".join(map(expression_text, items))


def _call(e: ast.Call) -> str:
    if not e.conditional:
        return f"{e.function.text}({_list(e.arguments)})"
    first, *rest = e.arguments
    return f"{e.function.text}({expression_text(first)} | {_list(rest)})"


def _conditional(e: ast.Conditional) -> str:
    return " ".join((expression_text(e.condition), "?", expression_text(e.then), ":", expression_text(e.otherwise)))


def _tuple(e: ast.TupleLiteral) -> str:
    return f"({_list(e.items)}{',' if len(e.items) == 1 else ''})"


def _indexed(e: ast.Indexed) -> str:
    return f"{expression_text(e.base)}[{', '.join(map(_index, e.indices))}]"


def _index(i: ast.Index) -> str:
    if isinstance(i, ast.SingleIndex):
        return expression_text(i.value)
    lower, upper = ("" if b is None else expression_text(b) for b in (i.lower, i.upper))
    return f"{lower} : {upper}".strip()


_EXPRESSIONS: dict[type, Callable[[Any], str]] = {
    ast.Variable: lambda e: e.name.text,
    ast.DottedName: lambda e: e.text,
    ast.IntLiteral: lambda e: e.text,
    ast.RealLiteral: lambda e: e.text,
    ast.ImaginaryLiteral: lambda e: f"{e.text}i",
    ast.Prefix: lambda e: e.operator + expression_text(e.operand),
    ast.Postfix: lambda e: expression_text(e.operand) + e.operator,
    ast.Conditional: _conditional,
    ast.Paren: lambda e: f"({expression_text(e.inner)})",
    ast.ArrayLiteral: lambda e: f"{{{_list(e.items)}}}",
    ast.RowVectorLiteral: lambda e: f"[{_list(e.items)}]",
    ast.TupleLiteral: _tuple,
    ast.Call: _call,
    ast.TargetValue: lambda e: "target()",
    ast.Indexed: _indexed,
    ast.TupleItem: lambda e: f"{expression_text(e.base)}.{e.number}",
}  # fmt: skip

# --- types -----------------------------------------------------------------------------------------------------------


def _type(t: ast.SizedType) -> str:
    if isinstance(t, ast.SizedArray):
        sizes, element = t.joined
        return f"array[{_list(sizes)}] {_type(element)}"
    if isinstance(t, ast.SizedTuple):
        return f"tuple({', '.join(map(_type, t.items))}{',' if len(t.items) == 1 else ''})"
    name, sizes, bounds = str(t.base), list(t.sizes), ""
    if t.constraint is not None and t.constraint.kind not in _PLAIN:
        name = t.constraint.kind
        sizes = sizes[:1] if len(sizes) == 2 and sizes[0] is sizes[1] else sizes
    elif t.constraint is not None:
        bounds = f"<{', '.join(f'{n}={expression_text(e)}' for n, e in t.constraint.arguments)}>"
    return f"{name}{bounds}" + (f"[{_list(sizes)}]" if sizes else "")


def _declarations(s: ast.Declaration) -> Iterator[str]:
    """One declaration, or several where the old syntax gave its variables different types."""
    for group in s.groups:
        yield f"{_type(group[0].type)} {', '.join(map(_declarator, group))};"


def _declarator(d: ast.Declarator) -> str:
    return d.name.text if d.value is None else f"{d.name.text} = {expression_text(d.value)}"


def _signature(result: object, name: str, arguments: Sequence[ast.Argument]) -> str:
    shown = (f"{'data ' if a.data_only else ''}{a.type} {a.name.text}" for a in arguments)
    return f"{result} {name}({', '.join(shown)})"


# --- statements ------------------------------------------------------------------------------------------------------


def _statement(s: ast.Statement, indent: str) -> Iterator[str]:
    """The lines of a statement."""
    if isinstance(s, ast.Declaration):
        yield from (indent + line for line in _declarations(s))
    elif isinstance(s, ast.If):
        yield from _if(s, indent)
    elif type(s) in _HEADS:
        yield from _with_body(_HEADS[type(s)](s), s.body, indent)  # type: ignore[union-attr, arg-type]
    elif isinstance(s, ast.Block):
        yield indent + _braced(s.body, indent)
    elif isinstance(s, ast.Profile):
        yield f'{indent}profile("{s.name}") ' + _braced(s.body, indent)
    else:
        yield indent + _SIMPLE[type(s)](s)


def _braced(body: Sequence[ast.Statement], indent: str) -> str:
    lines = [line for s in body for line in _statement(s, indent + _INDENT)]
    return "\n".join(("{", *lines, indent + "}"))


def _with_body(head: str, body: ast.Statement, indent: str) -> Iterator[str]:
    """A head with its body: braces follow on its line, another statement on the next."""
    if isinstance(body, ast.Block):
        yield f"{indent}{head} {_braced(body.body, indent)}"
    elif isinstance(body, ast.Empty):
        yield f"{indent}{head};"
    else:
        yield indent + head
        yield from _statement(body, indent + _INDENT)


def _if(s: ast.If, indent: str) -> Iterator[str]:
    """A chain of if and else if, in a loop, so that its length costs no recursion."""
    head, rest, lines = "if", s, [""]
    while True:
        _join(lines, _with_body(f"{head} ({expression_text(rest.condition)})", rest.then, indent), indent)
        if not isinstance(rest.otherwise, ast.If):
            break
        head, rest = "else if", rest.otherwise
    if rest.otherwise is not None:
        _join(lines, _with_body("else", rest.otherwise, indent), indent)
    yield from lines[1:]


def _join(lines: list[str], more: Iterator[str], indent: str) -> None:
    """Add lines; an else stands behind the brace before it."""
    first = next(more)
    if lines[-1].endswith(f"\n{indent}}}"):
        lines[-1] += f" {first[len(indent):]}"
    else:
        lines.append(first)
    lines += more


def _for(s: ast.For) -> str:
    return f"for ({s.variable.text} in {expression_text(s.lower)} : {expression_text(s.upper)})"


_HEADS: dict[type, Callable[[Any], str]] = {
    ast.For: _for,
    ast.ForEach: lambda s: f"for ({s.variable.text} in {expression_text(s.container)})",
    ast.While: lambda s: f"while ({expression_text(s.condition)})",
    ast.FunctionDefinition: lambda s: _signature(s.result, s.name.text, s.arguments),
}


def _tilde(s: ast.Tilde) -> str:
    end = ""
    if s.truncation is not None:
        bounds = ("" if b is None else expression_text(b) for b in (s.truncation.lower, s.truncation.upper))
        end = f" T[{', '.join(bounds)}]"
    return f"{expression_text(s.value)} ~ {s.distribution.text}({_list(s.arguments)}){end};"


def _message(s: ast.Message) -> str:
    items = (f'"{i}"' if isinstance(i, str) else expression_text(i) for i in s.items)
    return f"{s.kind}({', '.join(items)});"


_SIMPLE: dict[type, Callable[[Any], str]] = {
    ast.Assignment: lambda s: f"{expression_text(s.target)} {s.operator} {expression_text(s.value)};",
    ast.CallStatement: lambda s: f"{s.function.text}({_list(s.arguments)});",
    ast.Tilde: _tilde,
    ast.Increment: lambda s: f"{s.kind} += {expression_text(s.value)};",
    ast.Break: lambda s: "break;",
    ast.Continue: lambda s: "continue;",
    ast.Return: lambda s: "return;" if s.value is None else f"return {expression_text(s.value)};",
    ast.Message: _message,
    ast.Empty: lambda s: ";",
    ast.NetworkDeclaration: lambda s: f"{_signature(s.result, s.path, s.arguments)};",
}
