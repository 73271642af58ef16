"""Terms of one element that loops add up, of which many are the same: each is computed once, as often as it stands."""
from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from ..ir import gprob, uses
from ..ir.fresh import Fresh
from .alike import alike
from .parameters import Stmts
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


def without_loops(top: Stmts, loops: Sequence[gprob.For], is_static: Callable[[gprob.Expr], bool]) -> Stmts | None:
    """The statements inside the loops of a term, if there are any and all iterations are the same.

    Args:
        is_static: whether data and the indices of the loops decide a condition.
    """
    body, keys, indices = top, len(loops), {s.name for s in loops}
    while len(body) == 1:
        s = body[0]
        if isinstance(s, gprob.For) and keys and s.name in indices:
            body, keys = s.body, keys - 1
        elif isinstance(s, gprob.If) and is_static(s.condition) and not (s.then and s.otherwise):
            body = s.then or s.otherwise
        else:
            break
    return None if not loops or keys or uses.mentions(body, indices) else body
