"""Terms of one element that loops add up, of which many are the same: each is computed once, as often as it stands."""
from __future__ import annotations

from collections.abc import Sequence, Set

from ..ir import gprob
from ..ir.fresh import Fresh
from .alike import alike
from .segments import segments, without_conditions
from .sites import Site, key_loops, with_values
from .terms import Term


def repeated(term: Term, sites: Sequence[Site], loops: tuple[gprob.For, ...], static: Set[str],
             excluding: Sequence[gprob.Expr], names: Fresh) -> tuple[gprob.For, ...]:  # fmt: skip
    """The loops of a term, with those inside of them whose iterations are the same wherever some ints of data are.

    Args:
        sites: the elements on which the term depends; `loops` are what their indices need.
        static: what data alone decide.
        excluding: the conditions that say which values are left out.
    """
    further = key_loops(term, static)
    plain = not (term.changed or term.before or any(s.missing or s.guards for s in sites))
    if len(sites) != 1 or len(further) == len(loops) or not plain:
        return loops
    top, indices = with_values(term.top, sites), {s.name for s in further}
    if segments(without_conditions(top, excluding), sites, loops, static, names) is not None:
        return loops
    found = alike(top, further, (), static, names)
    bare = found is None or any(isinstance(k, gprob.Var) and k.name in indices for k in found.keys)
    return loops if bare else further
