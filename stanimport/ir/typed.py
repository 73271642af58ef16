"""The typed program: what the checker makes of an AST, before a scheme compiles it to GProb.

Expressions and most statements are GProb's already; the two that the schemes compile differently are here.
"""
from __future__ import annotations

from stanlib.dataclass import dataclass

from ..source import Span
from . import gprob


@dataclass(frozen=True, slots=True)
class Tilde(gprob.Stmt):
    """`value ~ distribution;`: a sample or an observation, as the scheme decides."""

    value: gprob.Expr
    distribution: gprob.Distribution


@dataclass(frozen=True, slots=True)
class Increment(gprob.Stmt):
    """`target += value;` or `jacobian += value;`."""

    kind: str
    value: gprob.Expr


@dataclass(frozen=True, slots=True)
class TypedProgram:
    """The blocks by name, their declarations in the order of the text; absent blocks are empty.

    `externals` are the functions without a body that the caller binds to Python's.
    """

    functions: tuple[gprob.FunDef, ...]
    networks: tuple[gprob.External, ...]
    blocks: dict[str, tuple[gprob.Stmt, ...]]
    span: Span
    externals: tuple[gprob.External, ...] = ()

    def block(self, name: str) -> tuple[gprob.Stmt, ...]:
        return self.blocks.get(name, ())
