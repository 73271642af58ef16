"""Python's compiler takes at most 20 blocks inside of one another: deeper loops become functions in between."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from .names import Names

DEEPEST = 15  # loops inside of one another before a function is made; CPython's limit is 20 blocks of all kinds
_LOOPS = (ast.For, ast.While, ast.With)  # a loop that runs at once is a `with`
_SCOPES = (ast.FunctionDef, ast.Lambda, ast.GeneratorExp, ast.ListComp)


def limited(module: ast.Module) -> ast.Module:
    """The module with functions around loops that are nested too deep; changed in place."""
    for s in module.body:
        if isinstance(s, ast.FunctionDef):
            _function(s)
    return module


def _function(f: ast.FunctionDef) -> None:
    """Limit the nesting inside of a function, and of those in it."""
    for inner in _inner_functions(f.body):
        _function(inner)
    if _height(f.body) > DEEPEST:
        names = {n.arg for n in (*f.args.args, *f.args.kwonlyargs)}
        f.body = _Lifting(names, f).block(f.body)[0]


def _inner_functions(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """The functions that a body defines, not those inside of them."""
    for s in body:
        if isinstance(s, ast.FunctionDef):
            yield s
        else:
            for block in _blocks(s):
                yield from _inner_functions(block)


def _blocks(s: ast.stmt) -> list[list[ast.stmt]]:
    found = (getattr(s, name, None) for name in ("body", "orelse"))
    return [b for b in found if isinstance(b, list)] if isinstance(s, (*_LOOPS, ast.If)) else []


def _height(body: Sequence[ast.stmt]) -> int:
    """How many loops stand inside of one another, at most; functions begin anew."""
    heights = [isinstance(s, _LOOPS) + max(map(_height, _blocks(s)), default=0) for s in body]
    return max(heights, default=0)


class _Lifting:
    """Lifts loops of one function out into functions."""

    def __init__(self, arguments: set[str], function: ast.FunctionDef):
        self.arguments, self.function = arguments, function
        self.names = Names()
        self.names.taken |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name)} | arguments
        self.names.taken |= {n.name for n in ast.walk(function) if isinstance(n, ast.FunctionDef)}
        self.mentions, self.stores = _counts(function), _stores(function)

    def block(self, body: list[ast.stmt]) -> tuple[list[ast.stmt], int]:
        """The statements, and how many loops stand inside of one another in them now."""
        out: list[ast.stmt] = []
        height = 0
        for s in body:
            inside = 0
            for name in ("body", "orelse"):
                if _blocks(s) and getattr(s, name, None):  # a `with` has no `else`
                    made, h = self.block(getattr(s, name))
                    setattr(s, name, made)
                    inside = max(inside, h)
            if isinstance(s, _LOOPS):
                inside += 1
            if inside == DEEPEST:
                out += self._lifted(s)
                inside = 0
            else:
                out.append(s)
            height = max(height, inside)
        return out, height

    def _lifted(self, loop: ast.stmt) -> list[ast.stmt]:
        """`def block(): loop` and its call. What the loop sets and others read belongs to the function around."""
        place = {k: getattr(loop, k) for k in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
        name, inside = self.names.new("block"), _counts(loop)
        shared = sorted(n for n in _stored(loop) if self.mentions.get(n, 0) > inside.get(n, 0) or n in self.arguments)
        body: list[ast.stmt] = [ast.Nonlocal(names=shared, **place)] if shared else []
        returns = _mark_returns(loop)
        made = ast.FunctionDef(
            name=name, args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]),
            body=[*body, loop], decorator_list=[], returns=None, **place,
        )  # fmt: skip
        call = ast.Call(func=ast.Name(id=name, ctx=ast.Load(), **place), args=[], keywords=[], **place)
        own = _stores(loop)
        unset = [n for n in shared if n not in self.arguments and own.get(n) == self.stores.get(n)]
        bound = [_assign(n, ast.Constant(value=None, **place)) for n in unset]  # else nobody else sets them
        for n in unset:
            self.mentions[n] += 1
            self.stores[n] += 1
        if not returns:
            return [*bound, made, ast.Expr(value=call, **place)]
        result = self.names.new("returned")
        return [*bound, made, _assign(result, call), _leaving(result, place)]


def _leaving(result: str, place: dict[str, Any]) -> ast.stmt:
    """`if result is not None: return result[0]`."""
    given = ast.Name(id=result, ctx=ast.Load(), **place)
    left = ast.Compare(left=given, ops=[ast.IsNot()], comparators=[ast.Constant(value=None, **place)], **place)
    item = ast.Subscript(
        value=ast.Name(id=result, ctx=ast.Load(), **place), slice=ast.Constant(value=0, **place), ctx=ast.Load(),
        **place,
    )  # fmt: skip
    return ast.If(test=left, body=[ast.Return(value=item, **place)], orelse=[], **place)


def _assign(name: str, value: ast.expr) -> ast.stmt:
    made = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)
    return ast.fix_missing_locations(ast.copy_location(made, value))


def _counts(node: ast.AST) -> dict[str, int]:
    """How often names are mentioned, in functions inside too."""
    out: dict[str, int] = {}
    for n in ast.walk(node):
        if isinstance(n, ast.Name):
            out[n.id] = out.get(n.id, 0) + 1
        elif isinstance(n, ast.FunctionDef) and n is not node:
            out[n.name] = out.get(n.name, 0) + 1
    return out


def _stored(node: ast.AST) -> set[str]:
    """The names that a statement sets in its function: not those that functions inside of it set for themselves."""
    out: set[str] = set()
    stack: list[ast.AST] = [node]
    while stack:
        n = stack.pop()
        if isinstance(n, ast.FunctionDef):
            out.add(n.name)
            out |= {name for s in n.body if isinstance(s, ast.Nonlocal) for name in s.names}
        elif isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            out.add(n.id)
        if not isinstance(n, _SCOPES):
            stack += ast.iter_child_nodes(n)
    return out


def _stores(node: ast.AST) -> dict[str, int]:
    """How often names are set, in functions inside too."""
    out: dict[str, int] = {}
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            out[n.id] = out.get(n.id, 0) + 1
    return out


def _mark_returns(loop: ast.stmt) -> bool:
    """`return value` as `return (value,)`, so that the caller knows that it must return; whether there is any."""
    found = False
    stack: list[ast.AST] = [loop]
    while stack:
        n = stack.pop()
        if isinstance(n, ast.Return):
            found = True
            value = n.value or ast.copy_location(ast.Constant(value=None), n)
            n.value = ast.copy_location(ast.Tuple(elts=[value], ctx=ast.Load()), n)
        elif not isinstance(n, _SCOPES):
            stack += ast.iter_child_nodes(n)
    return found

