"""Of which outcome an increment is the log probability that holds it nowhere: of the value that it is known to have.

`if (k[n] == 0) target += log_sum_exp(log(p), log1m(p) + poisson_lpmf(0 | m)); else target += ... (k[n] | m);`
as of zero inflation and hurdles. Source: Stan User's Guide, "Zero-inflated and hurdle models".
"""
from __future__ import annotations

from collections.abc import Collection, Iterator

from ..ir import gprob, typed
from ..ir.likeness import same_value
from ..ir.uses import leaves
from .likelihoods import Likelihoods
from .sites import container

_COMPARISONS = ("logical_eq", "logical_neq", "logical_lt", "logical_lte", "logical_gt", "logical_gte")


def of_known_value(s: typed.Increment, of: Likelihoods, data: Collection[str]) -> gprob.Expr | None:
    """The datum that is compared with a number, on one side of which the increment stands alone.

    On the other side it is observed; else the increment may be anything.
    """
    branch = next((t for t in reversed(of.around(s)) if isinstance(t, gprob.If)), None)
    datum = None if branch is None else _compared(branch.condition, data)
    if branch is None or datum is None:
        return None
    mine, other = (branch.then, branch.otherwise) if _adding(branch.then, s) else (branch.otherwise, branch.then)
    alone = [t for t, _ in leaves(mine) if isinstance(t, (typed.Tilde, typed.Increment))] == [s]
    return datum if alone and any(same_value(y, datum) for y in _observed(other, of)) else None


def _compared(condition: gprob.Expr, data: Collection[str]) -> gprob.Expr | None:
    """The part of the data in a comparison with a number."""
    if not isinstance(condition, gprob.Apply) or condition.function.name not in _COMPARISONS:
        return None
    left, right = condition.arguments
    if isinstance(left, gprob.Const):
        left, right = right, left
    left = left.value if isinstance(left, gprob.Promote) else left
    return left if isinstance(right, gprob.Const) and container(left) in data else None


def _adding(side: tuple[gprob.Stmt, ...], s: gprob.Stmt) -> bool:
    return any(t is s for t, _ in leaves(side))


def _observed(side: tuple[gprob.Stmt, ...], of: Likelihoods) -> Iterator[gprob.Expr]:
    """The outcomes of the densities on one side of a branch."""
    for t, _ in leaves(side):
        if isinstance(t, typed.Tilde):
            yield t.value
        elif isinstance(t, typed.Increment):
            yield from of.within(t.value)
