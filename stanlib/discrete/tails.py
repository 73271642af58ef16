"""Chains of two states, one of which is never left, that are alike from some place on: their tails, summed out once.

So are the animals of which nothing differs any more after they were last seen. With R(t) the sum over all that can
follow t if the state may still be left there, divided by that if it is left,

    R(t) = own(t) (stay(t) R(t + 1) + leave(t)),    total = log1p(R(first)) + what stays as it is once it is left,

where all terms are divided by those of what is left. Chains that end alike take R from the tail.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays.base import Namespace
from ..dataclass import dataclass
from . import absorbing
from .chains import Chains, paths_of, together
from .merged import alike, spelled_out
from .problem import Factor, Rows, sum_of, without_elements
from .rows import rows
from .runs import Runs, runs

SHORT = 8  # elements of the longest tail,
HEAD = 4  # of a chain before the tail of another one,
FEW = 0.5  # and all that are left of each that there is, for which this is worth it
KINDS = 16  # of places, of which terms are chosen rather than looked up
DIFFERENT = 0.5  # places of which something differs, of each that there is, below which each kind is computed once
LARGE = 1e280  # what R and 1 / R may be


@dataclass(frozen=True)
class Own:
    """The terms of single elements of two values: which of these each of `members` may have, (n, 2), and factors."""

    members: np.ndarray
    possible: np.ndarray
    factors: tuple[Factor, ...]

    def classes(self, size: int, left: np.ndarray) -> np.ndarray:
        """The same number for elements that these do not tell apart, -1 for those that are not left."""
        out = np.full(size, -1)
        here = left[self.members]
        out[self.members[here]] = alike(self.members[here], self.possible[here], size, self.factors)
        return out

    def terms(self, xp: Namespace, elements: np.ndarray, tables: Sequence[object]) -> Any:
        """Those of elements in ascending order, (n, 2), from the tables of the factors."""
        allowed = self.possible[np.searchsorted(self.members, elements)]
        total: Any = np.where(allowed, 0.0, -np.inf)
        for f, table in zip(self.factors, tables):
            inside = np.isin(f.elements[:, 0], elements)
            if not inside.any():
                continue
            if f.codes is None:
                some = replace(f, elements=f.elements[inside], table=rows(xp, table, np.flatnonzero(inside)))
            else:
                some = replace(f, elements=f.elements[inside], table=table, codes=f.codes[inside])
            total = sum_of(xp, total, _in_order(xp, spelled_out(xp, some), elements))
        return total


def _in_order(xp: Namespace, f: Factor, elements: np.ndarray) -> Any:
    """The terms of elements in ascending order, 0 where there is none."""
    at = np.searchsorted(elements, f.elements[:, 0])
    table = xp.broadcast_to(f.table, (len(at), *xp.shape(f.table)[1:]))
    if len(np.unique(at)) < len(at):
        return xp.segment_sum(table, at, len(elements))
    index = np.full(len(elements), -1)
    index[at] = np.arange(len(at))
    return xp.rearranged(table, index) if len(at) == 1 else rows(xp, table, index)  # a single row is not that of all


@dataclass(frozen=True)
class Stretch:
    """Parts of chains: at which of their places elements have terms of their own, (chains, length).

    With `codes`, (chains, length), each place is like the first one of the chain of that number in `Tails.alike`.
    """

    chains: Chains
    own: np.ndarray
    codes: np.ndarray | None = None

    def rows(self) -> list[np.ndarray]:
        """The rows of every link at all places, -1 where there is none, (chains, length)."""
        return [np.pad(link.rows, ((0, 0), (0, 1)), constant_values=-1) for link in self.chains.links]


@dataclass(frozen=True)
class Tails:
    """The `columns` are chains of which every tail is the end of one; `heads` is what each chain has before its tail.

    A head ends with the first element of its tail, which is that at `places` of the columns. `chains` are whole, and
    count as `often` as they say. From `state` the other one is reached, which is never left.
    """

    chains: Chains
    often: np.ndarray
    columns: Stretch
    heads: Stretch
    column: np.ndarray
    places: np.ndarray
    state: int
    factors: tuple[Factor, ...]  # the slots of all links
    own: Own
    alike: Chains | None  # chains of two: the places of columns and heads of which something differs, and the next
    runs: Runs | None  # of the columns, where their places are of few kinds

    @property
    def elements(self) -> np.ndarray:
        """All elements of the chains."""
        return self.chains.elements[self.chains.elements >= 0]

    @property
    def used(self) -> np.ndarray:
        """Those whose terms are computed for the tails, in ascending order."""
        parts = (self.alike,) if self.alike is not None else (self.columns.chains, self.heads.chains)
        return np.unique(np.concatenate([c.elements[c.elements >= 0] for c in parts]))


def tails(kinds: np.ndarray, possible: Mapping[int, np.ndarray], left: np.ndarray, often: np.ndarray,
          factors: Sequence[Factor]) -> Tails | None:  # fmt: skip
    """Those among the elements that are left; None if there are none that it is worth it for."""
    factors = [f for f in factors if not isinstance(f.table, np.ndarray) or f.table.any()]
    pairs = tuple(_by_rows(f) for f in factors if f.elements.shape[1] == 2)
    wide = any(f.elements.shape[1] > 2 for f in factors)
    if wide or 2 not in possible or not any(_is_absorbing(f) for f in pairs):
        return None
    c = _chains(kinds, left, pairs)
    tables = [Rows(f.table, f.codes) for f in pairs]
    state = None if c is None else absorbing.left_state(tables, c)
    if c is None or state is None:
        return None
    single = tuple(f for f in factors if f.elements.shape[1] == 1)
    own = Own(np.flatnonzero(kinds == 2), possible[2], single)
    classes = own.classes(len(kinds), left)
    shared = _shared(c, classes, tables)
    if shared is None:
        return None
    columns, heads, column, places = shared
    alike, columns, heads = _told_apart(columns, heads, classes, tables)
    along = None if columns.codes is None else runs(columns.codes.T, column, places)
    return Tails(c, often[c.elements[:, 0]], columns, heads, column, places, state, pairs, own, alike, along)


def _by_rows(f: Factor) -> Factor:
    """The factor with one row for each that is different, if they are data."""
    if f.codes is not None or not isinstance(f.table, np.ndarray) or len(f.table) == 1:
        return f
    table, codes = np.unique(f.table, axis=0, return_inverse=True)
    return replace(f, table=table, codes=codes.reshape(-1))


def _is_absorbing(f: Factor) -> bool:
    table = f.table
    return isinstance(table, np.ndarray) and table.shape[1:] == (2, 2) and bool((table == -np.inf).any())


def _chains(kinds: np.ndarray, left: np.ndarray, pairs: Sequence[Factor]) -> Chains | None:
    """Components of two states that are chains, side by side."""
    neighbours: dict[int, set[int]] = {}
    standing: dict[int, dict[tuple[int, int], None]] = {}
    scopes = [list(map(tuple, f.elements.tolist())) for f in pairs]
    open_ = left.tolist()
    for s, scope in enumerate(scopes):
        for r, (a, b) in enumerate(scope):
            if open_[a] and open_[b]:
                for e, other in ((a, b), (b, a)):
                    neighbours.setdefault(e, set()).add(other)
                    standing.setdefault(e, {})[s, r] = None
    paths = [path for path in paths_of(neighbours) if (kinds[path] == 2).all()]
    return together(paths, scopes, standing) if len(paths) > 1 else None


def _shared(c: Chains, classes: np.ndarray, tables: Sequence[Rows]) -> Any:
    """Columns, heads, and where each head ends; None if too little is shared."""
    lengths = (c.elements >= 0).sum(axis=1)
    number = _suffixes(c, classes, tables)
    where: dict[int, tuple[int, int]] = {}  # column and place of all that ends as the end of a column
    columns: list[int] = []
    first = np.zeros(len(lengths), int)  # where the tail of each begins
    for i in np.argsort(-lengths, kind="stable").tolist():
        own = number[i, : lengths[i]].tolist()
        begin = next((t for t, n in enumerate(own[: HEAD + 1]) if n in where), None)
        if begin is None:
            for t, n in enumerate(own):
                where.setdefault(n, (len(columns), t))
            columns.append(i)
        else:
            first[i] = begin
    if lengths.max() < SHORT or lengths[columns].sum() + first.sum() > FEW * lengths.sum():
        return None
    at = np.array([where[int(n)] for n in number[np.arange(len(first)), first]])
    tail = [np.arange(lengths[i]) for i in columns]
    head = [np.arange(n + 1) for n in first]
    whole, heads = _part(c, columns, tail), _part(c, range(len(first)), head)
    return Stretch(whole, whole.elements >= 0), Stretch(heads, _linked(heads)), at[:, 0], at[:, 1]


def _suffixes(c: Chains, classes: np.ndarray, tables: Sequence[Rows]) -> np.ndarray:
    """Numbers for the places of chains, the same where all that follows is; -1 where there is no element."""
    links = [tables[link.slot].at(link.rows) for link in c.links]
    number = np.full(c.elements.shape, -1)
    known: dict[tuple[int, ...], int] = {}
    for i, elements in enumerate(c.elements.tolist()):
        after = -1
        for t in range(len(elements) - 1, -1, -1):
            if elements[t] >= 0:
                key = (after, int(classes[elements[t]]), *(int(at[i, t]) if after >= 0 else -1 for at in links))
                number[i, t] = after = known.setdefault(key, len(known))
    return number


def _part(c: Chains, which: Sequence[int], places: Sequence[np.ndarray]) -> Chains:
    """Stretches of some chains."""
    length = max(map(len, places))
    elements = np.full((len(which), length), -1)
    at = [np.full((len(which), length - 1), -1) for _ in c.links]
    for row, (i, here) in enumerate(zip(which, places)):
        elements[row, : len(here)] = c.elements[i, here]
        for link, own in zip(c.links, at):
            own[row, : len(here) - 1] = link.rows[i, here[:-1]]
    return Chains(elements, tuple(replace(link, rows=own) for link, own in zip(c.links, at)))


def _linked(c: Chains) -> np.ndarray:
    """Which places are linked to the next one, (chains, length)."""
    return np.pad(c.linked, ((0, 0), (0, 1)))


def _told_apart(
    columns: Stretch, heads: Stretch, classes: np.ndarray, tables: Sequence[Rows]
) -> tuple[Chains | None, Stretch, Stretch]:
    """The places of which something differs, and the parts with their numbers; as they were where that is most."""
    all_ = [_keys(s, classes, tables).reshape(s.own.size, -1) for s in (columns, heads)]
    keys = np.concatenate(all_)
    _, first, codes = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    if len(first) > DIFFERENT * len(keys):
        return None, columns, heads
    parts = [c.reshape(s.own.shape) for s, c in zip((columns, heads), np.split(codes.reshape(-1), [columns.own.size]))]
    flat = [np.concatenate([a.reshape(-1), b.reshape(-1)])[first] for a, b in zip(_places(columns), _places(heads))]
    links = (replace(link, rows=at[:, None]) for link, at in zip(columns.chains.links, flat[2:]))
    alike = Chains(np.stack(flat[:2], axis=1), tuple(links))
    return alike, replace(columns, codes=parts[0]), replace(heads, codes=parts[1])


def _keys(s: Stretch, classes: np.ndarray, tables: Sequence[Rows]) -> np.ndarray:
    """What tells places apart, (chains, length, n)."""
    rows_ = (tables[link.slot].at(at) for link, at in zip(s.chains.links, s.rows()))
    return np.stack([s.own, _linked(s.chains), np.where(s.own, classes[s.chains.elements], -1), *rows_], axis=-1)


def _places(s: Stretch) -> list[np.ndarray]:
    """At every place the element, the next one, and the rows of links between these."""
    after = np.pad(s.chains.elements[:, 1:], ((0, 0), (0, 1)), constant_values=-1)
    return [s.chains.elements, after, *s.rows()]


def without(xp: Namespace, t: Tails, left: np.ndarray, stands_for: np.ndarray, given: Sequence[Factor]) -> list[Factor]:
    """The factors of all other elements; those of the chains are left no more."""
    inside = np.zeros(len(left), bool)
    inside[t.elements] = True
    left &= ~inside
    return list(without_elements(xp, inside[stands_for], given))


# --- sums


def log_sum(xp: Namespace, t: Tails) -> Any:
    """The sum of the logarithms of the sums over all paths, as often as each chain counts."""
    count = len(t.own.factors)
    all_ = np.sort(t.elements)

    def split(args: Sequence[Any]) -> tuple[Sequence[Any], list[Rows]]:
        return args[:count], [Rows(table, f.codes) for f, table in zip(t.factors, args[count:])]

    def fast(*args: object) -> tuple[Any, Any]:
        own, tables = split(args)
        return _by_tails(xp, t, _Part(xp, t.own.terms(xp, t.used, own), t.used, tables, t.state))

    def plain(*args: object) -> Any:
        own, tables = split(args)
        part = _Part(xp, t.own.terms(xp, all_, own), all_, tables, t.state)
        sums = absorbing.log_sums(xp, tables, t.chains, part.single(t.chains), t.state)
        often, sums = xp.convert((t.often, sums))
        return xp.sum(often * sums)

    tables = [f.table for f in (*t.own.factors, *t.factors)]
    return xp.sum_or_else(fast, plain, *xp.convert(tuple(tables)))


@dataclass(frozen=True)
class _Part:
    """The terms of elements, (n, 2), and the tables by slot."""

    xp: Namespace
    terms: Any
    elements: np.ndarray
    tables: Sequence[Rows]
    state: int

    def single(self, c: Chains) -> Any:
        """The terms of chains, (2, length, chains)."""
        index = np.where(c.elements < 0, -1, np.searchsorted(self.elements, np.maximum(c.elements, 0))).T
        found = rows(self.xp, self.terms, index.reshape(-1))
        return self.xp.reshape(self.xp.swapaxes(found, 0, 1), (2, *index.shape))

    def all_ratios(self, t: Tails, often: Sequence[np.ndarray]) -> tuple[list[tuple[Any, Any]], Any]:
        """Those of columns and heads, of columns with runs by kind, and all that stays as it is."""
        parts = t.columns, t.heads
        if t.alike is None:
            found = [self.ratios(s.chains, o, s.own.T) for s, o in zip(parts, often)]
            return [(growth, added) for growth, added, _ in found], found[0][2] + found[1][2]
        weights, own = np.zeros((2, len(t.alike.elements))), np.zeros((2, len(t.alike.elements)), bool)
        codes = [s.codes.T for s in parts if s.codes is not None]
        for s, at, o in zip(parts, codes, often):
            np.add.at(weights[0], at, o)
            own[0, at] = s.own.T
        growth, added, kept = self.ratios(t.alike, weights, own)
        along, head = ((self._at(growth[0], at), self._at(added[0], at)) for at in codes)
        return [along if t.runs is None else (growth[0], added[0]), head], kept

    def _at(self, x: Any, codes: np.ndarray) -> Any:
        """The entries of numbers."""
        xp, count = self.xp, self.xp.shape(x)[0]
        if count > KINDS:
            return xp.reshape(xp.rearranged(x, codes.reshape(-1)), codes.shape)
        each, x = xp.convert((np.arange(count)[:, None] == codes.reshape(-1), x))
        return xp.reshape(xp.matmul(x, each * 1.0), codes.shape)

    def ratios(self, c: Chains, often: np.ndarray, own: np.ndarray) -> tuple[Any, Any, Any]:
        """By how much R grows at every place, and what is added to it, (length, chains); what stays as it is.

        Args:
            often: how often each place counts, (length, chains).
            own: at which places elements have terms of their own.
        """
        xp, state, last = self.xp, self.state, 1 - self.state
        linked = _linked(c).T
        none = np.zeros((1, len(c.elements)))
        staying, leaving, left = (
            xp.concatenate([*xp.convert((absorbing.moves(xp, self.tables, c, a, b), none))])
            for a, b in ((state, state), (state, last), (last, last))
        )
        single = self.single(c)
        own, linked, often, single, left = xp.convert((own, linked, often, single, left))
        stays = xp.where(own, single[last], 0.0)
        ratio = xp.where(own, single[state], 0.0) - stays - left
        growth = xp.exp(ratio + staying)
        added = xp.where(linked, xp.exp(ratio + leaving), 0.0)
        kept = xp.sum(xp.where(often > 0, (stays + left) * often, 0.0))
        return growth, added, kept


def _by_tails(xp: Namespace, t: Tails, part: _Part) -> tuple[Any, Any]:
    """The value, and whether nothing was lost in it."""
    often = np.zeros(t.columns.own.T.shape)
    np.add.at(often, (t.places, t.column), t.often)
    counts = np.cumsum(often, axis=0) * t.columns.own.T, t.heads.own.T * t.often
    ((growth, added), head), kept = part.all_ratios(t, counts)
    if t.runs is not None:
        r, along = t.runs.values(xp, growth, added)
    else:
        along = xp.linear_recurrence(growth, added, xp.convert((np.ones(len(t.columns.own)), growth))[0])
        r = xp.get(along, (t.places, t.column))
    good = xp.all((along < LARGE) & (along > 1 / LARGE)) & xp.all((r < LARGE) & (r > 1 / LARGE))
    for place in reversed(range(t.heads.own.shape[1] - 1)):
        r = head[0][place] * r + head[1][place]
        good = good & xp.all((r < LARGE) & (r > 1 / LARGE))
    often, r = xp.convert((t.often, r))
    value = kept + xp.sum(often * xp.log1p(r))
    return value, good & xp.isfinite(value)
