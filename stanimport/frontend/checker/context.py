"""The state of one check, and how its parts report errors."""
from __future__ import annotations

from dataclasses import field, replace
from typing import NamedTuple, NoReturn

from stanlib.dataclass import dataclass
from stanlib.overloads import Given
from stanlib.types import Level, Type

from ...errors import Diagnostic, Diagnostics
from ...ir import gprob
from ...ir.fresh import Fresh
from ...source import Span
from .scopes import Functions, Place, Scope


class Typed(NamedTuple):
    """A checked expression, and whether it may depend on parameters."""

    expr: gprob.Expr
    level: Level

    @property
    def type(self) -> Type:
        return self.expr.type

    @property
    def span(self) -> Span:
        return self.expr.span

    @property
    def given(self) -> Given:
        return Given(self.type, self.level)


class CheckError(Exception):
    """The statement being checked is wrong; caught where statements are checked, so that the next ones are too."""

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass
class Context:
    """What every part of the checker gets: names in scope, the place, where to report."""

    functions: Functions
    diagnostics: Diagnostics
    strict: bool
    scope: Scope = field(default_factory=Scope)
    place: Place = field(default_factory=lambda: Place("functions"))
    symbols: Fresh = field(default_factory=Fresh)  # unique within a function, or the blocks
    reported: set[str] = field(default_factory=set)  # unknown names that have been complained of
    second_order: list[tuple[str, Span]] = field(default_factory=list)  # likelihoods of embedded Laplace functions

    def inside(self, place: Place) -> "Context":
        """The same names at another place."""
        return replace(self, place=place)

    def nested(self, place: Place | None = None) -> "Context":
        """A scope of its own inside this one."""
        return replace(self, scope=self.scope.child(), place=place or self.place)

    def fail(self, message: str, span: Span, hint: str = "", code: str = "") -> NoReturn:
        raise CheckError(Diagnostic(message, span, hint, "error", code))

    def report(self, error: CheckError) -> None:
        self.diagnostics.errors.append(error.diagnostic)
