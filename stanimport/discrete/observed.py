"""What a term that depends on discrete parameters observes: which variable of the data, and which number of it."""
from __future__ import annotations

from collections.abc import Mapping, Set

from stanlib.dataclass import dataclass
from stanlib.discrete import LAW, UNKNOWN
from stanlib.types import REAL, ROW_VECTOR, VECTOR, is_discrete, is_scalar

from ..ir import gprob, typed, uses
from ..ir.calls import call
from ..ir.uses import is_density_of
from ..source import Span
from .parameters import Stmts
from .terms import Term


@dataclass(frozen=True)
class Outcome:
    """The name of a variable, LAW or UNKNOWN; its number or vector, if it is one; how many loops are around it.

    `length` is the size of the vector.
    """

    variable: str
    value: gprob.Expr | None = None
    loops: int = 0
    length: gprob.Expr | None = None


@dataclass(frozen=True)
class Observing:
    """The names of the data, by symbol, the discrete parameters, and a program's own laws, by where they stand.

    Other statements may have come in the places of those since, for all values of what is summed out.
    """

    data: Mapping[str, str]
    discrete: Set[str]
    laws: Mapping[Span, typed.Tilde | None]

    @staticmethod
    def of(body: Stmts, data: Mapping[str, str], discrete: Set[str]) -> "Observing":
        laws: dict[Span, typed.Tilde | None] = {}
        for s in uses.walk_statements(body):
            if isinstance(s, typed.Tilde):  # of two in one place, as a function has them, nothing is known
                laws[s.span] = None if s.span in laws else s
        return Observing(data, discrete, laws)

    def number(self, statement: Span) -> int:
        """What tells one law from others; cases that a law was divided into have the same."""
        return list(self.laws).index(statement) if self.laws.get(statement) is not None else -1


def observed(term: Term, known: Observing, static: Set[str], sizes: Mapping[str, gprob.Sized]) -> Outcome:
    """What a term observes.

    Args:
        known: The data, and the laws.
        static: The variables that depend on data alone, and the indices of loops.
        sizes: The declarations of all variables.
    """
    data, statement = known.data, term.statement
    value = _outcome(known.laws.get(statement.span, statement))
    if value is None:
        return Outcome(UNKNOWN)
    names = uses.names_in(value)
    if not names & data.keys() and names & known.discrete and names & term.tainted <= known.discrete:
        return Outcome(LAW)
    root = value
    while isinstance(root, gprob.Index):
        root = root.base
    if not isinstance(root, gprob.Var) or root.name not in data or names & term.tainted:
        return Outcome(UNKNOWN)
    loops = sum(isinstance(s, (gprob.For, gprob.ForEach, gprob.While)) for s in term.path)
    if not names <= static:
        return Outcome(data[root.name])
    if is_scalar(value.type):
        return Outcome(data[root.name], _as_real(value), loops)
    if value.type in (VECTOR, ROW_VECTOR) and root.name in sizes and _is_whole(value):
        numbers = call("to_array_1d", value.span, value)
        return Outcome(data[root.name], numbers, loops, sizes[root.name].shape[-1])
    return Outcome(data[root.name])


def _as_real(e: gprob.Expr) -> gprob.Expr:
    return gprob.Promote(REAL, e.span, e) if is_discrete(e.type) else e


def _is_whole(e: gprob.Expr) -> bool:
    """Whether a vector is a variable, or one of its elements or rows."""
    while isinstance(e, gprob.Index):
        if not all(isinstance(i, gprob.Single) for i in e.indices):
            return False
        e = e.base
    return True


def _outcome(s: gprob.Stmt | None) -> gprob.Expr | None:
    """What a statement tells the density of, if it is one."""
    if isinstance(s, typed.Tilde):
        return s.value
    if isinstance(s, typed.Increment) and is_density_of(s.value):
        found: gprob.Expr = s.value.arguments[0]
        return found
    return None
