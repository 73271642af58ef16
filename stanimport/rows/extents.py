"""How many entries a container has that depends on all rows at once: as many as there are rows, or always as many."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stanlib.types import dimensions, is_scalar

from ..ir import gprob
from . import library
from .kinds import FREE, ONE, Kind, rows

FOLLOWING = rows(None)  # their number is that of the rows


class Extents:
    """Extents of expressions, in an environment: FREE, FOLLOWING, or the kind of a value that tells by itself.

    `declared` are the kinds of variables by their sizes alone.
    """

    env: Mapping[str, Kind]

    @property
    def declared(self) -> Mapping[str, Kind]:
        raise NotImplementedError

    def __call__(self, e: gprob.Expr) -> Kind:
        raise NotImplementedError

    def sized(self, kind: Kind, e: gprob.Expr) -> Kind:
        """The kind of an expression, or where that depends on all rows one with as many entries, if it can be told."""
        return kind if kind.tag != "all" or is_scalar(e.type) else self._extent(e) or kind

    def all_sized(self, kinds: Iterable[Kind], expressions: Iterable[gprob.Expr]) -> list[Kind]:
        return [self.sized(k, e) for k, e in zip(kinds, expressions)]

    def _extent(self, e: gprob.Expr) -> Kind | None:
        """How many entries a container has; None where that can't be told by what it is made of."""
        match e:
            case gprob.Var(name=name):
                return _known(self.declared.get(name) or self.env.get(name, FREE))
            case gprob.Promote(value=inner):
                return self._extent(inner)
            case gprob.Cond(then=then, otherwise=otherwise):
                return self._of_one([then, otherwise])
            case gprob.Apply():
                return self._of_call(e)
            case gprob.Index(base=base, indices=(index,)) if dimensions(base.type) == 1:
                return self._of_part(base, index)
            case gprob.MakeArray(items=items) | gprob.MakeRow(items=items) if all(is_scalar(i.type) for i in items):
                return FREE
        return None

    def _of_one(self, like: Sequence[gprob.Expr]) -> Kind | None:
        """The extent of the first of some containers of one size whose extent is known."""
        return next((k for k in map(self._extent, like) if k is not None), None)

    def _of_call(self, e: gprob.Apply) -> Kind | None:
        name, given = e.function.name, e.arguments
        containers = [a for a in given if not is_scalar(a.type)]
        if library.keeps_size(e.function) or name in ("multiply", "divide") and len(containers) == 1:
            return self._of_one(containers)
        if name in library.FILLED and all(is_scalar(a.type) for a in given):
            sizes = [self(a) for a in given[name.startswith("rep_") :]]
            return FREE if all(s.is_constant for s in sizes) else FOLLOWING if _count(sizes) else None
        return _known(self(e))

    def _of_part(self, base: gprob.Expr, index: gprob.IndexExpr) -> Kind | None:
        """The extent of a part of a vector or array: `[:]`, `[1:N]`, `[2:5]`, or one entry for each of some indices."""
        if isinstance(index, gprob.Multi):
            return self._extent(index.value)
        if not isinstance(index, gprob.Range):
            return None
        if index.lower is None and index.upper is None:
            return self._extent(base)
        if index.upper is None:
            return None
        lower, upper = ONE if index.lower is None else self(index.lower), self(index.upper)
        if lower == ONE and upper.tag == "size":
            return FOLLOWING
        return FREE if lower.is_constant and upper.is_constant else None


def _known(kind: Kind) -> Kind | None:
    return kind if kind.is_constant or kind.tag == "rows" else None


def _count(sizes: Sequence[Kind]) -> bool:
    """Whether one of some sizes is how many rows there are, and the others are none of theirs."""
    return sum(s.tag == "size" for s in sizes) == 1 and all(s.is_constant or s.tag == "size" for s in sizes)
