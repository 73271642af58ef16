"""Ancestral sampling: discrete parameters are drawn from their laws, not summed out.

The laws of discrete parameters alone decide their draw; what the program observes given them stays as it is. The
density of the parameters before them has what those laws add up to within their bounds: less than 1 where the bounds
cut a law off.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT

from ..ir import gprob, traversal, typed, uses
from ..ir.fresh import Fresh
from ..ir.likeness import same
from ..ir.traversal import substituted
from ..source import Span
from . import terms
from .adding import without_adding_calls
from .branches import without_continue
from .compile import Summing, local
from .parameters import Discrete, Stmts, of_program, refuse


def drawn_from_laws(program: typed.TypedProgram, names: Fresh) -> tuple[typed.TypedProgram, tuple[gprob.Declare, ...]]:
    """The program whose discrete parameters are transformed ones, drawn before all that depends on them.

    Raises:
        StanSemanticError: for statements about them that are no laws, and what can't be done for every value of them.
    """
    discrete = of_program(program, names)
    program = without_adding_calls(program, names)
    summing = Summing(program, discrete, names)
    derived = without_continue(program.block("transformed parameters"))
    of_derived = summing.depending(derived)
    model = without_continue(program.block("model"))
    depending = summing.depending((*derived, *model))
    _verify((*derived, *model), discrete, depending, {v.name for v in _data(program)})
    _verify_one_each(model, discrete, depending)
    laws, others = tuple(_kept(model, discrete, True)), tuple(_kept(model, discrete, False))
    tables, arguments = summing.model((*map(local, derived), *laws))
    later = summing.later(derived, of_derived, terms.unsettled(derived, of_derived))
    blocks = {
        **program.blocks,
        "parameters": tuple(s for s in program.block("parameters") if not summing.is_discrete(s)),
        "transformed parameters": (*terms.rest(derived, of_derived), *summing.draw(tables, arguments), *later),
        "model": (*others, *summing.weight(tables, arguments)),
    }  # fmt: skip
    return replace(program, blocks=blocks), ()


def _data(program: typed.TypedProgram) -> Iterator[gprob.Declare]:
    for block in ("data", "transformed data"):
        yield from (s for s in program.block(block) if isinstance(s, gprob.Declare))


def _outcome(s: gprob.Stmt) -> gprob.Expr | None:
    """What a statement is a law of."""
    if isinstance(s, typed.Tilde):
        return s.value
    if isinstance(s, typed.Increment) and gprob.is_density(s.value):
        found: gprob.Expr = s.value.arguments[0]
        return found
    return None


def _is_law_of(s: gprob.Stmt, names: Set[str]) -> bool:
    y = _outcome(s)
    base = y.base if isinstance(y, gprob.Index) else y
    return isinstance(base, gprob.Var) and base.name in names


def _kept(body: Stmts, discrete: Mapping[str, Discrete], laws: bool) -> Iterator[gprob.Stmt]:
    """The body with nothing but the laws of discrete parameters added to the target, or with all but these."""
    for s in body:
        if traversal.bodies(s):
            inner = traversal.with_bodies(s, lambda b: tuple(_kept(b, discrete, laws)))
            if any(traversal.bodies(inner)):
                yield inner
        elif not isinstance(s, terms.LEAVES_THAT_ADD) or _is_law_of(s, discrete.keys()) == laws:
            yield s


def _verify(body: Stmts, discrete: Mapping[str, Discrete], depending: Set[str], data: Set[str]) -> None:
    """Refuses what ties discrete parameters to others beyond laws."""
    for s, path in terms.adding(body, depending):
        given = any(uses.reads(p) & depending for p in path)
        if _is_law_of(s, discrete.keys()):
            if given:
                refuse("a discrete parameter can't be drawn where another decides whether it has this law", s.span)
        elif _outcome(s) is None or uses.names_in(_outcome(s)) & depending:
            refuse("discrete parameters can't be drawn from their laws: this statement is no law of them, nor of "
                   "what is observed", s.span)  # fmt: skip


@dataclass(frozen=True)
class _Law:
    """A law of elements of a discrete parameter: its variable, and its indices with loops told by their bounds."""

    name: str
    indices: tuple[Any, ...]
    span: Span

    def overlaps(self, other: _Law) -> bool:
        """Whether it is one of the other's elements too, as far as their indices tell."""
        return self.name == other.name and all(map(same, self.indices, other.indices))


def _verify_one_each(body: Stmts, discrete: Mapping[str, Discrete], depending: Set[str]) -> None:
    """Refuses a second law of the same elements; which of two holds under conditions is not looked into."""
    found: list[_Law] = []
    bounds: list[tuple[gprob.Expr, gprob.Expr]] = []
    for s, path in terms.adding(body, depending):
        if _is_law_of(s, discrete.keys()) and all(isinstance(p, gprob.For) for p in path):
            law = _law(s, [p for p in path if isinstance(p, gprob.For)], bounds)
            if any(law.overlaps(other) for other in found):
                refuse("discrete parameters can't be drawn from two laws of the same elements", s.span)
            found.append(law)


def _law(s: gprob.Stmt, loops: Sequence[gprob.For], bounds: list[tuple[gprob.Expr, gprob.Expr]]) -> _Law:
    """The law of a statement, with the number of a loop's bounds for its index; `bounds` gets those that are new."""
    named: dict[str, gprob.Expr] = {}
    for loop in loops:
        mine = substituted((loop.lower, loop.upper), named)
        number = next((i for i, b in enumerate(bounds) if same(b, mine)), len(bounds))
        if number == len(bounds):
            bounds.append(mine)
        named[loop.name] = gprob.Const(INT, loop.span, f"loop {number}")
    y = _outcome(s)
    if isinstance(y, gprob.Index) and isinstance(y.base, gprob.Var):
        return _Law(y.base.name, substituted(y.indices, named), s.span)
    assert isinstance(y, gprob.Var)
    return _Law(y.name, (), s.span)
