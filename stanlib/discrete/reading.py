"""The problem that the arguments of translated code describe."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace
from . import tallies
from .factors import ARGUMENTS, factors_of
from .problem import Problem, variables_of

Arguments = Sequence[Any]  # of a call in translated code


def read(xp: Namespace, arguments: Arguments) -> Problem:
    """From the arguments of a call: the number of variables, (name, numbers of elements, lower, upper) of each, the
    tallies as tallies.py reads them, and (label, numbers of elements, widths, table, rows at all places or 0,
    whether it holds probabilities, in which entries the term stands or 0) of every factor.
    """
    return read_terms(xp, arguments)[0]


def read_terms(xp: Namespace, arguments: Arguments) -> tuple[Problem, Sequence[Array], Sequence[tallies.Tally]]:
    """The same, the arguments of all terms, and what is counted from elements, whether that stays a tally or not."""
    count = int(arguments[0])
    variables = tuple(variables_of(arguments[1 : 1 + 4 * count]))
    size, rest = sum(v.lower.size for v in variables), arguments[1 + 4 * count :]
    counted, found, used = tallies.read(xp, variables, rest, size) if rest else ([], [], 0)
    all_, rest = (*variables, *counted), rest[used:]
    kinds = np.concatenate([np.full(v.lower.size, v.values, int) for v in all_])
    factors = [f for i in range(0, len(rest), ARGUMENTS)
               for f in factors_of(xp, all_, kinds, *rest[i : i + ARGUMENTS])]  # fmt: skip
    problem = Problem(xp, all_, kinds, tuple(factors), len(counted))
    return tallies.applied(problem, found) if counted else problem, rest, found


def bounds(
    how: str, start: int, numbers: object, starts: int, arguments: Arguments
) -> tuple[Array | int, Array | int]:
    """The least and the greatest values of tallies, from the variables and the tables."""
    count = int(arguments[0])
    variables = tuple(variables_of(arguments[1 : 1 + 4 * count]))
    tables = arguments[1 + 4 * count :]
    return tallies.bounds(how, start, numbers, variables, tables[: ARGUMENTS * starts], tables[ARGUMENTS * starts :])
