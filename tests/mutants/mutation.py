"""Mutations: each makes of a program, if it can, the edits that turn it into another one that should be valid.

Many leave the density as it is (a loop that runs backwards), others don't (another operator): Stan is the referee for
all. What the checker refuses is thrown away by who asks, so that they may try what only mostly works.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from stanimport.frontend import ast

from .view import Edit, Site, View

Mutation = Callable[[View, random.Random], "list[Edit] | None"]
MUTATIONS: dict[str, Mutation] = {}


def mutation(f: Mutation) -> Mutation:
    MUTATIONS[f.__name__] = f
    return f


def put(node: Any, text: str) -> Edit:
    return (node.span.start, node.span.end, text)


def before(node: Any, text: str) -> Edit:
    return (node.span.start, node.span.start, text)


def a_site(v: View, draw: random.Random, kind: Any = None, local: bool = True) -> Site | None:
    """A statement by lot, of a kind; those of the model thrice as often."""
    fit = [s for s in v.sites if (kind is None or isinstance(s.node, kind)) and (s.is_local or not local)]
    fit = [s for s in fit if not isinstance(s.node, (ast.Empty, ast.FunctionDefinition))]
    return draw.choices(fit, [3 if s.block == "model" else 1 for s in fit])[0] if fit else None


def an_expression(v: View, draw: random.Random, types: Any = None, kind: Any = None) -> tuple[Site, Any] | None:
    """An expression by lot that a statement reads, of some types."""
    fit = []
    for s in v.sites:
        if isinstance(s.node, (ast.FunctionDefinition, ast.Block, ast.Profile)):
            continue
        for e in v.expressions(s.node):
            if (types is None or v.type(e) in types) and (kind is None or isinstance(e, kind)) and v.type(e):
                fit.append((s, e))
    return draw.choice(fit) if fit else None


def in_braces(v: View, body: Any) -> str:
    text = v.of(body)
    return text if isinstance(body, ast.Block) else f"{{ {text} }}"


def renamed_in(v: View, node: Any, name: str, new: str) -> str:
    """The text of a node with an expression in the place of a variable."""
    return re.sub(rf"(?<![\w.]){name}\b", new, v.of(node))
