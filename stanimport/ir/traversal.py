"""Walking over GProb, and rebuilding it: what works on every kind of node."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any, TypeVar, overload

from . import gprob

NODES = (
    gprob.Expr, gprob.Stmt, gprob.Single, gprob.Multi, gprob.Range, gprob.Sized, gprob.Constraint, gprob.Distribution,
    gprob.Place, gprob.Step, gprob.Window,
)  # fmt: skip
Node = (
    gprob.Expr | gprob.Stmt | gprob.Single | gprob.Multi | gprob.Range | gprob.Sized | gprob.Constraint
    | gprob.Distribution | gprob.Place | gprob.Step | gprob.Window
)  # fmt: skip
N = TypeVar("N", bound=Node)
T = TypeVar("T")


def children(node: object) -> list[Node]:
    """The nodes directly below one."""
    out: list[Node] = []
    kind: Any = node.__class__
    for name in _fields_of(kind):
        value = getattr(node, name)
        if type(value) is tuple:
            _collect(value, out)
        elif value is not None and _is_node(value.__class__):
            out.append(value)
    return out


def _collect(values: tuple[Any, ...], out: list[Node]) -> None:
    for v in values:
        if type(v) is tuple:
            _collect(v, out)
        elif _is_node(v.__class__):
            out.append(v)


@cache
def _is_node(kind: Any) -> bool:
    return issubclass(kind, NODES)


# The annotations of fields that hold no nodes: names, numbers, records of the library.
_LEAVES = {
    "Type", "Span", "str", "int", "bool", "bool | None", "str | None", "int | None", "tuple[str, ...]",
    "tuple[tuple[str, str], ...]", "Function", "Union[str, Function]", "Loop | None", "Union[Function, str]",
    "Union[Function, str, None]", "Union[int, float, complex, str]",
}  # fmt: skip


def _parts(node: object) -> tuple[str, ...]:
    """The fields of a node that may hold other nodes."""
    kind: Any = type(node)
    return _fields_of(kind)


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.type not in _LEAVES)


def walk(node: object) -> Iterator[Node]:
    """A node (or tuple of nodes) and all below it."""
    stack: list[Any] = []
    if type(node) is tuple:
        _collect(node, stack)
    else:
        stack.append(node)
    while stack:
        top = stack.pop()
        yield top
        if _fields_of(top.__class__):
            stack += children(top)


@overload
def rewrite(node: gprob.Expr, change: Callable[[Any], object]) -> gprob.Expr: ...
@overload
def rewrite(node: gprob.Stmt, change: Callable[[Any], object]) -> gprob.Stmt: ...
@overload
def rewrite(node: tuple[gprob.Stmt, ...], change: Callable[[Any], object]) -> tuple[gprob.Stmt, ...]: ...
@overload
def rewrite(node: object, change: Callable[[Any], object]) -> Any: ...


def rewrite(node: object, change: Callable[[Any], object]) -> Any:
    """The node rebuilt from the bottom: `change` is applied to every node after its parts."""
    if isinstance(node, tuple):
        return _same_or_new(node, [rewrite(n, change) for n in node])
    if not isinstance(node, NODES):
        return node
    new: dict[str, Any] = {}
    for name in _parts(node):
        old = getattr(node, name)
        if isinstance(old, NODES) or isinstance(old, tuple):
            made = rewrite(old, change)
            if made is not old:
                new[name] = made
    return change(replace(node, **new) if new else node)


def substituted(node: T, values: Mapping[str, gprob.Expr]) -> T:
    """The node, or tuple of nodes, with expressions in place of variables."""
    whole: object = node
    made: T = rewrite(whole, lambda n: values.get(n.name, n) if isinstance(n, gprob.Var) else n)
    return made


def _same_or_new(old: tuple[object, ...], items: list[Any]) -> tuple[object, ...]:
    """The old tuple where no item has changed: whoever rewrites need not compare deep programs."""
    return old if all(a is b for a, b in zip(old, items)) else tuple(items)


def rewrite_parts(node: N, change: Callable[[gprob.Expr], gprob.Expr]) -> N:
    """The node with `change` applied to the expressions directly below it, those inside places and types included."""

    def below(value: object) -> Any:
        if isinstance(value, gprob.Expr):
            return change(value)
        if isinstance(value, tuple):
            return _same_or_new(value, list(map(below, value)))
        if isinstance(value, NODES) and not isinstance(value, gprob.Stmt):
            return rewrite_parts(value, change)
        return value

    new = {name: below(getattr(node, name)) for name in _parts(node)}
    new = {k: v for k, v in new.items() if v is not getattr(node, k)}
    return replace(node, **new) if new else node


def bodies(s: gprob.Stmt) -> tuple[tuple[gprob.Stmt, ...], ...]:
    """The blocks of statements inside a statement."""
    if isinstance(s, (gprob.For, gprob.ForEach, gprob.While, gprob.Recur)):
        return (s.body,)
    return (s.then, s.otherwise) if isinstance(s, gprob.If) else ()


def with_bodies(s: gprob.Stmt, change: Callable[[tuple[gprob.Stmt, ...]], tuple[gprob.Stmt, ...]]) -> gprob.Stmt:
    """The statement with `change` applied to the blocks inside it."""
    names = [name for name in ("body", "then", "otherwise") if name in _parts(s)] if bodies(s) else []
    new: dict[str, Any] = {name: change(getattr(s, name)) for name in names}
    new = {k: v for k, v in new.items() if v is not getattr(s, k)}
    return replace(s, **new) if new else s
