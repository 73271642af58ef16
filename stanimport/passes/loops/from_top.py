"""Statements rewritten from the top: a node is changed before its parts, which are those that it then has."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from ...ir import traversal


def rewrite(node: object, change: Callable[[object], object]) -> Any:
    """A node, or a tuple of nodes, with `change` applied to every node before its parts."""
    if isinstance(node, tuple):
        return tuple(rewrite(n, change) for n in node)
    if not isinstance(node, traversal.NODES):
        return node
    made: Any = change(node)
    new = {}
    for f in fields(made):
        old = getattr(made, f.name)
        if isinstance(old, traversal.NODES) or isinstance(old, tuple):
            part = rewrite(old, change)
            if part != old:
                new[f.name] = part
    return replace(made, **new) if new else made
