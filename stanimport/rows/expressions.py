"""The kinds of expressions, in an environment of the kinds of variables."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol

from stanlib.dataclass import dataclass
from stanlib.types import is_scalar

from ..ir import gprob
from ..source import Span
from . import library
from .extents import Extents
from .kinds import FREE, INDEX, NETWORK, ONE, ROW, SIZE, ZERO, Kind, alike, everything, joined, rows, worst


class Calls(Protocol):
    """What the program's functions make of arguments."""

    networks: frozenset[str]
    in_rows: bool
    sizes: dict[str, Kind]

    def value(self, name: str, given: Sequence[Kind], call: gprob.Expr) -> Kind:
        """The kind of what a call returns."""

    def refuse_sizes(self, message: str, span: Span) -> None:
        """Note sizes that are one for all data, but not for a batch."""

    def note_place(self, span: Span) -> None:
        """Note a part of all rows that values of rows choose: a batch may lack it, whether a term needs it or not."""


@dataclass
class Expressions(Extents):
    """Evaluates expressions to kinds; `env` is that of the statement where they stand."""

    env: Mapping[str, Kind]
    calls: Calls
    seen: dict[int, tuple[gprob.Expr, Kind]] = field(default_factory=dict)

    @property
    def declared(self) -> Mapping[str, Kind]:
        return self.calls.sizes

    def __call__(self, e: gprob.Expr) -> Kind:
        """The kind of an expression, once for all that ask."""
        if id(e) not in self.seen:
            self.seen[id(e)] = e, self._placed(e)
        return self.seen[id(e)][1]

    def _placed(self, e: gprob.Expr) -> Kind:
        kind = self._kind(e)
        return Kind(kind.tag, kind.axis, e.span, kind.name) if kind.tag == "all" and kind.span is None else kind

    def _kind(self, e: gprob.Expr) -> Kind:
        """The kind of an expression, perhaps without the place where it comes to depend on all rows."""
        match e:
            case gprob.Const(value=value):
                return ZERO if value == 0 else ONE if value == 1 else FREE
            case gprob.Var(name=name):
                return self.env.get(name, FREE)
            case gprob.Promote(value=inner):
                return self(inner)
            case gprob.Apply():
                return self._call(e)
            case gprob.CallUser():
                return self._own(e)
            case gprob.Index(base=base, indices=indices):
                return self.part(self(base), [self.index(i) for i in indices], e)
            case gprob.Cond(condition=c, then=then, otherwise=otherwise):
                return self._chosen(self(c), self(then), self(otherwise), e)
            case gprob.Logical(left=left, right=right):
                return alike((self(left), self(right)), e.span)
            case gprob.MakeTuple(items=items) | gprob.MakeArray(items=items) | gprob.MakeRow(items=items):
                return self._made([self(i) for i in items], e)
            case gprob.Item(base=base):
                return self(base)
            case gprob.FunctionValue():
                return FREE
        return everything(e.span)

    def _own(self, e: gprob.CallUser) -> Kind:
        """The kind of what a function of the program, or a network, gives."""
        given = [self(a) for a in e.arguments]
        if "_rng" in e.function and (self.calls.in_rows or not all(k.is_constant for k in given)):
            return worst(given) or everything(e.span)
        return self._network(given, e) if e.function in self.calls.networks else self.calls.value(e.function, given, e)

    def _call(self, e: gprob.Apply) -> Kind:
        """The kind of a call of the library, which takes all rows together where it draws or is passed a function."""
        if e.function.variadic is not None and e.function.variadic.kind == "reduce_sum":
            return self._reduced(e)
        given = [self(a) for a in e.arguments]
        if e.function.method == "rng" and (self.calls.in_rows or not all(k.is_constant for k in given)):
            return worst(given) or everything(e.span)  # it draws anew for every batch
        passed = any(isinstance(a, gprob.FunctionValue) for a in e.arguments)
        if passed and not all(k.is_local for k in given):
            return worst(given) or everything(e.span)
        if library.pairs_entries(e.function):
            self.verify_sizes(given, e.arguments, e.span)
        return library.result(e, given)

    def verify_sizes(self, given: Sequence[Kind], values: Sequence[gprob.Expr], span: Span) -> None:
        """Refuse values that must have as many entries, where some have one for every row and others don't."""
        if library.differ_in_size(self.all_sized(given, values), [e.type for e in values]):
            text = " ".join(span.text.split())
            self.calls.refuse_sizes(f"of {text!r} one part has an entry for every row, another has other sizes", span)

    def _reduced(self, e: gprob.Apply) -> Kind:
        """`reduce_sum(f, x, grainsize, ...)` is f of all of x at once."""
        function, sliced, _, *rest = e.arguments
        given = [self(sliced), *(self(a) for a in rest)]
        if not isinstance(function, gprob.FunctionValue) or not isinstance(function.function, str):
            return everything(e.span)
        last = SIZE if library.first(given[0]) == rows(0) else FREE
        return self.calls.value(function.function, [given[0], ONE, last, *given[1:]], e)

    def _network(self, given: Sequence[Kind], e: gprob.Expr) -> Kind:
        """A network takes entries along the first axis apart, as those of batches do."""
        if all(k.is_constant for k in given):
            return FREE
        fits = all(k.is_constant or k.tag == "rows" and k.axis in (0, None) for k in given)
        if fits and not is_scalar(e.type):
            return NETWORK
        return worst(given) or (ROW if all(k.is_local for k in given) else everything(e.span))

    def _chosen(self, condition: Kind, then: Kind, otherwise: Kind, e: gprob.Cond) -> Kind:
        self.verify_sizes([then, otherwise], [e.then, e.otherwise], e.span)
        value = joined(then, otherwise, e.span)
        if condition.is_constant or value.tag == "all":
            return value
        return ROW if condition == ROW and value.is_local else worst((condition,)) or everything(e.span)

    def _made(self, items: Sequence[Kind], e: gprob.MakeTuple | gprob.MakeArray | gprob.MakeRow) -> Kind:
        """A container of items: those that hold rows do so one axis further in."""
        kind = alike(items, e.span)
        if not isinstance(e, gprob.MakeTuple):
            self.verify_sizes(items, e.items, e.span)
        if kind.tag != "rows" or isinstance(e, gprob.MakeTuple):
            return kind if kind.is_local or kind.tag == "all" else everything(e.span)
        return rows(kind.axis + 1) if isinstance(kind.axis, int) else everything(e.span)

    # --- parts of containers

    def index(self, i: gprob.IndexExpr) -> tuple[gprob.IndexExpr, Kind]:
        """An index, and how what it selects depends on rows."""
        if isinstance(i, gprob.Range):
            return i, self._range(i)
        return i, self(i.value)

    def _range(self, i: gprob.Range) -> Kind:
        """`[:]` and `[1:N]` select all: what they leave out is free."""
        lower = ONE if i.lower is None else self(i.lower)
        upper = None if i.upper is None else self(i.upper)
        if lower == ONE and (upper is None or upper.tag == "size"):
            return rows(0) if upper is not None else ONE
        bounds = [lower] if upper is None else [lower, upper]
        return ROW if all(k.is_local for k in bounds) and ROW in bounds else alike(bounds, self._place(i))

    def _place(self, i: gprob.Range) -> Span:
        e = i.lower if i.lower is not None else i.upper
        assert e is not None
        return e.span

    def part(self, base: Kind, indices: Sequence[tuple[gprob.IndexExpr, Kind]], e: gprob.Expr) -> Kind:
        """What indices select of a container."""
        kinds = [k for _, k in indices]
        self._note_places(base, indices, e)
        found = worst((base, *kinds))
        if found is not None:
            return found
        if base.is_local:
            return self._of_local(base, indices, e)
        if base.tag != "rows":
            return everything(e.span)
        return self._of_rows(library.first(base), indices, e)

    def _note_places(self, base: Kind, indices: Sequence[tuple[gprob.IndexExpr, Kind]], e: gprob.Expr) -> None:
        """Note where values of rows are numbers of rows: `h[d]`, of which a batch has those of some rows alone."""
        held = library.first(self.sized(base, e.base) if isinstance(e, gprob.Index) else base)
        axis = 0 if held.axis is None else held.axis
        if held.tag == "rows" and isinstance(axis, int) and axis < len(indices):
            at, kind = indices[axis]
            if kind == ROW or kind.tag == "rows" and isinstance(at, gprob.Multi):
                self.calls.note_place(e.span)

    def _of_local(self, base: Kind, indices: Sequence[tuple[gprob.IndexExpr, Kind]], e: gprob.Expr) -> Kind:
        """Of a container without rows: row n's part of it, or one part for every row."""
        if any(k == INDEX or isinstance(i, gprob.Range) and k.tag == "rows" for i, k in indices):
            return everything(e.span)  # it is no row that stands there
        if all(k.is_local for _, k in indices):
            return ROW if base == ROW or any(k == ROW for _, k in indices) else FREE
        before = 0
        for i, k in indices:
            if isinstance(i, gprob.Multi) and k == rows(0):
                rest = all(other.is_constant for _, other in indices if other is not k)
                return rows(before) if rest and base.is_constant else everything(e.span)
            before += not isinstance(i, gprob.Single)
        return everything(e.span)

    def _of_rows(self, base: Kind, indices: Sequence[tuple[gprob.IndexExpr, Kind]], e: gprob.Expr) -> Kind:
        """Of a container with rows: those on the axis that is left to them, or the part of an iteration's own row."""
        if not isinstance(base.axis, int):
            return everything(e.span)
        others = [k for n, (_, k) in enumerate(indices) if n != base.axis]
        kept = base.axis - sum(isinstance(i, gprob.Single) for i, _ in indices[: base.axis])
        if len(indices) <= base.axis:
            return rows(kept) if all(k.is_constant for k in others) else everything(e.span)
        at, kind = indices[base.axis]
        if isinstance(at, gprob.Single) and kind == INDEX:
            return ROW if all(k.is_local for k in others) else everything(e.span)
        whole = isinstance(at, gprob.Range) and (kind == rows(0) or at.lower is None and at.upper is None)
        return rows(kept) if whole and all(k.is_constant for k in others) else everything(e.span)
