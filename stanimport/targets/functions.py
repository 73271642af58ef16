"""User functions: one Python function for each combination of data and parameters that a function is called with.

Called with data alone, a function runs in NumPy, its loops in Python; called with parameters it is traced.
"""
from __future__ import annotations

import ast
from dataclasses import dataclass, field

from stanlib.types import VOID

from ..ir.fresh import Fresh, stem
from ..middle import gprob, traversal
from ..passes import binding_times, control, loops, predictors
from ..passes.effects import effectful_functions, rejects
from ..passes.loops import shapes
from .asty import Builder
from .effects import Effects, FunctionEffects, NoEffects, RejectingEffects
from .expressions import Expressions
from .names import Names, names_of_variables
from .statements import Statements

Key = tuple[str, tuple[bool, ...]]


@dataclass
class UserFunctions:
    """The functions of a program, and the variants of them that have been asked for."""

    program: gprob.Program
    traces: bool
    fresh: Fresh
    random_is_dynamic: bool = False
    by_key: dict[str, gprob.FunDef] = field(default_factory=dict)
    variants: dict[Key, str] = field(default_factory=dict)
    pending: list[Key] = field(default_factory=list)
    module: Names = field(default_factory=Names)
    without: frozenset[str] = frozenset()  # passes over loops to leave out
    prepared: list[tuple[gprob.Stmt, ...]] = field(default_factory=list)  # bodies as they are turned into code
    _shaped: dict[str, frozenset[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_key = {f.name: f for f in self.program.functions}
        self.effectful = effectful_functions(self.program)
        self._random = self._random_functions()
        self.module.inside |= names_of_variables(self.program)
        self.module.kept |= {stem(f.name) for f in self.program.functions}
        self.networks = {n.name: self.module.new(n.name) for n in self.program.networks}

    def _random_functions(self) -> frozenset[str]:
        found: set[str] = set()
        while True:
            new = {k for k, f in self.by_key.items() if k not in found and self._draws(f, found)}
            if not new:
                return frozenset(found)
            found |= new

    def _draws(self, f: gprob.FunDef, found: set[str]) -> bool:
        for node in traversal.walk(f.body):
            if isinstance(node, gprob.Apply) and node.function.random:
                return True
            if isinstance(node, gprob.CallUser) and node.function in found:
                return True
        return f.suffix == "rng"

    # --- what binding times and expressions ask

    def is_random(self, key: str) -> bool:
        return key in self._random

    def is_dynamic(self, key: str, arguments: tuple[bool, ...]) -> bool:
        """The result is dynamic if any argument is."""
        if key in self.networks:
            return True  # what a network computes changes as it is trained
        return any(arguments) or key in self.effectful or self.random_is_dynamic and key in self._random

    def variant(self, key: str, dynamic: tuple[bool, ...]) -> str:
        if key in self.networks:
            return self.networks[key]
        if not self.traces:
            dynamic = (True,) * len(dynamic)
        wanted = (key, dynamic)
        if wanted not in self.variants:
            self.variants[wanted] = self.module.new(key)
            self.pending.append(wanted)
        return self.variants[wanted]

    # --- loops

    def _array_code(self, body: tuple[gprob.Stmt, ...], dynamic: list[str]) -> tuple[gprob.Stmt, ...]:
        """The body with loops as array code."""
        flat = binding_times.analyse(body, dynamic, self, self.traces, self.random_is_dynamic, flat=True)
        sizes = {v.symbol: v.sized for v in (*self.program.data, *self.program.transformed_data_variables)}
        return loops.run(body, flat, sizes, self.shaped_by, self.fresh, self.without)

    def shaped_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments that decide shapes or the bounds of loops in a function."""
        if key in self.networks:
            return frozenset()
        if key not in self._shaped:
            self._shaped[key] = frozenset()  # while a recursive function is looked at
            self._shaped[key] = shapes.deciding(self.by_key[key], self.shaped_by)
        return self._shaped[key]

    # --- code

    def definitions(self) -> list[ast.stmt]:
        """The Python functions for all variants asked for, and for those that they call in turn."""
        out: list[ast.stmt] = []
        while self.pending:
            out.append(self._definition(self.pending.pop(0)))
        return out

    def _definition(self, wanted: Key) -> ast.stmt:
        key, dynamic = wanted
        f, b = self.by_key[key], Builder(self.by_key[key].span)
        names = Names(self.module)
        parameters = [names[p.name] for p in f.parameters]
        marked = [p.name for p, d in zip(f.parameters, dynamic) if d]
        effects: Effects = FunctionEffects() if key in self.effectful else NoEffects()
        if key not in self.effectful and rejects(f.body):
            effects = RejectingEffects()
        statements, body = self.prepare(f.body, marked, names, effects, f)
        names.share(body, [p.name for p in f.parameters])
        made = statements.block(body)
        if isinstance(effects, FunctionEffects):
            made = [b.assign("lp", b.const(0.0)), *made]
            if f.result == VOID:
                made.append(b.return_(effects.returned(None, b)))
        random = ["random"] if self.is_random(key) else []
        return b.function(self.variants[wanted], [*random, *parameters], made)

    def prepare(
        self, body: tuple[gprob.Stmt, ...], dynamic: list[str], names: Names, effects: Effects,
        function: gprob.FunDef | None = None,
    ) -> tuple[Statements, tuple[gprob.Stmt, ...]]:  # fmt: skip
        """Binding times of a body, and the body without escapes that Python or the backend can't follow."""
        times = binding_times.analyse(body, dynamic, self, self.traces, self.random_is_dynamic)
        if self.traces:
            structured = control.structure(body, times, self.fresh, VOID if function is None else function.result)
            if structured is not body:
                body = structured
        body = self._array_code(body, dynamic)
        if self.traces and predictors.NAME not in self.without:
            body = predictors.run(body, binding_times.analyse(body, dynamic, self, True, self.random_is_dynamic))
        self.prepared.append(body)
        times = binding_times.analyse(body, dynamic, self, self.traces, self.random_is_dynamic)
        expressions = Expressions(names, times, self, self.traces)
        expressions.any_library = function is not None and not self.traces
        return Statements(expressions, effects, self.fresh), body
