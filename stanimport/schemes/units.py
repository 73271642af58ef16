"""What discrete parameters couple, apart in the log likelihood, with the places of the data that it is of."""
from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from stanlib import sites
from stanlib.discrete import TOLD
from stanlib.types import INT, REAL, array

from ..ir import gprob
from ..ir.calls import raw
from ..ir.uses import is_units

_SUM, _OUTCOMES = "discrete_log_sum__", "discrete_outcomes__"


def with_units(program: gprob.Program) -> gprob.Program:
    """The program, which tells the outcomes of its units; with one sum of all where no data are known to be theirs."""
    names = {v.name for v in (*program.data, *program.transformed_data_variables)}
    return replace(program, model=tuple(t for s in program.model for t in _told(s, names)))


def variable_of(e: gprob.Apply, names: Container[str]) -> str | None:
    """The first variable of the data that is known to be observed in what all units add to the target."""
    told, _ = _divided(e)
    known = (a.value for a in told[::TOLD] if isinstance(a, gprob.Const))
    return next((n for n in known if isinstance(n, str) and n in names), None)


def _divided(e: gprob.Apply) -> tuple[Sequence[gprob.Expr], Sequence[gprob.Expr]]:
    """What is told of all terms, and the arguments of the sum."""
    count, *others = e.arguments
    assert isinstance(count, gprob.Const) and isinstance(count.value, int)
    end = TOLD * count.value
    return others[:end], others[end:]


def _told(s: gprob.Stmt, names: set[str]) -> Iterator[gprob.Stmt]:
    """A statement; behind what all units add to the target, which outcomes that is of."""
    if not isinstance(s, gprob.Factor) or s.place or not is_units(s.value):
        yield s
        return
    assert isinstance(s.value, gprob.Apply)
    variable = sites.variable_of(s.site, names)
    if variable not in names:
        yield replace(s, value=raw(_SUM, REAL, s.span, *_divided(s.value)[1]))
        return
    yield s
    told = raw(_OUTCOMES, array(REAL, 2), s.span, gprob.Const(INT, s.span, variable), *s.value.arguments)
    yield replace(s, value=told, place=True)
