"""What could stand at a place of a program."""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stanlib import constraints, registry

from ..frontend import ast
from ..frontend.lexer import KEYWORDS
from . import library, names
from .names import Names

BLOCK, KEYWORD, TYPE, CONSTRAINT, LAW, LIBRARY = "block", "keyword", "type", "constraint", "law", "library function"
_BLOCKS = tuple(b for b in ast.BLOCKS if b not in ("networks", "guide", "guide parameters"))
_BOUNDS = constraints.all_words()
_STATEMENTS = ("for", "if", "else", "while", "return", "break", "continue", "print", "reject", "fatal_error", "profile",
               "target", "jacobian", "in")  # fmt: skip
_DRAWS = ("generated quantities", "transformed data", "functions")
_LAWS = re.compile(r"_(?:lpdf|lpmf|log)$")


@dataclass(frozen=True)
class Proposal:
    """A text that could stand there; `detail` tells what it is in a few words."""

    text: str
    kind: str
    detail: str = ""


def proposals(known: Names, program: ast.Program | None, text: str, offset: int, own_file: bool) -> Iterator[Proposal]:
    """Everything that could follow at an offset, whatever part of a word stands there already.

    Args:
        known: the program's names.
        own_file: whether the text is that of the program, else of a file that it includes.
    """
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    before = re.sub(r"\w*$", "", line).rstrip()
    block = _block_at(text, offset)
    visible = known.visible(offset if own_file and program is not None else None)
    if "//" in line or before.endswith("#"):
        return
    if not block and own_file:
        yield from (Proposal(f"{b} {{", BLOCK) for b in _BLOCKS)
    elif before.endswith("~"):
        yield from _laws(visible)
    elif _is_in_bounds(before):
        yield from (Proposal(f"{b}=", CONSTRAINT) for b in _BOUNDS)
        yield from _variables(visible)
    else:
        yield from _variables(visible)
        yield from _functions(visible, block)
        yield from _words(block)


def _block_at(text: str, offset: int) -> str:
    """The block around an offset, told by the text alone: it may be no program. "" outside of blocks."""
    depth, word, block = 0, "", ""
    for m in _PIECES.finditer(text, 0, offset):
        piece = m.group()
        if piece == "{":
            block = word if depth == 0 else block
            depth += 1
        elif piece == "}":
            depth = max(depth - 1, 0)
            block = block if depth else ""
        elif depth == 0 and piece[0].isalpha():
            word = " ".join(piece.split())
    return block


_PIECES = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"\n]*"|[{}]|(?:transformed|generated)\s+\w+|\w+', re.DOTALL)


def _is_in_bounds(before: str) -> bool:
    """Whether the text of a line ends where a bound of a declaration begins."""
    return re.search(r"\b(?:int|real|vector|row_vector|matrix|complex)\s*<(?:[^<>;]*,)?$", before) is not None


def _variables(visible: Iterable[names.Definition]) -> Iterator[Proposal]:
    for d in visible:
        if d.kind not in (names.FUNCTION, names.NETWORK):
            yield Proposal(d.name, d.kind, d.text)


def _functions(visible: Iterable[names.Definition], block: str) -> Iterator[Proposal]:
    for d in visible:
        if d.kind in (names.FUNCTION, names.NETWORK):
            yield Proposal(d.name, d.kind, d.text)
    draws = block in _DRAWS
    for name in registry.names(include_removed=False):
        if draws or not name.endswith("_rng"):
            yield Proposal(name, LIBRARY, _first(library.signatures(name)))


def _laws(visible: Iterable[names.Definition]) -> Iterator[Proposal]:
    for d in visible:
        if d.kind == names.FUNCTION and _LAWS.search(d.name):
            yield Proposal(_LAWS.sub("", d.name), names.FUNCTION, d.text)
    for name in library.laws():
        yield Proposal(name, LAW, _first(library.signatures(f"{name}_lpdf") or library.signatures(f"{name}_lpmf")))


def _words(block: str) -> Iterator[Proposal]:
    """The keywords and types that a block can hold: constrained types stand in neither functions nor model."""
    constrained = {c.name for c in constraints.types()}
    blocks = {word for b in ast.BLOCKS for word in b.split()}
    for word in KEYWORDS:
        if word in _STATEMENTS:
            yield Proposal(word, KEYWORD)
        elif word in constrained:
            if block not in ("functions", "model"):
                yield Proposal(word, TYPE, "constrained type")
        elif word not in blocks and word not in _BOUNDS and word != "T":
            yield Proposal(word, TYPE)


def _first(texts: tuple[str, ...]) -> str:
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return f"{texts[0]}{more}" if texts else ""
