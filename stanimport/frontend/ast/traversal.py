"""Walking over a syntax tree."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

from .nodes import Node


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below a node, in the order of its fields."""
    for name in _parts(type(node)):  # type: ignore[arg-type]  # classes are hashable
        yield from _nodes(getattr(node, name))


@cache
def _parts(kind: type[Node]) -> tuple[str, ...]:
    """The fields of a kind of node in which nodes can stand."""
    plain = {"span", "text", "operator", "kind", "conditional", "data_only", "number", "path"}
    return tuple(f.name for f in fields(kind) if f.name not in plain)


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def depth_exceeds(root: Node, limit: int) -> Node | None:
    """A node nested deeper than `limit` levels, or None. Uses no recursion."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > limit:
            return node
        stack.extend((c, depth + 1) for c in children(node))
    return None
