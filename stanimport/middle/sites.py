"""Names of the sites that statements become: unique, and told from Stan's own names."""
from __future__ import annotations

from collections.abc import Iterable

from stanlib.types import is_scalar

from . import gprob


class SiteNames:
    """Hands out names: `y`, `y__2`, ... for observations of y, `mu__prior` for the prior of a parameter mu.

    Stan names can't end in two underscores, and a number behind them is only given here: no name is a parameter's.
    """

    def __init__(self, taken: Iterable[str]):
        self.taken = set(taken)

    def new(self, name: str) -> str:
        site, n = name, 1
        while site in self.taken:
            n += 1
            site = f"{name}__{n}"
        self.taken.add(site)
        return site


def root(e: gprob.Expr) -> str | None:
    """The variable whose values an expression selects or transforms: y in y[n, 1:3], in segment(y, i, n), in log(y)."""
    while isinstance(e, (gprob.Index, gprob.Item, gprob.Promote)):
        e = e.value if isinstance(e, gprob.Promote) else e.base
    if isinstance(e, gprob.Apply):
        containers = {root(a) for a in e.arguments if not is_scalar(a.type)}
        scalars = {root(a) for a in e.arguments if is_scalar(a.type)}
        return next(iter(containers or scalars)) if len(containers or scalars) == 1 else None
    return e.name if isinstance(e, gprob.Var) else None
