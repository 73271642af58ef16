"""Vectors of log densities that the target is increased by as a whole, an entry for each observation.

`for (n in 1:N) lp[n] = log_mix(p, normal_lpdf(y[n] | m, 1), normal_lpdf(y[n] | 0, 1)); target += sum(lp);`
"""
from __future__ import annotations

from stanlib.types import REAL, ROW_VECTOR, VECTOR, array

from ..ir import gprob, traversal, typed
from ..ir.likeness import same_value
from ..ir.traversal import substituted
from ..ir.uses import mentions, names_in
from .likelihoods import Likelihoods, Write, is_certain, reads_own_entry, whole


def of_observations(s: typed.Increment, of: Likelihoods) -> tuple[gprob.Var, tuple[gprob.Expr, ...]] | None:
    """The vector that an increment sums, and outcomes of its entries: those of the first that each loop sets.

    None if it sums no vector, or one of which an entry may hold more than one observation.
    """
    value = s.value
    if isinstance(value, gprob.Apply) and value.function.name == "sum":
        value = value.arguments[0]
    if not isinstance(value, gprob.Var) or value.type not in (VECTOR, ROW_VECTOR, array(REAL, 1)):
        return None
    writes = of.writes.get(value.name, ())
    if not writes or any(isinstance(t, gprob.For) for t in of.around(s)):
        return None
    others = [w for w in writes if not _is_beginning(w, of)]
    found = [_first(w, of) for w in others]
    outcomes = [y for one in found if one is not None for y in one]
    complete = len(others) == len(writes) or any(_is_complete(w, of) for w in others)
    return (value, tuple(outcomes)) if complete and outcomes and None not in found else None


def _is_beginning(w: Write, of: Likelihoods) -> bool:
    """Whether a statement sets the whole vector to numbers that are no densities, such as zeros."""
    others = set(of.reached(w.value)) - {w.name}
    return w.place is None and not any(any(of.within(e)) for e in (w.value, *of.values(others)))


def _is_complete(w: Write, of: Likelihoods) -> bool:
    """Whether a statement is known to set all entries: none is left without an observation, as a first lag is."""
    loop, size = _loop(w), of.sizes.get(w.name, ())
    if loop is None or len(size) != 1 or not is_certain(w, loop):
        return False
    return isinstance(loop.lower, gprob.Const) and loop.lower.value == 1 and same_value(loop.upper, size[0])


def _first(w: Write, of: Likelihoods) -> list[gprob.Expr] | None:
    """The outcomes of an entry in the first iteration of the loop that sets it; None if an entry may hold others.

    Of outcomes that don't come one after the other, their variable.
    """
    loop = _loop(w)
    if loop is None or not reads_own_entry(w):
        return None
    before = of.held_alone(w, loop)
    if before is None:
        return None
    outcomes = [y for e in (w.value, *(x.value for x in before)) for y in of.within(e)]
    if any(not names_in(y) <= {*of.data, loop.name} for y in outcomes):
        return None
    return [substituted(y if _is_along(y, loop.name) else whole(y), {loop.name: loop.lower}) for y in outcomes]


def _is_along(y: gprob.Expr, loop: str) -> bool:
    """Whether an outcome is the next number, or row, of its variable in every iteration, or a range of any."""
    return not any(
        isinstance(i, gprob.Single) and mentions(i, {loop}) and not _steps(i.value, loop)
        for n in traversal.walk(y) if isinstance(n, gprob.Index) for i in n.indices
    )  # fmt: skip


def _steps(e: gprob.Expr, loop: str) -> bool:
    """Whether a number is one more in every iteration: the index itself, a constant more, or less."""
    if isinstance(e, gprob.Var):
        return e.name == loop
    if not isinstance(e, gprob.Apply) or e.function.name not in ("add", "subtract"):
        return False
    index, constant = e.arguments
    if e.function.name == "add" and not mentions(index, {loop}):
        index, constant = constant, index
    return _steps(index, loop) and not mentions(constant, {loop})


def _loop(w: Write) -> gprob.For | None:
    """The loop over the entries that a statement sets, one in each iteration, the first a known one."""
    steps = () if w.place is None else w.place.steps
    index = steps[0].indices[0] if len(steps) == 1 and len(steps[0].indices) == 1 else None
    counted = index.value if isinstance(index, gprob.Single) else None
    for t in w.path:
        if isinstance(t, gprob.For) and isinstance(counted, gprob.Var) and t.name == counted.name:
            return t if isinstance(t.lower, gprob.Const) else None
    return None
