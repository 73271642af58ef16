"""What the sites of statements are called after."""
from __future__ import annotations

from stanlib.types import is_scalar

from ..ir import gprob


def root(e: gprob.Expr) -> str | None:
    """The variable whose values an expression selects or transforms: y in y[n, 1:3], in segment(y, i, n), in log(y)."""
    while isinstance(e, (gprob.Index, gprob.Item, gprob.Promote)):
        e = e.value if isinstance(e, gprob.Promote) else e.base
    if isinstance(e, gprob.Apply):
        containers = {root(a) for a in e.arguments if not is_scalar(a.type)}
        scalars = {root(a) for a in e.arguments if is_scalar(a.type)}
        return next(iter(containers or scalars)) if len(containers or scalars) == 1 else None
    return e.name if isinstance(e, gprob.Var) else None


def container(e: gprob.Expr) -> str | None:
    """The variable that an expression is, or that it is a part of by its indices."""
    while isinstance(e, gprob.Index):
        e = e.base
    return e.name if isinstance(e, gprob.Var) else None
