"""Expressions and types, written with the comments in them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stanlib.constraints import PLAIN, all_words
from stanlib.types import Tuple as TupleType
from stanlib.types import Type

from ...source import Span
from .. import ast
from .boxes import EITHER, PACKED
from .comments import begin, end
from .writer import Writer


def expression(w: Writer, e: ast.Expression) -> None:
    """Write an expression."""
    _EXPRESSIONS[type(e)](w, e)


def expressions(w: Writer, items: Sequence[ast.Expression], around: Span) -> None:
    """Write expressions with commas."""
    w.listed(items, lambda e: expression(w, e), begin(around), end(around))


def _binary(w: Writer, e: ast.Binary) -> None:
    """A chain of operators, which leans to the left: in a loop, so that its length costs no recursion."""
    chain = list[ast.Binary]()
    node: ast.Expression = e
    while isinstance(node, ast.Binary):
        chain.append(node)
        w.page.open()
        node = node.left
    expression(w, node)
    for part in reversed(chain):
        at = begin(part.right.span)
        w.page.space()
        w.inside(w.comments.before_mark, at)
        w.page.text(part.operator)
        w.inside(w.comments.before, at, before="blank")  # a division's / would make a line comment of /* */
        w.page.text(" ")
        expression(w, part.right)
        w.page.close()


def _conditional(w: Writer, e: ast.Conditional) -> None:
    """Write a conditional; lines break in front of its marks."""
    with w.page.box():
        expression(w, e.condition)
        for mark, part in (("?", e.then), (":", e.otherwise)):
            at = begin(part.span)
            w.page.space()
            w.inside(w.comments.before_mark, at)
            w.page.text(mark + " ")
            w.inside(w.comments.before, at)
            expression(w, part)


def _prefix(w: Writer, e: ast.Prefix) -> None:
    w.inside(w.comments.before, begin(e.operand.span))
    w.page.text(e.operator)
    expression(w, e.operand)


def _postfix(w: Writer, e: ast.Postfix) -> None:
    expression(w, e.operand)
    w.page.text(e.operator)


def _call(w: Writer, e: ast.Call) -> None:
    """Write a call; behind the first argument of a conditional one stands | in place of a comma."""
    with w.arguments(e.function.text):
        if e.conditional and e.arguments:
            first, *rest = e.arguments
            expression(w, first)
            if not rest:
                w.inside(w.comments.before, end(e.span), before="space")
                return
            at = begin(rest[0].span)
            w.inside(w.comments.before_mark, at, before="space")
            w.page.text(" |")
            w.page.space()
            w.inside(w.comments.before, at)
            expressions(w, rest, e.span)
        else:
            expressions(w, e.arguments, e.span)


def _bracketed(left: str, right: str) -> Callable[[Writer, Any], None]:
    """A literal of items in brackets."""

    def write(w: Writer, e: Any) -> None:
        w.page.text(left)
        with w.page.box():
            expressions(w, e.items, e.span)
            w.page.text(right)

    return write


def _tuple(w: Writer, e: ast.TupleLiteral) -> None:
    w.page.text("(")
    with w.page.box(EITHER):
        expressions(w, e.items, e.span)
        w.page.text("," if len(e.items) == 1 else "")
    w.page.text(")")


def target(w: Writer, e: ast.Expression) -> None:
    """What is assigned to."""
    if not isinstance(e, ast.TupleLiteral):
        expression(w, e)
        return
    w.page.text("(")
    with w.page.box():
        w.listed(e.items, lambda item: target(w, item), begin(e.span), end(e.span))
        w.page.text("," if len(e.items) == 1 else "")
    w.page.text(")")


def _paren(w: Writer, e: ast.Paren) -> None:
    w.page.text("(")
    expression(w, e.inner)
    w.page.text(")")


def _indexed(w: Writer, e: ast.Indexed) -> None:
    expression(w, e.base)
    w.page.text("[")
    w.flat_list(e.indices, lambda i: _index(w, i))
    w.page.text("]")


def _index(w: Writer, i: ast.Index) -> None:
    if isinstance(i, ast.SingleIndex):
        expression(w, i.value)
        return
    if i.lower is not None:
        expression(w, i.lower)
    w.page.text(" : ")
    if i.upper is not None:
        expression(w, i.upper)


def _item(w: Writer, e: ast.TupleItem) -> None:
    expression(w, e.base)
    w.page.text(f".{e.number}")


_EXPRESSIONS: dict[type, Callable[[Writer, Any], None]] = {
    ast.Variable: lambda w, e: w.page.text(e.name.text),
    ast.DottedName: lambda w, e: w.page.text(e.text),
    ast.IntLiteral: lambda w, e: w.page.text(e.text),
    ast.RealLiteral: lambda w, e: w.page.text(e.text),
    ast.ImaginaryLiteral: lambda w, e: w.page.text(f"{e.text}i"),
    ast.TargetValue: lambda w, e: w.page.text("target()"),
    ast.Prefix: _prefix, ast.Postfix: _postfix, ast.Binary: _binary, ast.Conditional: _conditional, ast.Paren: _paren,
    ast.ArrayLiteral: _bracketed("{", "}"), ast.RowVectorLiteral: _bracketed("[", "]"), ast.TupleLiteral: _tuple,
    ast.Call: _call, ast.Indexed: _indexed, ast.TupleItem: _item,
}  # fmt: skip

# --- types -----------------------------------------------------------------------------------------------------------


def unsized_type(w: Writer, t: Type) -> None:
    """The type of an argument or of what a function returns."""
    text = str(t)
    inner = t
    while hasattr(inner, "element"):
        inner = inner.element
    if not isinstance(inner, TupleType):
        w.page.text(text)
        return
    w.page.text(text[: text.index("tuple(")] + "tuple(")
    with w.page.box():
        w.separated(inner.items, lambda item: unsized_type(w, item))
        w.page.text("," if len(inner.items) == 1 else "")
    w.page.text(")")


def sized_type(w: Writer, t: ast.SizedType) -> None:
    """The type of a variable."""
    if isinstance(t, ast.SizedArray):
        sizes, element = t.joined
        w.page.text("array[")
        with w.page.box():
            w.listed(sizes, lambda e: expression(w, e), begin(sizes[0].span), end(sizes[-1].span))
            w.page.text("]")
        w.page.space()
        sized_type(w, element)
    elif isinstance(t, ast.SizedTuple):
        w.page.text("tuple(")
        with w.page.box():
            w.separated(t.items, lambda item: sized_type(w, item))
            w.page.text("," if len(t.items) == 1 else "")
        w.page.text(")")
    else:
        _primitive(w, t)


def _primitive(w: Writer, t: ast.SizedPrimitive) -> None:
    """Write a type that holds no other: by its constraint's name if that is a type; a size given once stays one."""
    sizes = t.sizes
    if t.constraint is not None and t.constraint.kind not in PLAIN:
        w.page.text(t.constraint.kind)
        sizes = sizes[:1] if len(sizes) == 2 and sizes[0].span == sizes[1].span else sizes  # written once
    else:
        w.page.text(str(t.base))
        _bounds(w, t.constraint)
    if sizes:
        with w.page.box(PACKED, 1):
            w.page.text("[")
            w.separated(sizes, lambda size: expression(w, size))
            w.page.text("]")


def _bounds(w: Writer, constraint: ast.Constraint | None) -> None:
    if constraint is None:
        return
    w.page.text("<")
    with w.page.box():
        w.separated(sorted(constraint.arguments, key=lambda a: all_words().index(a[0])), lambda a: _argument(w, *a))
    w.page.text(">")


def _argument(w: Writer, name: str, value: ast.Expression) -> None:
    w.page.text(f"{name}=")
    expression(w, value)
