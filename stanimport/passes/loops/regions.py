"""Which parts of a variable statements write before they read them: what is read elsewhere comes from before them.

Along each axis of an array what is certainly written is a range of rows whose ends are linear forms. A loop that writes
row t after rows up to t - 1 has written a range when it ends; by induction its iterations may read what lies behind
them, as in `for (t in 2:T) for (k in 1:K) x[t, k] = f(x[t - 1])` behind `x[1] = ...`.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import takewhile

from stanlib.dataclass import dataclass

from ...ir import gprob
from ...ir.uses import escapes, loop_indices, walk_statements, written
from .accesses import Access, of_statement, reads, step_indices
from .affine import Linear, Ranges, difference, is_nonnegative, linear

Stmts = Sequence[gprob.Stmt]
Forms = tuple[Linear, ...]
ONE = Linear({}, 1)


@dataclass(frozen=True)
class Rows:
    """The rows from `first` to `last`, none where that lies before `first`.

    `starts` says that row `first` is certainly written and so there is such a row, `ends` says so of `last`.
    """

    first: Linear
    last: Linear
    starts: bool = True
    ends: bool = True


@dataclass(frozen=True)
class Part:
    """What is written of a variable, or of a row of it: all of it, some rows, and parts of other rows."""

    whole: bool = False
    rows: Rows | None = None
    inside: tuple[tuple[Linear, "Part"], ...] = ()

    def row(self, form: Linear) -> "Part":
        return next((p for f, p in self.inside if difference(f, form) == 0), NOTHING)

    def with_row(self, form: Linear, part: "Part") -> "Part":
        others = tuple((f, p) for f, p in self.inside if difference(f, form) != 0)
        return replace(self, inside=(*others, (form, part)))


NOTHING, WHOLE = Part(), Part(whole=True)


def scan(body: Stmts, name: str, sizes: Mapping[str, gprob.Sized]) -> tuple[bool, bool]:
    """Whether statements read what a variable held before them, and whether they certainly write the whole of it."""
    shape = tuple(map(linear, sizes[name].shape)) if name in sizes else ()
    reader = _Reader(name, shape, frozenset(written(body)) | frozenset(loop_indices(body)))
    exposed, after = reader.block(body, NOTHING)
    return exposed, reader.is_complete(after, 0)


@dataclass(frozen=True)
class _Reader:
    """`changing` are the names whose values differ within the statements, `ranges` the bounds of the loops around."""

    name: str
    shape: Forms
    changing: frozenset[str]
    ranges: Ranges = field(default_factory=dict)

    def block(self, body: Stmts, known: Part) -> tuple[bool, Part]:
        """Whether something is read that is not known to be written, and what is known behind the statements."""
        exposed = False
        for s in body:
            found, known = self._statement(s, known)
            exposed = exposed or found
        return exposed, known

    def _statement(self, s: gprob.Stmt, known: Part) -> tuple[bool, Part]:
        """The same of one statement, before which `known` is written."""
        if isinstance(s, gprob.Declare) and s.name == self.name:
            return False, WHOLE
        if isinstance(s, gprob.For):
            return self._for(s, known)
        if isinstance(s, gprob.While):
            return self._reads((s.condition,), known) or self.block(s.body, known)[0], known
        if isinstance(s, gprob.If):
            sides = [self.block(b, known) for b in (s.then, s.otherwise)]
            exposed = self._reads((s.condition,), known) or any(e for e, _ in sides)
            return exposed, sides[0][1] if sides[0][1] == sides[1][1] else known
        accesses = [a for a in of_statement(s) if a.name == self.name]
        exposed = any(not a.writes and not self._covers(known, a) for a in accesses)
        for a in accesses:
            if a.writes:
                known = self._write(known, self._written_at(s, a), 0)
        return exposed, known

    def _reads(self, nodes: Sequence[object], known: Part) -> bool:
        return any(a.name == self.name and not self._covers(known, a) for e in nodes for a in reads(e))

    # --- what is written

    def _written_at(self, s: gprob.Stmt, a: Access) -> Forms | None:
        """The indices of what an assignment writes, without those behind that take all; None where they don't tell."""
        if not a.indices:
            return ()
        indices = step_indices(s.place) if isinstance(s, gprob.Assign) else None
        if indices is None or len(indices) > len(self.shape):
            return None
        while indices and isinstance(indices[-1], gprob.Range) and indices[-1] == gprob.ALL:
            indices = indices[:-1]
        made = tuple(linear(i.value) for i in indices if isinstance(i, gprob.Single))
        return made if len(made) == len(indices) and all(map(self._is_stable, made)) else None

    def _is_stable(self, form: Linear) -> bool:
        """Whether a form has the same value wherever it stands, but for the indices of the loops around."""
        return not form.mentions(self.changing - self.ranges.keys())

    def _write(self, known: Part, at: Forms | None, axis: int) -> Part:
        if at is None or known.whole:
            return known
        if not at:
            return WHOLE
        row = self._write(known.row(at[0]), at[1:], axis + 1)
        if not self.is_complete(row, axis + 1):
            return known.with_row(at[0], row)
        return replace(known, rows=self._grown(known.rows, at[0]))

    def _grown(self, rows: Rows | None, form: Linear) -> Rows:
        if rows is None:
            return Rows(form, form)
        if difference(form, rows.last) == 1:
            return replace(rows, last=form, ends=True)
        return replace(rows, first=form, starts=True) if difference(rows.first, form) == 1 else rows

    def is_complete(self, known: Part, axis: int) -> bool:
        """Whether all rows along an axis are written."""
        if known.whole or known.rows is None or axis >= len(self.shape):
            return known.whole
        return difference(known.rows.first, ONE) == 0 and difference(known.rows.last, self.shape[axis]) == 0

    # --- what is read

    def _covers(self, known: Part, a: Access) -> bool:
        """Whether what is read is known to be written."""
        axis = 0
        for form in a.indices:
            if self.is_complete(known, axis) or axis >= len(self.shape):
                break
            if form is None or not self._is_stable(form):
                return False
            if known.rows is not None and self._within(form, known.rows, self.shape[axis]):
                return True
            known, axis = known.row(form), axis + 1
        return self.is_complete(known, axis)

    def _within(self, form: Linear, rows: Rows, size: Linear) -> bool:
        """Whether a row is one of a range. Stan throws for one below 1 or above the size, when it is written too."""
        is_lowest, is_highest = difference(form, ONE) == 0, difference(form, size) == 0
        behind = is_highest and rows.starts or difference(rows.first, ONE) == 0
        before = is_lowest and rows.ends or difference(rows.last, size) == 0
        behind = behind or is_nonnegative(form.plus(rows.first, -1), self.ranges)
        return behind and (before or is_nonnegative(rows.last.plus(form, -1), self.ranges))

    # --- loops

    def _for(self, s: gprob.For, known: Part) -> tuple[bool, Part]:
        """What `block` tells, of a loop: by induction where its iterations write row after row, else as of any one."""
        lower, upper = linear(s.lower), linear(s.upper)
        exposed = self._reads((s.lower, s.upper), known)
        if not (self._is_stable(lower) and self._is_stable(upper)) or s.name in self.ranges:
            return exposed or self.block(s.body, known)[0], known
        inside = replace(self, ranges={**self.ranges, s.name: (lower, upper)})
        if not escapes(s.body):
            for prefix, form in inside.moving(s):
                after = self._by_induction(s, known, prefix, form, inside)
                if after is not None:
                    return exposed, after
        found, after = inside.block(s.body, known)
        is_whole = self._runs(lower, upper) and not escapes(s.body)  # what stands behind an escape may never run
        return exposed or found, after if is_whole and not _mentions(after, s.name) else known

    def _runs(self, lower: Linear, upper: Linear) -> bool:
        """Whether a loop has an iteration, whatever the data, if the variable has components."""
        more = difference(upper, lower)
        if more is not None:
            return more >= 0
        return difference(lower, ONE) == 0 and any(difference(upper, size) == 0 for size in self.shape)

    def moving(self, s: gprob.For) -> Iterator[tuple[Forms, Linear]]:
        """What the body writes at an index that moves with the loop one by one: the indices before it, and that one."""
        for t in walk_statements(s.body):
            if not isinstance(t, gprob.Assign) or t.place.name != self.name:
                continue
            singles = takewhile(lambda i: isinstance(i, gprob.Single), step_indices(t.place) or ())
            forms = [linear(i.value) for i in singles if isinstance(i, gprob.Single)]
            axis = next((k for k, f in enumerate(forms) if f.mentions({s.name})), len(forms))
            if axis >= min(len(forms), len(self.shape)) or not all(map(self._is_stable, forms[: axis + 1])):
                continue
            form = forms[axis]
            if abs(form.coefficient(s.name)) == 1 and not form.without(s.name).mentions({s.name}):
                yield tuple(forms[:axis]), form

    def _by_induction(
        self, s: gprob.For, known: Part, prefix: Forms, form: Linear, inside: "_Reader"
    ) -> Part | None:  # fmt: skip
        """What is known behind a loop whose iterations each write the row at `form` of the part at `prefix`.

        It is taken as known in an iteration that those before it have done so. None if that does not hold.
        """
        lower, upper = inside.ranges[s.name]
        rows, up = _at(known, prefix).rows, form.coefficient(s.name) == 1
        begin, end, one_before = form.at(s.name, lower), form.at(s.name, upper), form.plus(ONE, -1 if up else 1)
        before, made, after = (_joined(rows, begin, last, up) for last in (one_before, form, end))
        exposed, found = inside.block(s.body, _changed(known, prefix, before))
        if exposed or not _equal(_at(found, prefix).rows, made):
            return None
        return self._settled(_changed(known, prefix, after), prefix)

    def _settled(self, known: Part, prefix: Forms) -> Part:
        """The same with rows of which all parts are written as such."""
        for depth in range(len(prefix), 0, -1):
            if not self.is_complete(_at(known, prefix[:depth]), depth):
                return known
            around = prefix[: depth - 1]
            known = _changed(known, around, self._grown(_at(known, around).rows, prefix[depth - 1]))
        return known


def _joined(rows: Rows | None, begin: Linear, end: Linear, up: bool) -> Rows:
    """The rows from `begin` to `end`, downwards if not `up`, with those that they continue."""
    if up:
        joins = rows is not None and difference(begin, rows.last) == 1
        return replace(rows, last=end, ends=False) if rows is not None and joins else Rows(begin, end, False, False)
    joins = rows is not None and difference(rows.first, begin) == 1
    return replace(rows, first=end, starts=False) if rows is not None and joins else Rows(end, begin, False, False)


def _equal(a: Rows | None, b: Rows) -> bool:
    return a is not None and difference(a.first, b.first) == 0 and difference(a.last, b.last) == 0


def _at(known: Part, prefix: Forms) -> Part:
    for form in prefix:
        known = known.row(form)
    return known


def _changed(known: Part, prefix: Forms, rows: Rows) -> Part:
    """The same with these rows in a part of it."""
    if not prefix:
        return replace(known, rows=rows)
    return known.with_row(prefix[0], _changed(known.row(prefix[0]), prefix[1:], rows))


def _mentions(known: Part, name: str) -> bool:
    """Whether what is known depends on the index of a loop."""
    ends = [] if known.rows is None else [known.rows.first, known.rows.last]
    inside = any(f.mentions({name}) or _mentions(p, name) for f, p in known.inside)
    return inside or any(f.mentions({name}) for f in ends)
