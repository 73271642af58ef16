"""User functions: one Python function for each combination of data and parameters that a function is called with.

Called with data alone, a function runs in NumPy, its loops in Python; called with parameters it is traced.
"""
from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stanlib.types import VOID, Type

from ..ir.fresh import Fresh, stem
from ..middle import gprob
from ..passes import binding_times, ownership
from ..passes.callees import Functions
from ..passes.effects import rejects
from ..passes.surroundings import Prepare, Surroundings, sizes_of
from .asty import Builder
from .effects import Effects, FunctionEffects, NoEffects, RejectingEffects
from .expressions import Expressions
from .names import Names, names_of_variables
from .statements import Statements

Key = tuple[str, tuple[bool, ...], bool]  # a function, which of its arguments are dynamic, whether random numbers are


@dataclass
class UserFunctions:
    """The functions of a program, and the variants of them that have been asked for.

    `passes` runs those over the body of each.
    """

    program: gprob.Program
    traces: bool
    fresh: Fresh
    passes: Prepare
    variants: dict[Key, str] = field(default_factory=dict)
    pending: list[Key] = field(default_factory=list)
    module: Names = field(default_factory=Names)

    def __post_init__(self) -> None:
        self.known = Functions(self.program)
        self.sizes = sizes_of(self.program)
        self.module.inside |= names_of_variables(self.program)
        self.module.kept |= {stem(f.name) for f in self.program.functions}
        self.networks = {n.name: self.module.new(n.name) for n in self.program.networks}

    # --- what expressions ask

    def is_random(self, key: str) -> bool:
        return key in self.known.random

    def variant(self, key: str, dynamic: tuple[bool, ...], random_is_dynamic: bool) -> str:
        if key in self.networks:
            return self.networks[key]
        if not self.traces:
            dynamic = (True,) * len(dynamic)
        wanted = (key, dynamic, random_is_dynamic and key in self.known.random)
        if wanted not in self.variants:
            self.variants[wanted] = self.module.new(key)
            self.pending.append(wanted)
        return self.variants[wanted]

    # --- code

    def definitions(self) -> list[ast.stmt]:
        """The Python functions for all variants asked for, and for those that they call in turn."""
        out: list[ast.stmt] = []
        for wanted in self.pending:  # which grows
            out.append(self._definition(wanted))
        return out

    def _definition(self, wanted: Key) -> ast.stmt:
        key, dynamic, random_is_dynamic = wanted
        f = self.known.by_key[key]
        b = Builder(f.span)
        names = Names(self.module)
        parameters = [names[p.name] for p in f.parameters]
        marked = [p.name for p, d in zip(f.parameters, dynamic) if d]
        effects: Effects = FunctionEffects() if key in self.known.effectful else NoEffects()
        if key not in self.known.effectful and rejects(f.body):
            effects = RejectingEffects()
        around = self.around({p.name: p.type for p in f.parameters}, marked, random_is_dynamic, f.result)
        statements, body = self.prepare(f.body, around, names, effects)
        statements.expr.any_library = not self.traces
        names.share(body, [p.name for p in f.parameters])
        made = statements.block(body)
        if isinstance(effects, FunctionEffects):
            made = [b.assign("lp", b.const(0.0)), *made]
            if f.result == VOID:
                made.append(b.return_(effects.returned(None, b)))
        random = ["random"] if self.is_random(key) else []
        return b.function(self.variants[wanted], [*random, *parameters], made)

    def around(
        self, given: Mapping[str, Type], dynamic: Iterable[str], random_is_dynamic: bool, result: Type = VOID
    ) -> Surroundings:
        """What is around a body of the program."""
        return Surroundings(
            self.fresh, self.known, tuple(dynamic), given, self.sizes, result, self.traces, random_is_dynamic
        )  # fmt: skip

    def prepare(
        self, body: tuple[gprob.Stmt, ...], around: Surroundings, names: Names, effects: Effects
    ) -> tuple[Statements, tuple[gprob.Stmt, ...]]:
        """The body after the passes, and what turns it into code."""
        body = self.passes(body, around)
        times = around.times(body)
        statements = Statements(Expressions(names, times, self, self.traces), effects, self.fresh)
        statements.ownership = ownership.analyse(body, times)
        statements.assigned = binding_times.assigned_names(body)
        return statements, body
