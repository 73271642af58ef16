"""Python syntax trees as data that every version of Python can read back, positions included.

Marshalled code belongs to one version of Python; text loses the Stan lines. So a translation that other versions are to
use keeps the tree itself: a flat list of nodes, children before their parents, that refers to nodes by number. No
recursion is needed, however deep the program.
"""
from __future__ import annotations

import ast
from typing import Any

# Fields of later versions of Python that must be there, and be empty, when an older version wrote the tree.
_NEW_LISTS = ("type_params",)
_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def encode(tree: ast.AST) -> list[Any]:
    """The tree as JSON-like values: [class, position, {field: value}] for each node, the root last."""
    order: list[ast.AST] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(ast.iter_child_nodes(node))
    order.reverse()
    numbers: dict[int, int] = {}
    nodes = []
    for number, node in enumerate(order):
        fields = {name: _encode_value(value, numbers) for name, value in ast.iter_fields(node)}
        position = [getattr(node, name, None) for name in _POSITION] if hasattr(node, "lineno") else None
        nodes.append([type(node).__name__, position, fields])
        numbers[id(node)] = number
    return nodes


def _encode_value(value: object, numbers: dict[int, int]) -> object:
    """The value of a field in JSON: a node by its number, complex numbers and `...` under keys of their own."""
    if isinstance(value, ast.AST):
        return {"node": numbers[id(value)]}
    if isinstance(value, list):
        return [_encode_value(v, numbers) for v in value]
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if value is Ellipsis:
        return {"ellipsis": True}
    raise TypeError(f"a tree with {value!r} can't be kept")


def decode(nodes: list[Any]) -> ast.Module:
    """The tree that `encode` took apart.

    Raises:
        ValueError: if it is no such tree, or one with syntax that this Python does not know.
    """
    made: list[ast.AST] = []
    try:
        for name, position, fields in nodes:
            made.append(_decode_node(name, position, fields, made))
    except (AttributeError, IndexError, KeyError, TypeError) as e:
        raise ValueError(f"no Python syntax tree: {e}") from e
    if not made or not isinstance(made[-1], ast.Module):
        raise ValueError("no Python syntax tree: it is no module")
    return made[-1]


def _decode_node(name: str, position: list[Any] | None, fields: dict[str, Any], made: list[ast.AST]) -> ast.AST:
    kind = getattr(ast, name)
    known = {k: _decode_value(v, made) for k, v in fields.items() if k in kind._fields}
    known |= {k: [] for k in _NEW_LISTS if k in kind._fields and k not in known}
    node: ast.AST = kind(**known)
    if position is not None:
        for attribute, value in zip(_POSITION, position):
            setattr(node, attribute, value)
    return node


def _decode_value(value: object, made: list[ast.AST]) -> object:
    """The value that `_encode_value` took apart; its nodes have been made before."""
    if isinstance(value, list):
        return [_decode_value(v, made) for v in value]
    if not isinstance(value, dict):
        return value
    if "node" in value:
        return made[value["node"]]
    if "complex" in value:
        return complex(*value["complex"])
    return Ellipsis
