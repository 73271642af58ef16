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
    return builder(tree)(values)


def paths(tree: object) -> list[tuple[Any, ...]]:
    """The keys and indices that lead to each leaf of a tree, for many calls that take trees of one structure apart."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [(key, *path) for key in sorted(tree) for path in paths(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [(i, *path) for i, one in enumerate(tree) for path in paths(one)]
    return [()]


def builder(tree: object) -> Callable[[Iterator[object]], Any]:
    """What makes trees of this structure of the next values, for many calls."""
    if tree is None:
        return lambda values: None
    if isinstance(tree, dict):
        items = [(key, builder(tree[key])) for key in sorted(tree)]
        return lambda values: {key: build(values) for key, build in items}
    if isinstance(tree, (tuple, list)):
        parts, make = [builder(one) for one in tree], getattr(tree, "_make", type(tree))
        return lambda values: make([build(values) for build in parts])
    return next


def mapped(function: Callable[..., object], tree: object, *others: object) -> Any:
    """A tree of what the function makes of the leaves of trees of one structure."""
    every = zip(*map(leaves, (tree, *others)), strict=True)
    return filled(tree, (function(*one) for one in every))
