"""Sums over all values of discrete variables, in logarithms.

An impossible assignment has a term of -inf; it counts for nothing in the sum, and its gradient is 0.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Namespace, Real
from . import absorbing, alone, chained, compounded, convolved, distinguished, merged, order, swept, tails
from .asking import asked
from .cases import Cases
from .chained import Around, SummedChains
from .chains import Chains
from .compounds import Compounds
from .free import without_terms
from .hanging import without_hanging
from .links import between
from .merged import spelled_out
from .possible import Possible, at_known, conditioned, left_possible
from .problem import Factor, Problem, Rows, aligned, limit, sum_of
from .shared import Shared, shared, told_apart
from .singles import Singles, numbered
from .sweeps import Sweep
from .whole import Saved, steps_saved


def log_sum(problem: Problem) -> Array:
    """The logarithm of the sum over all assignments.

    Raises:
        StanUnsupportedError: where a table would have too many entries.
    """
    out: Array = Elimination(problem, log_sum_exp).run()[0]
    return out


def log_sums(problem: Problem) -> list[tuple[np.ndarray, Array]]:
    """Elements, and what the components that each of them stands in come to: the logarithms of sums, (elements,).

    Those of all elements together are all components.

    Raises:
        StanUnsupportedError: where a table would have too many entries.
    """
    elimination = Elimination(problem, log_sum_exp, components=False, apart=True)
    elimination.run()
    assert elimination.apart is not None
    return elimination.apart


def log_max(problem: Problem) -> Any:
    """The largest term of that sum."""
    return Elimination(problem, largest).run()[0]


def log_sum_exp(xp: Namespace, x: Real, axis: int = 1) -> Array:
    return xp.log_of_sum(x, axis)


def largest(xp: Namespace, x: Real, axis: int = 1) -> Array:
    return xp.max(x, axis=axis)


_Summed = alone.Summed | Compounds | Cases | SummedChains | swept.SummedSweep | convolved.SummedTallies


class Elimination:
    """One run along a plan: tables by slot, and the terms of single elements by the length of their axes.

    Elements with but one possible value, `known`, take no part in it. Where components are told `apart`, what each of
    them comes to is kept there, with an element of each, and nothing is known, nor summed out once for others.
    """

    tails: tails.Tails | None

    def __init__(self, problem: Problem, reduce: Any, components: bool = True, apart: bool = False):
        self.xp, self.problem, self.reduce = problem.xp, problem, reduce
        self.apart: list[tuple[np.ndarray, Array]] | None = [] if apart else None
        self.member = np.arange(len(problem.kinds))  # an element of the program in every compound
        self.sum_only, self.tails = components and reduce is log_sum_exp, None
        possible = Possible(problem)
        self.counted = np.array([e for t in problem.tallies for e in (t.element, *t.members)], int)
        possible.unknown = self.member if apart else self.counted
        given = self._conditioned(possible, components)
        self.left, self.often = self._left()
        self.kinds = problem.kinds
        if self.tails is not None:
            given = tails.without(self.xp, self.tails, self.left, self.stands_for, given)
        free = (self.kinds, possible.of, self.left, self.often, self.counted, given)
        self.total: Any = without_terms(*free) if self.sum_only and not asked().added else 0.0
        own = list(merged.without_copies(self.xp, given, self.stands_for))
        self.summed: list[_Summed] = []
        if not asked().added and not problem.tallies:
            own, hung = without_hanging(self.xp, possible, self.left, own, reduce)
            self.summed += hung
        self.factors = [spelled_out(self.xp, f) for f in own]
        self.tables: list[Rows] = []
        self._of_possible(possible)
        self.left[[m for t in problem.tallies for m in t.members]] = False

    def _of_possible(self, possible: Possible) -> None:
        """The terms of single elements by what data leave to them, and their rows there."""
        asked().seen.update({v.name: v for v in self.problem.own})
        self.restricted = possible.restricted
        self.at = np.zeros(len(self.known), int)  # the row of an element among those of its kind
        self.single: dict[int, Singles] = {}
        for kind, rows_ in possible.of.items():
            members = np.flatnonzero(self.kinds == kind)
            open_ = self.left[members]
            self.at[members[open_]] = np.arange(open_.sum())
            self.single[kind] = self._with_added(kind, np.where(rows_[open_], 0.0, -np.inf), self.known[members])

    def _left(self) -> tuple[np.ndarray, np.ndarray]:
        """Which elements are to be summed out, and how often each counts."""
        left = (self.known < 0) & (self.stands_for == np.arange(len(self.known)))
        return left, np.bincount(self.stands_for, minlength=len(left))

    def _conditioned(self, possible: Possible, components: bool) -> list[Factor]:
        """The factors given the elements with but one value; which are known, and which stand for which others."""
        problem, self.known = self.problem, possible.known
        self.stands_for = np.arange(len(self.known))
        components = components and any(f.codes is not None and f.elements.shape[1] > 1 for f in problem.factors)
        saved = Saved() if problem.tallies else steps_saved(problem, self.known)
        apart = list(conditioned(self.xp, problem.factors, possible))
        merge = not asked().added and not problem.tallies and self.apart is None
        if merge and (not saved.steps or components):
            self.stands_for = merged.representatives(problem.kinds, possible.of, self.known, apart, components)
        if merge and self.sum_only:
            self.tails = tails.tails(problem.kinds, possible.of, *self._left(), apart)
        if not saved.steps or self.tails is not None:
            return apart
        whole = np.arange(len(self.known))
        if components and merge:
            none = np.full(len(self.known), -1)
            whole = merged.representatives(problem.kinds, possible.of, none, problem.factors, components)
        if saved.worth(whole, self.stands_for, self.known):
            self.known, self.stands_for = np.full(len(self.known), -1), whole
            return list(problem.factors)
        return apart

    def _with_added(self, kind: int, data: np.ndarray, known: np.ndarray) -> Singles:
        """The terms of single elements with what inference adds to them."""
        question, single = asked(), Singles(data)
        if not question.added:
            return single
        parts = [
            question.added.get(v.name if i < self.problem.declared else "", np.zeros((v.lower.size, kind)))
            for i, v in enumerate(self.problem.variables) if v.lower.size and v.values == kind
        ]  # fmt: skip
        self.xp = namespace((*parts, *question.added.values(), *(f.table for f in self.factors)))
        added = self.xp.concatenate([*self.xp.convert(tuple(parts))])
        self._count(at_known(self.xp, added, known))
        single.add(self.xp, np.arange(len(data)), self.xp.get(added, (np.flatnonzero(known < 0),)))
        return single

    def run(self) -> tuple[Any, list[Any]]:
        """The logarithm of the sum over all assignments, or the largest term, and what was summed out, in that order.

        Raises:
            StanUnsupportedError: where a table would have too many entries.
        """
        several = [f for f in self.factors if f.elements.shape[1] > 1]
        if self.tails is not None:
            self._count(tails.log_sum(self.xp, self.tails))
        for f in self.factors:
            if f.elements.shape[1] == 0:
                self._count(self.xp.sum(f.table) * (len(f.elements) / self.xp.shape(f.table)[0]))
        for f in sorted((f for f in self.factors if f.elements.shape[1] == 1), key=self._when):
            self._add(f.elements[:, 0], f.table)
        self._sum_out_tallies()
        excluding = [left_possible(f) for f in several]
        plan = order.plan(self.kinds, np.flatnonzero(self.left), [f.elements for f in several], limit(), excluding)
        if plan.largest > limit():
            raise order.too_large(self.problem, several, plan)
        self.tables = [Rows(f.table, f.codes, f.probabilities, f.stands) for f in several]
        for step in plan.steps:
            self._take(step)
        return self.total, self.summed

    def _take(self, step: order.Class | order.Join | Compounds | Cases | Chains | Sweep) -> None:
        """A step of the plan."""
        if isinstance(step, order.Join):
            self.tables.append(Rows(self._joined(step)))
        elif isinstance(step, Compounds):
            self._put_together(step)
        elif isinstance(step, Cases):
            self._sum_out_by_cases(step)
        elif isinstance(step, Chains):
            self._count(self._for_all(step.elements[:, 0], self._sums_of_chains(step, None)) if self.apart is not None
                        else self._sums_of_chains(step, self.often[step.elements[:, 0]]))  # fmt: skip
        elif isinstance(step, Sweep):
            found, sums = swept.sum_out(self.xp, step, self.tables, self._of_elements, self.reduce)
            self.summed.append(found)
            self._count(self._for_all(next(step.steps).elements[0], sums))
        else:
            self._sum_out(step)

    def _sum_out_tallies(self) -> None:
        """Sum out the members of tallies that are coupled by these alone: what is left is terms of the tallies."""
        how = (self._of_elements, self.reduce, self.sum_only)
        for found, elements, terms in convolved.summed(self.xp, self.problem, *how):
            self.summed += found
            self._add(elements, terms)

    def _when(self, f: Factor) -> tuple[bool, bool]:
        """Data first, which are added up beforehand, and shared tables last: XLA reads the fewest large arrays."""
        return not isinstance(f.table, np.ndarray), self.xp.shape(f.table)[0] == 1

    def _count(self, term: Array) -> None:
        self.total = sum_of(self.xp, self.total, term)

    def _add(self, elements: np.ndarray, table: Array, alike: np.ndarray | None = None) -> None:
        """Terms of single elements, (n or 1, K); the same for those with numbers that are `alike`."""
        kind = int(self.kinds[elements[0]])
        self.single[kind].add(self.xp, self.at[elements], table, alike)

    def _add_all(self, factors: Iterable[Factor]) -> None:
        """The terms of factors over single elements."""
        for f in factors:
            f = spelled_out(self.xp, f)
            self._add(f.elements[:, 0], f.table)

    def _of_elements(self, elements: np.ndarray) -> Any:
        """The terms of single elements of one kind, (n, K); zeros for -1."""
        single = self.single[int(self.kinds[elements[0]])]
        return single.of(self.xp, np.where(elements < 0, -1, self.at[elements]))

    def _told(self, elements: np.ndarray) -> np.ndarray:
        """Numbers that are the same for elements of one kind whose own terms are, (n, columns); those of -1 too."""
        return self.single[int(self.kinds[elements[0]])].told(np.where(elements < 0, -1, self.at[elements]))

    def _joined(self, step: order.Join) -> Array:
        xp, parts = self.xp, []
        for slot, index in step.pieces:
            part = self.tables[slot].take(xp, index)
            parts.append(xp.broadcast_to(part, (len(index), *xp.shape(part)[1:])))
        return xp.concatenate([*xp.convert(tuple(parts))])

    # --- elements that are eliminated alike

    def _sum_out(self, c: order.Class) -> None:
        """Eliminate a class by joint tables, (n, K, K1, ..., Kq); those of the neighbours, (n, K1, ..., Kq), stay."""
        xp = self.xp
        single = self._of_elements(c.elements)
        axes = c.neighbours.shape[1]
        if axes == 0:
            self.summed.append(alone.Summed(c.elements, c.neighbours, single))
            self._count(self._for_all(c.elements, self.reduce(xp, xp.swapaxes(single, 0, 1), 0)))
            return
        joint = xp.reshape(single, (*xp.shape(single), *(1,) * axes))
        for use in c.uses:
            joint = sum_of(xp, joint, aligned(xp, self.tables[use.slot].take(xp, use.rows), use.axes, axes + 1))
        self.summed.append(alone.Summed(c.elements, c.neighbours, joint))
        left = self.reduce(xp, joint)
        if axes == 1:
            self._add(c.neighbours[:, 0], left)
        else:
            self.tables.append(Rows(left))  # its number is c.result: slots are numbered in the order of the steps

    def _for_all(self, elements: np.ndarray, sums: Array) -> Any:
        """The sum of those of components that these elements are of, as often as they are summed out for others."""
        if self.apart is not None:
            self.apart.append((self.member[elements], sums))
        return chained.counted(self.xp, sums, self.often[elements])

    # --- chains

    def _put_together(self, c: Compounds) -> None:
        """Have compounds as elements, with terms of their own, and tables between them in new slots."""
        order_ = np.concatenate([g.compounds for g in c.groups])
        often = np.concatenate([self.often[g.members[:, 0]] for g in c.groups])
        self._have(order_, often, c.kind, np.concatenate([self.member[g.members[:, 0]] for g in c.groups]))
        for g in c.groups:
            told = numbered(np.concatenate([self._told(members) for members in g.members.T], axis=1))
            self._add(g.compounds, compounded.single(self.xp, c.kind, g, self._of_elements), told)
        self._add_all(compounded.of_single(self.xp, c.single, self.tables))
        self.tables += [compounded.of_links(self.xp, t, self.tables) for t in c.links]
        self.summed.append(c)

    def _have(self, new: np.ndarray, often: np.ndarray, kind: int, member: np.ndarray) -> None:
        """Have new elements, with the numbers that come next, in some order, of no terms yet, and a member of each."""
        count, single = len(new), self.single.setdefault(kind, Singles(np.zeros((0, kind))))
        added = {"kinds": np.full(count, kind), "at": np.zeros(count, int), "often": often, "stands_for": np.sort(new)}
        for name, more in added.items():
            setattr(self, name, np.concatenate([getattr(self, name), more]))
        self.member = np.concatenate([self.member, member])
        self.often[new], self.member[new] = often, member
        self.at[new] = single.extended(count)

    def _sum_out_by_cases(self, c: Cases) -> None:
        """Eliminate chains in each case of the elements around them, which have what is left as terms."""
        xp = self.xp
        copies = np.sort(c.copies.reshape(-1))
        told, columns = numbered(self._told(c.members)), distinguished.columns(c)
        self._have(copies, np.ones(len(copies)), c.kind, np.zeros(len(copies), int))
        self._add(copies, distinguished.single(xp, c, self._of_elements), told[columns])
        self._add_all(distinguished.of_single(xp, c, self.tables))
        self.tables += [distinguished.of_links(xp, c, t, self.tables) for t in c.links]
        self.summed.append(c)
        for all_, found in [(one, self._shared(c, one)) for one in c.chains]:
            ends, chains = c.ends(all_), all_ if found is None else found.chains
            own = Around(distinguished.own(xp, c, ends, self._of_elements), self._is_restricted(ends), found)
            if c.closing and self.sum_only:
                self._count(self._sums_of_chains(chains, self.often[ends[:, 0]], own))
                continue
            left = distinguished.of_around(xp, c, own.by_case(xp, self._sums_of_chains(chains, None, own)))
            if c.closing:
                self._sum_out_around(ends, left)
            elif ends.shape[1] > 1:
                self.tables.append(Rows(left))
            else:
                self._add(ends[:, 0], left)

    def _shared(self, c: Cases, chains: Chains) -> Shared | None:
        """The chains of all cases that are summed for others too; none where draws need each of them."""
        if not self.sum_only:
            return None
        data = lambda elements: self.single[int(self.kinds[elements[0]])].data[self.at[elements]]
        terms = distinguished.own(namespace(()), c, c.ends(chains), data)
        return shared(chains, told_apart(chains, self.tables, self._told), terms != -np.inf)

    def _sum_out_around(self, ends: np.ndarray, left: Any) -> None:
        """Eliminate elements, (n, q), that stand with those in their row alone, of whose values `left` is a table."""
        xp = self.xp
        for i, elements in enumerate(ends.T):
            joint = sum_of(xp, left, aligned(xp, self._of_elements(elements), (0,), ends.shape[1] - i))
            self.summed.append(alone.Summed(elements, ends[:, i + 1 :], joint))
            left = self.reduce(xp, joint)
        self._count(self._for_all(ends[:, 0], left))

    def _is_restricted(self, elements: np.ndarray) -> bool:
        """Whether some value of one of these elements is impossible."""
        return bool((elements >= len(self.restricted)).any() or self.restricted[elements].any())

    def _sums_of_chains(self, c: Chains, often: np.ndarray | None, around: Around | None = None) -> Any:
        """Eliminate chains from their beginnings to their ends, in one loop that carries (chains, K).

        Args:
            c: chains, all in one case after those in another if there are cases.
            often: how often each counts, over all of its cases.
            around: those cases.

        Returns:
            Their sum, as often as each counts; those of each, (chains,), if that is not told, whatever in cases that
            are impossible.
        """
        xp = self.xp
        count, length = c.elements.shape
        kind = int(self.kinds[c.elements[0, 0]])
        state = absorbing.left_state(self.tables, c) if self.sum_only and kind == 2 else None
        if state is not None:
            single = xp.swapaxes(self._of_elements(c.elements.T.reshape(-1)), 0, 1)
            sums = absorbing.log_sums(xp, self.tables, c, xp.reshape(single, (kind, length, count)), state)
            return chained.over_cases(xp, self.reduce, sums, often, around)
        single = xp.reshape(self._of_elements(c.elements.T.reshape(-1)), (length, count, kind))
        moves = between(xp, self.tables, c, kind, self.sum_only)
        if self.sum_only:
            return chained.sums_alone(xp, self.reduce, single, moves, c.linked.T, often, around)
        single, tables = xp.convert((single, moves.table))
        last, sums = chained.along(xp, self.reduce, single, tables, c.linked.T, True)
        self.summed.append(SummedChains(c, xp.concatenate([single[:1], sums]), tables))
        return chained.counted(xp, self.reduce(xp, last), often)
