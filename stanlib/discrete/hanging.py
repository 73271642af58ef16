"""Elements that hang on others: all their factors are over the same elements, and those stand with more besides.

They are summed out before any other, since what they leave is terms of the others that some stand with already: whether
a count of a hidden state is a structural zero, whether all skills are there that an item of a test asks for, the leaves
of a tree. Those of the same terms are summed out once, and leave the same row.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays.base import Namespace
from ..dataclass import dataclass
from .alone import Summed
from .chained import Reduce
from .possible import Possible
from .problem import ALIKE, Factor, aligned, rows_alike, sum_of, without_elements
from .rows import rows

BESIDES = 3  # sets of elements that each of the others stands in; the end of a chain hangs on one that is in two


@dataclass(frozen=True)
class _Form:
    """What elements that are summed out together have in common: a column among those that their factors are over,
    the lengths of all axes, and the factors, the same one as often as it stands there."""

    column: int
    kinds: tuple[int, ...]
    factors: tuple[int, ...]


@dataclass(frozen=True)
class _Hung:
    """One element, what it stands with, and its place in each of its factors."""

    element: int
    others: tuple[int, ...]
    places: tuple[int, ...]


def without_hanging(
    xp: Namespace, possible: Possible, left: np.ndarray, factors: Sequence[Factor], reduce: Reduce
) -> tuple[list[Factor], list[Summed]]:
    """The factors without the elements that hang on others, which are left no more, and how those were summed out.

    Args:
        possible: which values elements may have.
        left: which elements are to be summed out, (elements,); changed.
        factors: over elements that are left.
        reduce: the sum, or the largest, along the second axis.
    """
    scopes = _scopes(factors)
    chosen = _chosen(scopes, left, factors) if scopes is not None else np.zeros(0, int)
    if not len(chosen):
        return list(factors), []
    is_chosen = np.zeros(len(left), bool)
    is_chosen[chosen] = True
    out, summed = [], []
    for form, members in _forms(possible.kinds, is_chosen, factors).items():
        factor, one = _sum_out(xp, possible, form, members, factors, reduce)
        out.append(factor)
        summed.append(one)
    left[chosen] = False
    return [*without_elements(xp, is_chosen, factors), *out], summed


def _scopes(factors: Sequence[Factor]) -> np.ndarray | None:
    """The different sets of several elements that factors are over, (sets, most), -1 behind those that are smaller."""
    several = [f.elements for f in factors if f.elements.shape[1] > 1]
    if not several:
        return None
    most = max(e.shape[1] for e in several)
    padded = [np.pad(e, ((0, 0), (0, most - e.shape[1])), constant_values=-1) for e in several]
    return np.unique(np.concatenate(padded), axis=0)


def _chosen(scopes: np.ndarray, left: np.ndarray, factors: Sequence[Factor]) -> np.ndarray:
    """The elements that hang on others, and others that stand in most of the same columns of factors."""
    there = scopes >= 0
    often = np.bincount(scopes[there], minlength=len(left))  # sets in which an element stands
    once = there & (often[scopes] == 1) & left[scopes]
    alone = once.sum(axis=1) == 1
    hangs = alone & (once | ~there | (often[scopes] >= BESIDES)).all(axis=1)
    at = once[alone].argmax(axis=1)
    candidates, does = scopes[alone, at], hangs[alone]
    is_candidate, does_hang = np.zeros(len(left), bool), np.zeros(len(left), bool)
    is_candidate[candidates], does_hang[candidates] = True, does
    found = does_hang.copy()
    for f in factors:
        for column in f.elements.T if f.elements.shape[1] > 1 else ():
            mine = column[is_candidate[column]]
            if 2 * does_hang[mine].sum() > len(mine):
                found[mine] = True
    return np.flatnonzero(found)


def _forms(kinds: np.ndarray, is_chosen: np.ndarray, factors: Sequence[Factor]) -> Mapping[_Form, list[_Hung]]:
    """Those elements by their forms."""
    standing: dict[int, list[tuple[int, int]]] = {}
    scope: dict[int, tuple[int, ...]] = {}
    for number, f in enumerate(factors):
        for place in np.flatnonzero(is_chosen[f.elements].any(axis=1)).tolist():
            row = tuple(f.elements[place].tolist())
            e = next(e for e in row if is_chosen[e])
            standing.setdefault(e, []).append((number, place))
            if len(row) > 1:
                scope[e] = row
    out: dict[_Form, list[_Hung]] = {}
    for e, stands in standing.items():
        form = _Form(scope[e].index(e), tuple(kinds[list(scope[e])].tolist()), tuple(number for number, _ in stands))
        hung = _Hung(e, tuple(n for n in scope[e] if n != e), tuple(place for _, place in stands))
        out.setdefault(form, []).append(hung)
    return out


def _sum_out(
    xp: Namespace, possible: Possible, form: _Form, members: Sequence[_Hung], factors: Sequence[Factor], reduce: Reduce
) -> tuple[Factor, Summed]:
    """What elements of one form leave, a factor over the others, and how they were summed out."""
    elements, others = np.array([m.element for m in members]), np.array([m.others for m in members])
    places = np.array([m.places for m in members])
    used = [factors[number] for number in form.factors]
    allowed = possible.of[form.kinds[form.column]][possible.at[elements]]
    at = np.stack([rows_alike(f)[p] for f, p in zip(used, places.T)], axis=1)
    _, first, codes = np.unique(np.concatenate([at, allowed], axis=1), axis=0, return_index=True, return_inverse=True)
    codes = codes.reshape(-1)
    if len(first) > ALIKE * len(members):
        first = codes = np.arange(len(members))
    own, several = np.where(allowed[first], 0.0, -np.inf), len(form.kinds)
    joint = own.reshape(*own.shape, *(1,) * (several - 1))
    axes = [0 if i == form.column else i + (i < form.column) for i in range(several)]
    for f, row in zip(used, at[first].T):
        own_axes = axes if f.elements.shape[1] > 1 else [0]
        joint = sum_of(xp, joint, aligned(xp, rows(xp, f.table, row), own_axes, several))
    label = next(f.label for f in used if f.elements.shape[1] > 1)
    shared = None if len(first) == len(members) else codes
    return Factor(label, others, reduce(xp, joint), shared), Summed(elements, others, joint, codes)
