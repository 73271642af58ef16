"""How many entries a container has that depends on all rows at once: as many as there are rows, or always as many."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stanlib.types import dimensions, is_scalar

from ..ir import gprob
from . import library
from .kinds import FREE, SIZE, Kind, rows

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
        """The extent of what a function of the library gives: of its containers, or as its arguments say."""
        name, given = e.function.name, e.arguments
        containers = [a for a in given if not is_scalar(a.type)]
        if library.keeps_size(e.function) or name in ("multiply", "divide") and len(containers) == 1:
            return self._of_one(containers)
        if name in library.FILLED and all(is_scalar(a.type) for a in given):
            return _counted([self._number(a) for a in given[name.startswith("rep_") :]])
        if name in library.COUNTED and dimensions(e.type) == 1:
            return _counted([self._number(given[library.COUNTED[name]])])
        if name in library.APPENDED and dimensions(e.type) == 1:
            return _together([FREE if is_scalar(a.type) else self._extent(a) for a in given])
        return _known(self(e))

    def _number(self, e: gprob.Expr) -> Kind | None:
        """SIZE for an integer that is how many rows there are, but for what depends on none; FREE for the latter."""
        kind = self(e)
        if kind.is_constant or kind.tag == "size":
            return SIZE if kind.tag == "size" else FREE
        if not isinstance(e, gprob.Apply) or e.function.name not in ("add", "subtract"):
            return None
        left, right = map(self._number, e.arguments)
        if right == FREE:
            return left
        if e.function.name == "subtract":
            return _difference(left, right)
        return right if left == FREE else None

    def _of_part(self, base: gprob.Expr, index: gprob.IndexExpr) -> Kind | None:
        """The extent of a part of a vector or array: `[:]`, `[2:N]`, `[2:5]`, or one entry for each of some indices."""
        if isinstance(index, gprob.Multi):
            return self._extent(index.value)
        if not isinstance(index, gprob.Range):
            return None
        lower = FREE if index.lower is None else self._number(index.lower)
        if index.upper is not None:
            return _counted([_difference(self._number(index.upper), lower)])
        whole = self._extent(base)
        last = None if whole is None else FREE if whole.is_constant else SIZE
        return _counted([_difference(last, lower)])


def _known(kind: Kind) -> Kind | None:
    return kind if kind.is_constant or kind.tag == "rows" else None


def _difference(left: Kind | None, right: Kind | None) -> Kind | None:
    """The number that is left of another one: that of the rows cancels out."""
    if left is None or right is None or (left, right) == (FREE, SIZE):
        return None
    return FREE if left == right else SIZE


def _counted(numbers: Sequence[Kind | None]) -> Kind | None:
    """The extent of a container of these sizes: FOLLOWING if one of them is SIZE, and the others are FREE."""
    if None in numbers or numbers.count(SIZE) > 1:
        return None
    return FOLLOWING if SIZE in numbers else FREE


def _together(parts: Sequence[Kind | None]) -> Kind | None:
    """The extent of containers one behind the other."""
    if None in parts:
        return None
    return FREE if all(k is not None and k.is_constant for k in parts) else FOLLOWING
