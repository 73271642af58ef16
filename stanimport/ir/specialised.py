"""The functions of a module, each with a body in which all is decided: what emission turns into Python."""
from __future__ import annotations

from collections.abc import Mapping

from stanlib.dataclass import dataclass

from . import gprob

Stmts = tuple[gprob.Stmt, ...]


@dataclass(frozen=True)
class Variant:
    """A function of the program for one kind of call; `definition` has the unique name that calls have."""

    definition: gprob.FunDef
    is_random: bool
    is_effectful: bool


@dataclass(frozen=True)
class Specialised:
    """The functions of a module: those that it offers, by name, and the variants, in the order of the first call."""

    program: gprob.Program
    blocks: Mapping[str, Stmts]
    variants: tuple[Variant, ...]

    def bodies(self) -> list[tuple[str, Stmts]]:
        """All bodies with the names of their functions."""
        return [*((v.definition.name, v.definition.body) for v in self.variants), *self.blocks.items()]
