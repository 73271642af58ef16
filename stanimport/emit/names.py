"""Python identifiers for GProb's names: Stan's own wherever Python and the generated code leave them free."""
from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence

from stanlib.dataclass import dataclass

from ..ir import gprob, traversal
from ..ir.fresh import is_helper, stem
from ..ir.uses import counts, reads, writes

# What generated code refers to by itself.
RESERVED = frozenset(
    {"ppl", "dist", "fn", "stan", "data", "random", "transformed_data", "model", "generated_quantities", "guide",
     "backend", "lp", "bool", "int", "range", *keyword.kwlist}
)  # fmt: skip


class Names:
    """The identifiers of a module's functions, or of the variables of one of them.

    What a function's variables are called no function of the module may be, and the other way round, in whichever order
    they are asked for. Unique names of GProb that come from one Stan name share an identifier where their lives don't
    overlap.
    """

    def __init__(self, module: Names | None = None):
        self.module = module
        self.taken: set[str] = set()
        self.inside: set[str] = set()  # of a module: what the variables of its functions are called
        self.kept: set[str] = set()  # of a module: what variables leave to its functions
        self.of: dict[str, str] = {}
        self.last: dict[str, int] = {}
        self.passing: dict[str, str] = {}  # identifiers that one statement needs, and what they were made of

    def __getitem__(self, name: str) -> str:
        if name not in self.of:
            self.of[name] = self.new(name)
        return self.of[name]

    def new(self, name: str) -> str:
        """An identifier that nothing else in the function has."""
        base = _base(name)
        number, candidate = self.last.get(base, 0), ""
        while not candidate or not self._is_free(candidate):
            number += 1
            candidate = base if number == 1 else f"{base}_" if number == 2 else f"{base}_{number}"
        self.last[base] = number
        self.taken.add(candidate)
        if self.module is not None:
            self.module.inside.add(candidate)
        return candidate

    def temporary(self, name: str) -> str:
        """The same, for the code of one statement."""
        made = self.new(name)
        self.passing[made] = _base(name)
        return made

    def release(self) -> None:
        """Forget the temporary ones: the next statement may use them anew."""
        self.taken.difference_update(self.passing)
        for base in self.passing.values():
            self.last.pop(base, None)
        self.passing.clear()

    def _is_free(self, identifier: str) -> bool:
        if identifier in RESERVED or identifier in self.taken or identifier in self.inside:
            return False
        return self.module is None or not (identifier in self.module.taken or identifier in self.module.kept)

    def share(self, statements: Sequence[gprob.Stmt], fixed: Iterable[str] = ()) -> None:
        """Give one identifier to the unique names of one Stan name, if they live one after the other.

        The program's own variables come first, so that they keep their names.
        """
        lives = _lives(statements)
        for name in fixed:
            lives.pop(name, None)
        by_stan_name: dict[str, list[str]] = {}
        for name in lives:
            if not is_helper(name):
                by_stan_name.setdefault(stem(name), []).append(name)
        for stan_name, group in by_stan_name.items():
            identifier, end, reading = self.new(stan_name), -1, set[int]()
            for name in sorted(group, key=lambda n: lives[n].start):
                life = lives[name]
                if life.start <= end or not reading.isdisjoint(life.around):
                    self.of[name] = self.new(stan_name)
                    continue
                self.of[name], end = identifier, life.end
                reading |= life.reading


def _base(name: str) -> str:
    return re.sub(r"\W", "_", stem(name).lstrip("_")) or "unused"


def names_of_variables(program: gprob.Program) -> set[str]:
    """The identifiers that variables anywhere in a program would like: functions, which all see, take others."""
    out = {v.symbol for v in (*program.data, *program.parameters)}
    for f in program.functions:
        out |= {p.name for p in f.parameters}
    bodies = (program.transformed_data, program.model, program.recomputed, program.generated_quantities)
    for body in (*bodies, *(f.body for f in program.functions)):
        for node in traversal.walk(body):
            if isinstance(node, (gprob.Declare, gprob.Sample, gprob.For, gprob.ForEach)):
                out.add(node.name)
    names = set(map(stem, out))
    return names | {f"{n}_" for n in names}


@dataclass
class _Life:
    """The first and the last statement (in the order of the text) that mention a name, and the bodies around the first.

    `reading` are the bodies that mention a name which begins right outside of them. Bodies may be functions of
    Python's, in which an identifier is that variable or one that begins inside, not both.
    """

    start: int
    end: int
    around: tuple[int, ...]
    reading: set[int]

    def mentioned(self, at: int, around: tuple[int, ...]) -> None:
        """Note a later statement that mentions the name, and the bodies around that."""
        self.end = at
        if len(around) > len(self.around):
            self.reading.add(around[len(self.around)])


def _lives(statements: Sequence[gprob.Stmt]) -> dict[str, _Life]:
    """Of every name that statements mention."""
    lives: dict[str, _Life] = {}
    count = 0

    def mention(s: gprob.Stmt, around: tuple[int, ...]) -> None:
        for n in {*counts(s), *writes(s), *reads(s)}:
            lives.setdefault(n, _Life(count, count, around, set())).mentioned(count, around)

    def visit(block: Sequence[gprob.Stmt], around: tuple[int, ...]) -> None:
        nonlocal count
        for s in block:
            count += 1
            mention(s, around)
            for i, body in enumerate(traversal.bodies(s)):
                visit(body, (*around, 2 * count + i))
            if traversal.bodies(s):
                count += 1
                mention(s, around)

    visit(statements, ())
    return lives
