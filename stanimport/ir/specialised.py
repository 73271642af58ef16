"""The functions of a module, each with its body and what is known of it: what emission turns into Python."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import gprob
from .binding_times import BindingTimes
from .uses import names_in

Stmts = tuple[gprob.Stmt, ...]
_FRESH = (gprob.Const, gprob.MakeArray, gprob.MakeRow)


@dataclass(frozen=True)
class Ownership:
    """Of one body: the variables whose arrays are changed in place, and those that may share memory with them."""

    changed: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()

    def needs_copy(self, name: str, value: gprob.Expr) -> bool:
        """Whether a variable's new value must be an array of its own."""
        if isinstance(value, _FRESH):
            return False
        return name in self.changed or any(n in self.shared for n in names_in(value))


@dataclass(frozen=True)
class Body:
    """The body of a function of the module, after all passes, with what is known of it.

    `assigned` are the variables that it assigns to beyond their declaration.
    """

    statements: Stmts
    times: BindingTimes
    ownership: Ownership
    assigned: frozenset[str]


@dataclass(frozen=True)
class Variant:
    """A function of the program for one kind of call; `definition` has the unique name that calls have."""

    definition: gprob.FunDef
    body: Body
    is_random: bool
    is_effectful: bool


@dataclass(frozen=True)
class Specialised:
    """The functions of a module: those that it offers, by name, and the variants, in the order of the first call."""

    program: gprob.Program
    blocks: Mapping[str, Body]
    variants: tuple[Variant, ...]

    def bodies(self) -> list[tuple[str, Body]]:
        """All bodies with the names of their functions."""
        return [*((v.definition.name, v.body) for v in self.variants), *self.blocks.items()]
