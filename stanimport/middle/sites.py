"""Names of the sites that statements become: unique, and told from Stan's own names."""
from __future__ import annotations

from collections.abc import Iterable

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
    """The variable at the root of an indexed expression: y in y[n, 1:3]."""
    while isinstance(e, (gprob.Index, gprob.Item, gprob.Promote)):
        e = e.value if isinstance(e, gprob.Promote) else e.base
    if isinstance(e, gprob.Apply) and e.function.name in ("to_vector", "to_array_1d", "to_row_vector"):
        return root(e.arguments[0])
    return e.name if isinstance(e, gprob.Var) else None
