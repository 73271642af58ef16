"""Walking over GProb, and rebuilding it: what works on every kind of node."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
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
    return _BELOW[node.__class__](node)


class _Below(dict[type, Callable[[object], list[Node]]]):
    """For every kind of node a function that lists what is directly below, which passes ask for most often.

    Their annotations tell in which fields there is always a node, or a tuple of nodes: these are not looked into.
    """

    def __missing__(self, kind: type) -> Callable[[object], list[Node]]:
        parts = [self._part(name, annotation) for name, annotation in _fields_of(kind).items()]
        made: Callable[[object], list[Node]] = eval(f"lambda node: [{', '.join(parts)}]", {"found": _found})
        self[kind] = made
        return made

    def _part(self, name: str, annotation: str) -> str:
        annotation = annotation.replace("gprob.", "")
        if annotation in _NAMES:
            return f"node.{name}"
        if annotation.removesuffix(" | None") in _NAMES:
            return f"*(() if node.{name} is None else (node.{name},))"
        is_flat = annotation.removeprefix("tuple[").removesuffix(", ...]") in _NAMES
        return f"*node.{name}" if is_flat else f"*found(node.{name})"


_BELOW = _Below()
_NAMES = {"IndexExpr", *(kind.__name__ for kind in NODES)}  # in annotations, of what is always a node


def _found(value: object) -> list[Node]:
    """The nodes in what a field holds: one, none, or those of a tuple."""
    out: list[Node] = []
    _collect((value,), out)
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


@cache
def _fields_of(kind: Any) -> dict[str, str]:
    """The fields of a kind of node that may hold other nodes, and their annotations."""
    return {f.name: str(f.type) for f in fields(kind) if f.type not in _LEAVES}


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
        stack += _BELOW[top.__class__](top)


@overload
def rewrite(node: gprob.Expr, change: Callable[[Any], object]) -> gprob.Expr: ...
@overload
def rewrite(node: gprob.Stmt, change: Callable[[Any], object]) -> gprob.Stmt: ...
@overload
def rewrite(node: tuple[gprob.Stmt, ...], change: Callable[[Any], object]) -> tuple[gprob.Stmt, ...]: ...
@overload
def rewrite(node: object, change: Callable[[Any], object]) -> Any: ...


def rewrite(node: Any, change: Callable[[Any], object]) -> Any:
    """The node rebuilt from the bottom: `change` is applied to every node after its parts."""
    kind = node.__class__
    if kind is tuple:
        return _same_or_new(node, [rewrite(n, change) for n in node])
    if not _is_node(kind):
        return node
    new: dict[str, Any] = {}
    for name in _fields_of(kind):
        old = getattr(node, name)
        if type(old) is tuple or _is_node(old.__class__):
            made = rewrite(old, change)
            if made is not old:
                new[name] = made
    return change(rebuilt(node, new) if new else node)


def substituted(node: T, values: Mapping[str, gprob.Expr]) -> T:
    """The node, or tuple of nodes, with expressions in place of variables."""
    whole: object = node
    made: T = rewrite(whole, lambda n: values.get(n.name, n) if isinstance(n, gprob.Var) else n)
    return made


def rebuilt(node: N, new: Mapping[str, object]) -> N:
    """The node with other values of some fields: `dataclasses.replace` in half the time, as passes rebuild a lot."""
    kind: type = type(node)
    made: N = kind(*[new[n] if n in new else getattr(node, n) for n in _names_of(kind)])
    return made


@cache
def _names_of(kind: type[Node]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


def _same_or_new(old: tuple[object, ...], items: list[Any]) -> tuple[object, ...]:
    """The old tuple where no item has changed: whoever rewrites need not compare deep programs."""
    return old if all(a is b for a, b in zip(old, items)) else tuple(items)


def rewrite_parts(node: N, change: Callable[[gprob.Expr], gprob.Expr]) -> N:
    """The node with `change` applied to the expressions directly below it, those inside places and types included."""

    def below(value: Any) -> Any:
        if type(value) is tuple:
            return _same_or_new(value, list(map(below, value)))
        if isinstance(value, gprob.Expr):
            return change(value)
        if not _is_node(value.__class__) or isinstance(value, gprob.Stmt):
            return value
        return rewrite_parts(value, change)

    kind: type = type(node)
    new = {name: below(getattr(node, name)) for name in _fields_of(kind)}
    new = {k: v for k, v in new.items() if v is not getattr(node, k)}
    return rebuilt(node, new) if new else node


def bodies(s: gprob.Stmt) -> tuple[tuple[gprob.Stmt, ...], ...]:
    """The blocks of statements inside a statement."""
    tell = _BODIES.get(type(s))
    return () if tell is None else tell(s)


_BODIES: dict[type, Callable[..., tuple[tuple[gprob.Stmt, ...], ...]]] = {
    **dict.fromkeys((gprob.For, gprob.ForEach, gprob.While, gprob.Recur), lambda s: (s.body,)),
    gprob.If: lambda s: (s.then, s.otherwise),
}


def with_bodies(s: gprob.Stmt, change: Callable[[tuple[gprob.Stmt, ...]], tuple[gprob.Stmt, ...]]) -> gprob.Stmt:
    """The statement with `change` applied to the blocks inside it."""
    kind: type = type(s)
    names = [name for name in ("body", "then", "otherwise") if name in _fields_of(kind)] if bodies(s) else []
    new: dict[str, Any] = {name: change(getattr(s, name)) for name in names}
    new = {k: v for k, v in new.items() if v is not getattr(s, k)}
    return rebuilt(s, new) if new else s
