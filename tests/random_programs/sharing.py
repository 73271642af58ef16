"""Names that scopes apart from each other share, as programs written by hand have them: every loop's index is `i`."""

from __future__ import annotations

import re

from .choices import Choices
from .names import LAWS

_INDEX = re.compile(r"\bfor \((\w+) in ")
_LOCAL = re.compile(r"^ {4,}(?:int|real|vector\[[^=;]*\]|matrix\[[^=;]*\]) (\w+)(?= =|;)", re.MULTILINE)
_CALLED = re.compile(r"\b(\w+)\(")
_ARGUMENT = re.compile(r"[(,] ?(?:data )?(?:array\[,*\] )?(?:int|real|vector|row_vector|matrix|complex) (\w+)(?=[,)])")
_TOP = re.compile(r"^  (?:int|real|vector|row_vector|matrix)(?:<[^;]*>)?(?:\[[^=;]*\])? (\w+)(?= =|;)", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z]\w*\b(?!\()")  # not of functions, which may have names of variables


def shared(c: Choices, text: str) -> str:
    """The program with indices of loops, locals of inner blocks and what functions have for themselves under names of
    others that they are apart from.
    """
    text = _of_blocks(c, text)
    words: dict[str, list[int]] = {}
    for m in _WORD.finditer(text):
        words.setdefault(m.group(), []).append(m.start())
    names: dict[str, str] = {}
    for heads in (_INDEX, _LOCAL):
        scopes = _scopes(text, heads, words)
        taken: list[tuple[str, list[tuple[int, int]]]] = []  # names that stay, and all the scopes that they have then
        for name, own in scopes.items():
            apart = [t for t in taken if all(b <= c or d <= a for a, b in own for c, d in t[1])]
            if apart and c.chance(60):
                other, theirs = c.pick(apart)
                names[name] = other
                theirs += own
            else:
                taken.append((name, own))
    return _WORD.sub(lambda m: names.get(m.group(), m.group()), text)


def _of_blocks(c: Choices, text: str) -> str:
    """Arguments and locals of functions under names that the blocks have, which functions don't see."""
    if not text.startswith("functions {"):
        return text
    end = _end_of_block(text, text.index("{") + 1)
    functions, blocks = text[:end], text[end:]
    called = set(_CALLED.findall(text))
    own = sorted(set(_ARGUMENT.findall(functions)) | set(_LOCAL.findall(functions)) | set(_INDEX.findall(functions)))
    used = set(_WORD.findall(functions))
    free = [n for n in sorted(set(_TOP.findall(blocks))) if n not in used | called]
    names: dict[str, str] = {}
    for name in own:
        if free and name not in called and name not in LAWS and c.chance(40):
            names[name] = free.pop(c.below(len(free)))
    return _WORD.sub(lambda m: names.get(m.group(), m.group()), functions) + blocks


def _scopes(text: str, heads: re.Pattern[str], words: dict[str, list[int]]) -> dict[str, list[tuple[int, int]]]:
    """From where to where names are known, of those that occur nowhere else."""
    found: dict[str, list[tuple[int, int]]] = {}
    for m in heads.finditer(text):
        end = _end_of_loop(text, m.end()) if heads is _INDEX else _end_of_block(text, m.end())
        found.setdefault(m.group(1), []).append((m.start(), end))
    return {n: s for n, s in found.items() if n not in LAWS and all(any(a <= at < b for a, b in s) for at in words[n])}


def _end_of_loop(text: str, at: int) -> int:
    """Where the loop ends in whose head a place lies."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    start = re.compile(r"\s*\{").match(text, at)
    return _end_of_block(text, start.end() if start else at)  # one statement: as if it reached to the block's end


def _end_of_block(text: str, at: int) -> int:
    """Where the block ends that a place lies in."""
    depth = 1
    for m in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if m.group() == "{" else -1
        if not depth:
            return m.end()
    return len(text)
