"""A program from which data are drawn: discrete parameters are drawn from their laws, not summed out.

The laws of discrete parameters alone decide their draw; what the program observes given them stays as it is.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from ..ir import gprob, traversal, typed, uses
from ..ir.fresh import Fresh
from . import terms
from .branches import without_continue
from .compile import Summing, local
from .parameters import Discrete, Stmts, of_program, refuse


def drawn_from_laws(program: typed.TypedProgram, names: Fresh) -> tuple[typed.TypedProgram, tuple[gprob.Declare, ...]]:
    """The program whose discrete parameters are transformed ones, drawn before all that depends on them.

    Raises:
        StanSemanticError: for statements about them that are no laws, and what can't be done for every value of them.
    """
    discrete = of_program(program, names)
    summing = Summing(program, discrete, names)
    derived = without_continue(program.block("transformed parameters"))
    of_derived = summing.depending(derived)
    model = without_continue(program.block("model"))
    depending = summing.depending((*derived, *model))
    _verify((*derived, *model), discrete, depending, {v.name for v in _data(program)})
    laws, others = tuple(_kept(model, discrete, True)), tuple(_kept(model, discrete, False))
    tables, arguments = summing.model((*map(local, derived), *laws))
    later = summing.later(derived, of_derived, terms.unsettled(derived, of_derived))
    blocks = {
        **program.blocks,
        "parameters": tuple(s for s in program.block("parameters") if not summing.is_discrete(s)),
        "transformed parameters": (*terms.rest(derived, of_derived), *summing.draw(tables, arguments), *later),
        "model": others,
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
