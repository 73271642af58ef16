"""What the terms of the log density, and its control flow, depend on: data and parameters, by their names.

The statements of transformed parameters and model are run on sets of names instead of values; bodies of loops until
nothing changes. What is assigned under a condition depends on the condition too.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import contains_int

from ...ir import gprob, traversal, typed
from ...source import Span

Names = frozenset[str]
NONE: Names = frozenset()


@dataclass(frozen=True)
class Term:
    """One summand of the target: where it stands, and the data and parameters that it depends on."""

    span: Span
    names: Names
    expr: gprob.Expr | None = None


@dataclass(frozen=True)
class Branching:
    """An if or a loop, and what decides it."""

    span: Span
    names: Names


@dataclass(frozen=True)
class Called:
    """A call of a user's function, with what its arguments depend on."""

    call: gprob.CallUser
    arguments: tuple[Names, ...]


@dataclass
class Facts:
    """What the rules look at: the program, its variables by symbol, and the results of the analysis."""

    program: typed.TypedProgram
    parameters: dict[str, gprob.Declare]
    data: dict[str, gprob.Declare]
    terms: list[Term] = field(default_factory=list)
    branchings: list[Branching] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)


def analyse(program: typed.TypedProgram) -> Facts:
    """Run the log density of a program on sets of names."""
    # discrete ones are summed out: their bounds, and what control flow depends on them, trouble no sampler
    parameters = {d.name: d for d in _declarations(program, "parameters") if not contains_int(d.sized.type)}
    data = {d.name: d for b in ("data", "transformed data") for d in _declarations(program, b)}
    start = {symbol: frozenset({symbol}) for symbol in (*parameters, *data)}
    run = Run(start)
    run.block(program.block("transformed parameters"))
    run.block(program.block("model"))
    return Facts(program, parameters, data, list(run.terms.values()), list(run.branchings.values()),
                 list(run.calls.values()))  # fmt: skip


def _declarations(program: typed.TypedProgram, block: str) -> Iterator[gprob.Declare]:
    return (s for s in program.block(block) if isinstance(s, gprob.Declare) and s.site is not None)


class Run:
    """One run over statements. Findings are kept by place, so that a second run through a loop replaces the first."""

    def __init__(self, start: dict[str, Names]):
        self.names = dict(start)
        self.fixed = frozenset(start)
        self.under: Names = NONE
        self.terms: dict[tuple[int, int], Term] = {}
        self.branchings: dict[int, Branching] = {}
        self.calls: dict[int, Called] = {}

    def block(self, statements: Sequence[gprob.Stmt]) -> None:
        for s in statements:
            self.statement(s)

    def statement(self, s: gprob.Stmt) -> None:
        """Run a statement on sets of names: set variables, note terms of the target and what decides control flow."""
        if isinstance(s, gprob.Declare):
            self._set(s.name, NONE if s.value is None else self.of(s.value), whole=True)
        elif isinstance(s, gprob.Assign):
            self._assign(s.place, self.of(s.value))
        elif isinstance(s, gprob.Unpack):
            self._unpack(s.places, self.of(s.value))
        elif isinstance(s, (typed.Tilde, typed.Increment, gprob.Run)):
            self._term(s)
        elif isinstance(s, gprob.If):
            self._if(s)
        elif isinstance(s, (gprob.For, gprob.ForEach, gprob.While)):
            self._loop(s)
        elif isinstance(s, (gprob.Return, gprob.Message)):
            self.of(s)

    def of(self, node: object) -> Names:
        """What an expression depends on; its calls of user functions are noted."""
        out: Names = NONE
        for part in traversal.walk(node):
            if isinstance(part, gprob.Var):
                out |= self.names.get(part.name, NONE)
            elif isinstance(part, gprob.CallUser):
                self.calls[id(part)] = Called(part, tuple(map(self._plain, part.arguments)))
        return out

    def _plain(self, node: object) -> Names:
        variables = (p.name for p in traversal.walk(node) if isinstance(p, gprob.Var))
        return NONE.union(*(self.names.get(v, NONE) for v in variables)) | self.under

    def _set(self, name: str, names: Names, whole: bool) -> None:
        if name not in self.fixed:
            self.names[name] = names | self.under | (NONE if whole else self.names.get(name, NONE))

    def _assign(self, place: gprob.Place, names: Names) -> None:
        for step in place.steps:
            names |= self.of(step.indices) if step.indices else NONE
        self._set(place.name, names, whole=not place.steps)

    def _unpack(self, places: tuple[Any, ...], names: Names) -> None:
        for place in places:
            if isinstance(place, tuple):
                self._unpack(place, names)
            else:
                self._assign(place, names)

    def _term(self, s: typed.Tilde | typed.Increment | gprob.Run) -> None:
        if isinstance(s, gprob.Run):
            self.terms[s.span.start, 0] = Term(s.span, self.of(s.call) | self.under)
            return
        parts = list(summands(s.value)) if isinstance(s, typed.Increment) else [s]
        for i, part in enumerate(parts):
            names = self.of(part) | self.under
            expr = part if isinstance(part, gprob.Expr) else None
            self.terms[s.span.start, i] = Term(s.span, names, expr)

    def _if(self, s: gprob.If) -> None:
        """Run both sides from the same names; behind them a variable depends on what it does in either."""
        names = self.of(s.condition) | self.under
        self.branchings[s.span.start] = Branching(s.span, names)
        before, outside = dict(self.names), self.under
        self.under = names
        self.block(s.then)
        after, self.names = self.names, before
        self.block(s.otherwise)
        self.under = outside
        self.names = {k: self.names.get(k, NONE) | after.get(k, NONE) for k in {*self.names, *after}}

    def _loop(self, s: gprob.For | gprob.ForEach | gprob.While) -> None:
        """Run the body under what decides the loop, again and again until no variable depends on more."""
        outside = self.under
        while True:
            before = dict(self.names)
            decided = self._decided(s) | outside
            self.branchings[s.span.start] = Branching(s.span, decided)
            self.under = decided
            if not isinstance(s, gprob.While):
                self.names[s.name] = decided
            self.block(s.body)
            self.names = {k: self.names[k] | before.get(k, NONE) for k in self.names}
            if all(self.names[k] == before.get(k) for k in self.names):
                break
        self.under = outside

    def _decided(self, s: gprob.For | gprob.ForEach | gprob.While) -> Names:
        if isinstance(s, gprob.For):
            return self.of(s.lower) | self.of(s.upper)
        return self.of(s.condition if isinstance(s, gprob.While) else s.container)


def summands(e: gprob.Expr) -> Iterator[gprob.Expr]:
    """The terms of a sum, which are terms of the target of their own."""
    if isinstance(e, gprob.Apply) and e.function.name == "add":
        for operand in e.arguments:
            yield from summands(operand)
    else:
        yield e
