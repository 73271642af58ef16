"""Which functions and distributions of the library a program calls, by the names that it has for them."""
from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from stanlib import registry
from stanlib.registry import Function

from ..ir import gprob, traversal, typed
from . import ast
from .ast.traversal import children

_OF_DISTRIBUTIONS = ("_lpdf", "_lpmf", "_lupdf", "_lupmf", "_cdf", "_lcdf", "_lccdf")


class Called(NamedTuple):
    """Their names in order: of densities as they are written, of those that `~` adds without constants (`_lupdf`)."""

    functions: tuple[str, ...]
    distributions: tuple[str, ...]


def called(program: ast.Program, checked: typed.TypedProgram) -> Called:
    """What a program calls, given its typed program."""
    nodes = list(_walk(program))
    own = {n.name.text for n in nodes if isinstance(n, ast.FunctionDefinition)}
    own |= {re.sub("_l(p[dm]f)$", r"_lu\1", name) for name in own}
    found = {name for n in nodes for name in _names(n, own)}
    library = {n for n in found if n not in own or n in _resolved(checked)}
    distributions = {n for n in library if n.endswith(_OF_DISTRIBUTIONS)}
    return Called(tuple(sorted(library - distributions)), tuple(sorted(distributions)))


def _walk(root: ast.Node) -> Iterator[ast.Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += children(node)


def _names(node: ast.Node, own: Container[str]) -> Iterator[str]:
    """What a node itself calls."""
    if isinstance(node, (ast.Call, ast.CallStatement)):
        yield node.function.text
    elif isinstance(node, ast.Message):
        yield node.kind
    elif isinstance(node, ast.Tilde):
        family = node.distribution.text
        kind = "lpdf" if registry.is_known(f"{family}_lpdf") else "lpmf"
        if f"{family}_lpdf" not in own and f"{family}_lpmf" not in own:
            yield f"{family}_{kind.replace('l', 'lu', 1)}"


def _resolved(checked: typed.TypedProgram) -> set[str]:
    """The functions of the library that calls of an overloaded name mean."""
    bodies = (*checked.blocks.values(), *(f.body for f in checked.functions))
    calls = (n.function for body in bodies for n in traversal.walk(body) if isinstance(n, gprob.Apply))
    return {f.name for f in calls if isinstance(f, Function)}
