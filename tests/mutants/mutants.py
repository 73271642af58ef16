"""Mutants of a program, and what becomes of each."""

from __future__ import annotations

import random
from typing import Any

from stanimport.frontend import ast
from stanlib import registry
from stanlib.errors import StanError
from tests.random_programs.program import RandomProgram
from tests.random_programs.referee.ours import PARTS
from tests.random_programs.trial import Way

from . import expressions, grafts, loops, retyped, rewrites, statements
from .mutation import MUTATIONS
from .view import View

# whose mutations are known once they are imported
_MODULES = (loops, statements, expressions, rewrites, retyped, grafts)
MOST = 4  # mutations of one mutant
TRIES = 60


def mutant(text: str, seed: str) -> tuple[str, list[str]] | None:
    """A program with some mutations, and their names; None if none was found that the checker accepts."""
    draw = random.Random(seed)
    wanted, done, view = draw.randint(1, MOST), [], View(text)
    for _ in range(TRIES):
        if len(done) == wanted:
            break
        name = draw.choices(list(MUTATIONS), [4 if n == "grafted" else 1 for n in MUTATIONS])[0]
        edits = MUTATIONS[name](view, draw)
        try:
            changed = None if not edits else View(view.with_edits(edits))
        except (StanError, AssertionError):
            continue
        if changed is not None and changed.text != view.text:
            view, done = changed, [*done, name]
    return (view.text, done) if done else None


def as_program(text: str, data: dict[str, Any]) -> RandomProgram:
    """A program for a trial: Stan gets `~` with all constants; what may be drawn at random is not compared."""
    view = View(text)
    edits = [(s.node.span.start, s.node.span.end, _increment(view, s.node)) for s in view.sites
             if isinstance(s.node, ast.Tilde) and s.node.truncation is None]  # fmt: skip
    quantities = view.tree.block("generated quantities")
    drawn = [] if quantities is None or "_rng" not in quantities.span.text else [
        d.name.text for s in quantities.body if isinstance(s, ast.Declaration) for d in s.declarators
    ]  # fmt: skip
    return RandomProgram(text, view.with_edits(edits), data, frozenset(drawn), frozenset({"wild"}))


def _increment(view: View, tilde: ast.Tilde) -> str:
    law = tilde.distribution.text
    own = [s.node.name.text for s in view.sites if isinstance(s.node, ast.FunctionDefinition)]
    kind = next(k for k in ("lpdf", "lpmf") if f"{law}_{k}" in own or registry.is_known(f"{law}_{k}"))
    return f"target += {statements.density(tilde, view, kind)};"


def way_of(seed: str) -> Way:
    """The translation that a mutant gets: of a hundred, 60 by NumPyro's interpreted, 10 compiled, 30 by Pyro's."""
    draw = random.Random(f"way of {seed}")
    kind = draw.choices(("interpreted", "compiled", "pyro"), (60, 10, 30))[0]
    scheme = draw.choice(("mixed", "comprehensive"))
    parts = draw.choice((PARTS, PARTS[:1])) if kind == "interpreted" else PARTS
    return Way("pyro" if kind == "pyro" else "numpyro", scheme, (), kind != "interpreted", parts)
