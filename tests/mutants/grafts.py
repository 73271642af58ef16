"""Statements of other published programs, grafted on a program: their variables become small local ones."""

from __future__ import annotations

import random
import re
from functools import lru_cache
from pathlib import Path

from stanimport.frontend import ast
from stanlib.errors import StanError

from . import pieces
from .mutation import mutation
from .published import text_of
from .view import Edit, Scoped, Site, View, names_in

DONORS: list[Path] = []  # programs whose statements may be grafted
SIZE = 3  # of local containers
LONGEST = 1500  # characters of a statement
SHAPES = {
    "real": ("real", "{x}"), "vector": ("vector[3]", "[{x}, 0.4, {x} / 2]'"),
    "row_vector": ("row_vector[3]", "[{x}, 0.4, {x} / 2]"),
    "matrix": ("matrix[3, 3]", "[[1 + square({x}), 0.2, {x} / 9], [0.2, 2, 0.1], [{x} / 9, 0.1, 3]]"),
    "array[] real": ("array[3] real", "{{{x}, 0.3, {x} * 2}}"),
    "array[,] real": ("array[3, 3] real", "rep_array({x}, 3, 3)"),
    "array[] vector": ("array[3] vector[3]", "{{[{x}, 0.4, 1]', [0.1, {x}, 2]', [1, 2, {x}]'}}"),
    "array[] matrix": ("array[3] matrix[3, 3]", "rep_array(add_diag(rep_matrix({x}, 3, 3), 2), 3)"),
    "int": ("int", "{n}"), "array[] int": ("array[3] int", "{{{n}, 1, {n}}}"),
    "array[,] int": ("array[3, 3] int", "{{{{1, {n}, 3}}, {{{n}, 1, 2}}, {{3, 1, {n}}}}}"),
}  # fmt: skip
NUMBERS = {False: (0, 1, 1, 1, 2, 3), True: (1, 2, 2, 3, 3)}  # for arrays, which are often data, and for sizes
WRITTEN_TO = ("real", "vector", "row_vector", "matrix", "array[] real")


@lru_cache(maxsize=40)
def _statements(path: Path) -> tuple[View, tuple[Site, ...]] | None:
    """The statements of a program that can be grafted."""
    text = text_of(path)
    try:
        view = View(text or "")
    except StanError:
        return None
    own = {s.node.name.text for s in view.sites if isinstance(s.node, ast.FunctionDefinition)}
    called = re.compile(rf"\b({'|'.join([*own, 'return', '[a-z_]*_rng', '[a-z_]*_lp'])})\b")
    fit = tuple(s for s in view.sites if s.is_local and s.block in ("model", "transformed parameters", "functions")
                and len(view.of(s.node)) <= LONGEST and not called.search(view.of(s.node))
                and not isinstance(s.node, (ast.Empty, ast.Break, ast.Continue)))  # fmt: skip
    return view, fit


@mutation
def grafted(v: View, draw: random.Random) -> list[Edit] | None:
    """A statement of another program before one of the model, or of a function with arguments."""
    fit = [s for s in v.sites if s.is_local and s.block == "model"]
    donor = _statements(draw.choice(DONORS)) if DONORS and fit else None
    if donor is None or not donor[1]:
        return None
    longer = sorted(draw.sample(donor[1], min(3, len(donor[1]))), key=lambda t: len(donor[0].of(t.node)))
    place, part = draw.choice(fit), longer[-1]
    text = _with_locals(donor[0], part, place, v, draw)
    if text is None:
        return None
    start, end = place.node.span.start, place.node.span.end
    return [(start, start, f"{{ {text} "), (end, end, " }")]


def _with_locals(donor: View, part: Site, place: Site, v: View, draw: random.Random) -> str | None:
    """A statement behind declarations of all that it reads; what it writes is added to the target."""
    text, before, after = donor.of(part.node), [], []
    body = text
    for name in sorted(names_in(part.node)):
        scoped = part.scope.get(name)
        if scoped is None:
            continue  # a variable of its own
        if scoped.type not in SHAPES:
            return None
        new = pieces.fresh(draw, v.text + text, "g")
        body = re.sub(rf"(?<![\w.]){name}\b(?!\s*\()", new, body)
        before.append(_declaration(new, scoped, place, draw))
        if scoped.type in WRITTEN_TO and re.search(rf"\b{new}\b[^;=<>!]*[-+*/.]?=[^=]", body):
            after.append(f"target += {new};" if scoped.type == "real" else f"target += 0.3 * sum({new});")
    return " ".join([*before, body, *after])


def _declaration(name: str, scoped: Scoped, place: Site, draw: random.Random) -> str:
    shape, value = SHAPES[scoped.type]
    x = pieces.scalar(draw, place.scope, draw.choice((False, False, True)))
    return f"{shape} {name} = {value.format(x=f'({x})', n=draw.choice(NUMBERS[scoped.type == 'int']))};"
