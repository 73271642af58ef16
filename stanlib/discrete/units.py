"""Units: what stands apart given the continuous parameters, each with all data that its elements explain.

A unit is a component of elements that terms couple, as one row of a mixture, one site, one series. The log density of
its data given the continuous parameters is the logarithm of a sum over its own elements alone: what is left out
together in leave-one-out cross-validation.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from ..arrays.base import Array, Namespace
from . import LAW, TOLD, elimination
from .factors import ARGUMENTS
from .merged import components
from .problem import Problem, sum_of
from .reading import read_terms
from .tallies import Tally


class Observed(NamedTuple):
    """What a term observes: a variable of the data, LAW or UNKNOWN, and its outcomes at all places.

    The outcomes, an array over loops, or over `size` places, are a text where they are not told. The term stands at
    some of the `places`, where it is of these `units`. Terms of one `statement` are its cases.
    """

    variable: str
    outcomes: Array
    statement: int
    size: int
    places: np.ndarray
    units: np.ndarray


def read(xp: Namespace, arguments: Sequence[Array]) -> "Units":
    """From the number of terms, what is told of each of them, and the arguments of `discrete_log_sum__`.

    That is a name, the outcomes, and a number of the statement.
    """
    end = 1 + TOLD * int(arguments[0])
    problem, terms, tallies = read_terms(xp, arguments[end:])
    return Units(problem, arguments[1:end], terms, tallies)


class Units:
    """The units of which data are observed, by the least of their elements, in the order of these.

    Args:
        problem: the terms as factors.
        observed: what is told of each term.
        terms: their arguments.
        tallies: what is counted from elements.
    """

    def __init__(self, problem: Problem, observed: Sequence[Any], terms: Sequence[Array], tallies: Sequence[Tally]):
        self.problem, numbers = problem, [_rows(n) for n in terms[1::ARGUMENTS]]
        counted = [np.array([(t.element, *t.members)]) for t in (*tallies, *problem.tallies)]
        read = [np.where(rows > 0, rows, rows.max(axis=1, keepdims=True, initial=1)) - 1 for rows in numbers]
        self.of = components(len(problem.kinds), [*read, *(f.elements for f in problem.factors), *counted])
        self.are_known = all(f.elements.shape[1] > 0 for f in problem.factors)
        told = zip(observed[::TOLD], observed[1::TOLD], observed[2::TOLD])
        self.observed = [Observed(*one, *self._places(n)) for one, n in zip(told, numbers)]
        each = [o.units for o in self.observed if o.variable != LAW]
        self.numbers = np.unique(np.concatenate([np.zeros(0, int), *each]))

    def _places(self, rows: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """How many places a term has, those at which it stands and reads elements, and the unit of each."""
        places = np.flatnonzero((rows != 0).all(axis=1) & (rows > 0).any(axis=1))
        return len(rows), places, self.of[rows[places].max(axis=1, initial=1) - 1]

    def log_sums(self) -> Array:
        """The log density of the data of each unit, (units,); of all together where known elements hide some."""
        if not self.are_known:
            return self.problem.xp.reshape(elimination.log_sum(self.problem), (1,))
        if not len(self.numbers):
            return np.zeros(0)
        xp, found = self.problem.xp, elimination.log_sums(self.problem)
        at = np.concatenate([self.of[elements] for elements, _ in found])
        sums = xp.concatenate([*xp.convert((np.zeros(1), *(s for _, s in found)))])  # 0 for what is nowhere
        order = np.argsort(at, kind="stable")
        first, last = (np.searchsorted(at[order], self.numbers, side) for side in ("left", "right"))
        where = (first + i for i in range(max(1, int((last - first).max()))))
        turns = (np.where(w < last, 1 + order[np.minimum(w, len(order) - 1)], 0) for w in where)
        return reduce(partial(sum_of, xp), (xp.get(sums, (turn,)) for turn in turns))

    def outcomes(self, variable: str) -> np.ndarray:
        """The outcomes of a variable in the order of the units, (units, n); none unless each unit has one of them."""
        mine = [o for o in self.observed if o.variable == variable]
        if not self.are_known or any(isinstance(o.outcomes, str) for o in mine):
            return np.zeros(0)
        found: dict[tuple[int, int], tuple[int, np.ndarray]] = {}  # by statement and place the unit and the outcome
        for o in mine:
            rows = np.reshape(o.outcomes, (o.size, np.size(o.outcomes) // max(o.size, 1)))
            found |= {(o.statement, p): (unit, rows[p]) for p, unit in zip(o.places.tolist(), o.units.tolist())}
        units = np.array([unit for unit, _ in found.values()], int)
        same = len({row.size for _, row in found.values()}) == 1
        if not same or not np.array_equal(np.sort(units), self.numbers):
            return np.zeros(0)
        return np.stack([row for _, row in found.values()])[np.argsort(units)]


def _rows(numbers: object) -> np.ndarray:
    """The numbers of the elements that a term reads, by place; 0 where it does not stand, -1 where it reads none."""
    given = np.asarray(numbers, int)
    return given.reshape(math.prod(given.shape[:-1]), given.shape[-1])
