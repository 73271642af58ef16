"""Programs in fewer forms, as `stanc --canonicalize` makes them: what they mean stays the same."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, get_args

from .. import ast

_LOOSE = (ast.Binary, ast.Prefix, ast.Postfix, ast.Conditional)
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_EXPRESSIONS = get_args(ast.Expression)


def without_forward_declarations(program: ast.Program) -> ast.Program:
    """Without the declarations of functions that are defined, too: definitions may stand in any order."""
    block = program.block("functions")
    if block is None:
        return program
    functions = [s for s in block.body if isinstance(s, ast.FunctionDefinition)]
    defined = {_signature(f) for f in functions if not isinstance(f.body, ast.Empty)}
    kept = tuple(s for s in block.body if not (
        isinstance(s, ast.FunctionDefinition) and isinstance(s.body, ast.Empty) and _signature(s) in defined
    ))  # fmt: skip
    blocks = tuple(replace(b, body=kept) if b is block else b for b in program.blocks)
    return replace(program, blocks=blocks)


def _signature(f: ast.FunctionDefinition) -> tuple[object, ...]:
    return (f.name.text, *(a.type for a in f.arguments))


# --- parentheses -----------------------------------------------------------------------------------------------------


def without_parentheses(node: object) -> Any:
    """A tree without the parentheses that say nothing."""
    if isinstance(node, ast.For):
        return replace(node, lower=_operand(node.lower), upper=_operand(node.upper),
                       body=without_parentheses(node.body))  # fmt: skip
    if isinstance(node, ast.Constraint):
        return replace(node, arguments=tuple((n, _operand(e)) for n, e in node.arguments))
    return _bare(node) if isinstance(node, _EXPRESSIONS) else rebuilt(node, without_parentheses)


def _bare(e: object) -> Any:
    """An expression that stands by itself."""
    if isinstance(e, ast.Paren):
        return _bare(e.inner)
    if isinstance(e, ast.Binary):
        return _chain(e)
    if isinstance(e, ast.Indexed):
        return replace(e, base=_operand(e.base), indices=tuple(map(_index, e.indices)))
    return rebuilt(e, _operand if isinstance(e, (*_LOOSE, ast.TupleItem)) else _bare)


def _index(i: ast.Index) -> ast.Index:
    return replace(i, value=_bare(i.value)) if isinstance(i, ast.SingleIndex) else rebuilt(i, _operand)


def _chain(e: ast.Binary) -> ast.Expression:
    """A chain of operators, in a loop; of comparisons one that is compared gets parentheses."""
    chain = [e]
    while isinstance(chain[-1].left, ast.Binary):
        chain.append(chain[-1].left)
    left: ast.Expression = _operand(chain[-1].left)
    for part in reversed(chain):
        if isinstance(left, ast.Binary) and left.operator in _COMPARISONS and part.operator in _COMPARISONS:
            left = ast.Paren(left, left.span)
        left = replace(part, left=left, right=_operand(part.right))
    return left


def _operand(e: object) -> Any:
    """An expression inside another: an operator keeps its parentheses, once."""
    if not isinstance(e, ast.Paren):
        return _bare(e)
    if isinstance(e.inner, ast.Paren):
        return _operand(e.inner)
    return ast.Paren(_bare(e.inner), e.span) if isinstance(e.inner, _LOOSE) else _bare(e.inner)


# --- braces ----------------------------------------------------------------------------------------------------------


def with_braces(node: object) -> Any:
    """A tree whose loops and branches all have blocks."""
    if isinstance(node, (ast.While, ast.For, ast.ForEach)):
        return replace(node, body=_block(node.body))
    if isinstance(node, ast.If):
        return _branches(node)
    return node if isinstance(node, _EXPRESSIONS) else rebuilt(node, with_braces)


def _branches(s: ast.If) -> ast.If:
    """A chain of if and else if, in a loop; an else whose block is nothing but an if goes on with it."""
    chain = [s]
    while (following := _only_if(chain[-1].otherwise)) is not None:
        chain.append(following)
    last = chain[-1].otherwise
    otherwise: Any = None if last is None else _block(last)
    for part in reversed(chain[1:]):
        otherwise = replace(part, then=_block(part.then), otherwise=otherwise)
    return replace(s, then=_block(s.then), otherwise=otherwise)


def _only_if(s: ast.Statement | None) -> ast.If | None:
    if isinstance(s, ast.Block) and len(s.body) == 1:
        s = s.body[0]
    return s if isinstance(s, ast.If) else None


def with_needed_braces(node: object) -> Any:
    """A tree with a block around each body that declares variables of different types, as the old syntax could."""
    made = node if isinstance(node, _EXPRESSIONS) else rebuilt(node, with_needed_braces)
    if isinstance(made, (ast.While, ast.For, ast.ForEach)):
        return replace(made, body=_several(made.body))
    if isinstance(made, ast.If):
        return replace(made, then=_several(made.then), otherwise=made.otherwise and _several(made.otherwise))
    return made


def _several(s: ast.Statement) -> ast.Statement:
    return ast.Block((s,), s.span) if isinstance(s, ast.Declaration) and len(s.groups) > 1 else s


def _block(s: ast.Statement) -> ast.Block:
    inner: ast.Block = rebuilt(s if isinstance(s, ast.Block) else ast.Block((s,), s.span), with_braces)
    return inner


# --- rebuilding ------------------------------------------------------------------------------------------------------


def rebuilt(node: object, change: Callable[[Any], object]) -> Any:
    """A node with each node directly below it changed."""
    if not isinstance(node, ast.Node):
        return node
    made = {f.name: _changed(getattr(node, f.name), change) for f in fields(node) if f.name != "span"}
    new = replace(node, **{n: v for n, v in made.items() if v is not getattr(node, n)})
    if isinstance(node, ast.Declaration) and isinstance(new, ast.Declaration):
        return _of_one_type(node, new)
    return new


def _of_one_type(old: ast.Declaration, new: ast.Declaration) -> ast.Declaration:
    """A changed declaration whose variables are still of one type, one object, where they were."""
    types = {id(d.type): made.type for d, made in zip(old.declarators, new.declarators)}
    shared = (replace(made, type=types[id(d.type)]) for d, made in zip(old.declarators, new.declarators))
    return replace(new, declarators=tuple(shared))


def _changed(value: object, change: Callable[[Any], object]) -> object:
    if isinstance(value, tuple):
        return tuple(_changed(v, change) for v in value)
    return change(value) if isinstance(value, ast.Node) else value


def shape(node: object) -> Any:
    """A tree as data, equal for programs that differ in layout and in syntax of old: without places, with every
    variable in a declaration of its own and bounds in one order."""
    if isinstance(node, ast.SizedArray) and isinstance(node.element, ast.SizedArray):
        inner = node.element
        return shape(replace(node, sizes=(*node.sizes, *inner.sizes), element=inner.element))
    if isinstance(node, ast.Constraint):
        return node.kind, tuple(sorted((n, shape(e)) for n, e in node.arguments))
    if isinstance(node, ast.Node):
        return (type(node).__name__, *(shape(getattr(node, f.name)) for f in fields(node) if f.name != "span"))
    if isinstance(node, tuple):
        return tuple(shape(one) for item in node for one in _single(item))
    return node


def _single(item: object) -> Any:
    if not isinstance(item, ast.Declaration):
        return (item,)
    return [replace(item, declarators=(d,)) for d in item.declarators]
