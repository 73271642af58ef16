"""User functions: one Python function for each variant, by the identifiers that calls find them under."""
from __future__ import annotations

import ast

from stanlib.types import VOID

from ..ir.fresh import Fresh, stem
from ..ir.specialised import Specialised, Variant
from .asty import Builder
from .context import Context
from .effects import Effects, FunctionEffects, NoEffects
from .expressions import Expressions
from .names import Names, names_of_variables
from .statements import statement


class UserFunctions:
    """The functions of a module: their identifiers, and their code."""

    def __init__(self, specialised: Specialised, fresh: Fresh):
        self.specialised, self.fresh = specialised, fresh
        program = specialised.program
        self.module = Names()
        self.module.inside |= names_of_variables(program)
        self.module.kept |= {stem(f.name) for f in program.functions}
        bodiless = [*(n.name for n in program.networks), *(f.name for f in program.externals)]
        self.networks = {name: self.module.new(name) for name in bodiless}
        self.variants = {v.definition.name: self.module.new(v.definition.name) for v in specialised.variants}
        self.random = frozenset(v.definition.name for v in specialised.variants if v.is_random)

    # --- what expressions ask

    def identifier(self, name: str) -> str:
        """The Python name of a variant, a network or a function that Python has."""
        return self.networks[name] if name in self.networks else self.variants[name]

    def is_random(self, name: str) -> bool:
        """Whether a variant draws random numbers."""
        return name in self.random

    # --- code

    def definitions(self) -> list[ast.stmt]:
        """The Python functions for all variants."""
        return [self._definition(v) for v in self.specialised.variants]

    def statements(self, names: Names, effects: Effects) -> Context:
        """What turns a body into code."""
        return Context(Expressions(names, self), effects, self.fresh, statement)

    def _definition(self, v: Variant) -> ast.stmt:
        """The Python function of a variant; one that adds to the target sums its increments in `lp`, from zero on."""
        f, b = v.definition, Builder(v.definition.span)
        names = Names(self.module)
        parameters = [names[p.name] for p in f.parameters]
        effects: Effects = FunctionEffects() if v.is_effectful else NoEffects()
        names.share(f.body, [p.name for p in f.parameters])
        made = self.statements(names, effects).block(f.body)
        if isinstance(effects, FunctionEffects):
            made = [b.assign("lp", b.const(0.0)), *made]
            if f.result == VOID:
                made.append(b.return_(effects.returned(None, b)))
        random = ["random"] if v.is_random else []
        return b.function(self.variants[f.name], [*random, *parameters], made)
