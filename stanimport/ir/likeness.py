"""Whether two expressions or statements are the same, wherever they stand in the text."""
from __future__ import annotations

from . import gprob, traversal


def same(a: object, b: object) -> bool:
    """Whether two nodes are alike but for their spans. Two draws of random numbers never are."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) is not type(b):
        return False
    if isinstance(a, gprob.Apply) and a.function.random:
        return False
    if not isinstance(a, traversal.NODES):
        return bool(a == b)
    return all(same(getattr(a, f), getattr(b, f)) for f in a.__dataclass_fields__ if f != "span")


def same_value(a: gprob.Expr, b: gprob.Expr) -> bool:
    """The same of two expressions of which one may be an int that the other promotes."""
    return same(_bare(a), _bare(b))


def _bare(e: gprob.Expr) -> gprob.Expr:
    while isinstance(e, gprob.Promote):
        e = e.value
    return e
