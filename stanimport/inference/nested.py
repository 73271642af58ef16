"""Arrays in tuples, lists and dicts, in the order in which JAX counts them, without loading JAX."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def leaves(tree: object) -> list[Any]:
    """What stands in a tree, from left to right; dicts in the order of their keys, and nothing for None."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for one in tree for leaf in leaves(one)]
    return [tree]


def filled(tree: object, values: Iterator[object]) -> Any:
    """A tree of this structure with the next values as its leaves."""
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: filled(tree[key], values) for key in sorted(tree)}
    if isinstance(tree, (tuple, list)):
        made = [filled(one, values) for one in tree]
        return tree._make(made) if hasattr(tree, "_make") else type(tree)(made)
    return next(values)


def mapped(function: Callable[..., object], tree: object, *others: object) -> Any:
    """A tree of what the function makes of the leaves of trees of one structure."""
    every = zip(*map(leaves, (tree, *others)), strict=True)
    return filled(tree, (function(*one) for one in every))
