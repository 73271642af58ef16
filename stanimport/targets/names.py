"""Python identifiers for GProb's names: Stan's own wherever Python and the generated code leave them free."""
from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence

from ..middle import gprob, traversal

# What generated code refers to by itself.
RESERVED = frozenset(
    {"ppl", "dist", "fn", "stan", "data", "random", "transformed_data", "model", "generated_quantities", "guide",
     "backend", "lp", "dict", "float", "int", "len", "range", *keyword.kwlist}
)  # fmt: skip


class Names:
    """The identifiers of one Python function.

    Unique names of GProb that come from one Stan name share an identifier where their lives don't overlap.
    """

    def __init__(self, taken: Iterable[str] = ()):
        self.taken = set(RESERVED) | set(taken)
        self.of: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self.of:
            self.of[name] = self.new(name)
        return self.of[name]

    def new(self, name: str) -> str:
        """An identifier that nothing else in the function has."""
        base = name.lstrip("_") or "unused"
        base = re.sub(r"\W", "_", base)
        candidate, n = base, 1
        while candidate in self.taken:
            n += 1
            candidate = f"{base}_" if n == 2 else f"{base}_{n}"
        self.taken.add(candidate)
        return candidate

    def share(self, statements: Sequence[gprob.Stmt], fixed: Iterable[str] = ()) -> None:
        """Give one identifier to the unique names of one Stan name, if they live one after the other."""
        lives = _lives(statements)
        for name in fixed:
            lives.pop(name, None)
        by_stan_name: dict[str, list[str]] = {}
        for name in lives:
            by_stan_name.setdefault(_stan_name(name), []).append(name)
        for stan_name, group in by_stan_name.items():
            identifier, end = self.new(stan_name), -1
            for name in sorted(group, key=lambda n: lives[n]):
                if lives[name][0] <= end:
                    self.of[name] = self.new(stan_name)
                    continue
                self.of[name], end = identifier, lives[name][1]


def names_of_variables(program: gprob.Program) -> set[str]:
    """The identifiers that variables anywhere in a program may get: functions, which all see, take others."""
    out = {v.symbol for v in (*program.data, *program.parameters)}
    for f in program.functions:
        out |= {p.name for p in f.parameters}
    bodies = (program.transformed_data, program.model, program.recomputed, program.generated_quantities)
    for body in (*bodies, *(f.body for f in program.functions)):
        for node in traversal.walk(body):
            if isinstance(node, (gprob.Declare, gprob.Sample, gprob.For, gprob.ForEach)):
                out.add(node.name)
    names = set(map(_stan_name, out))
    return names | {f"{n}_" for n in names}


def _stan_name(name: str) -> str:
    return re.sub(r"__\d+$", "", name)


def _lives(statements: Sequence[gprob.Stmt]) -> dict[str, tuple[int, int]]:
    """First and last statement (in the order of the text) that mentions a name."""
    lives: dict[str, tuple[int, int]] = {}
    count = 0

    def mention(names: Iterable[str]) -> None:
        for n in names:
            lives[n] = (lives[n][0] if n in lives else count, count)

    def visit(block: Sequence[gprob.Stmt]) -> None:
        nonlocal count
        for s in block:
            count += 1
            mention(_mentioned(s))
            for body in traversal.bodies(s):
                visit(body)
            if traversal.bodies(s):
                count += 1
                mention(_mentioned(s))

    visit(statements)
    return lives


def _mentioned(s: gprob.Stmt) -> set[str]:
    """The variables that a statement names, nested statements not included."""
    out: set[str] = set()
    for attribute in ("name",):
        value = getattr(s, attribute, None)
        if isinstance(value, str):
            out.add(value)
    nested = {id(x) for body in traversal.bodies(s) for x in body}
    stack = [c for c in traversal.children(s) if id(c) not in nested]
    while stack:
        node = stack.pop()
        if isinstance(node, (gprob.Var, gprob.Place)):
            out.add(node.name)
        stack.extend(traversal.children(node))
    return out
