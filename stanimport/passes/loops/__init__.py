"""Loops to array code: the passes over one body, in order. Each can be left out by name."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...ir.fresh import Fresh
from ...middle import gprob
from ..binding_times import BindingTimes, walk_statements
from . import branching, lanes, sinking, unfolding

PASSES = ("unfolding", "branching", "sinking", "lanes")


def run(
    body: Sequence[gprob.Stmt], times: BindingTimes, sizes: Mapping[str, gprob.Sized],
    shaped_by: Callable[[str], frozenset[int]], names: Fresh, without: frozenset[str] = frozenset(),
) -> tuple[gprob.Stmt, ...]:  # fmt: skip
    """The body with loops as lanes and recurrences.

    Args:
        times: the binding times of the body.
        sizes: the declared sizes of variables from outside; those of the body are added.
        shaped_by: the positions of the arguments of a user's function that decide shapes or bounds inside it.
        names: the supply of names.
        without: names of passes to leave out.
    """
    out = tuple(body)
    known = {**sizes, **{s.name: s.sized for s in walk_statements(out) if isinstance(s, (gprob.Declare, gprob.Sample))}}
    if "unfolding" not in without:
        out = unfolding.run(out, names)
    if "branching" not in without:
        out = branching.run(out)
    if "sinking" not in without:
        out = sinking.run(out, known)
    if "lanes" not in without:
        out = lanes.Lanes(times, known, shaped_by, names).block(out, lanes.Scope())
    return out
