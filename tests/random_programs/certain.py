"""Draws whose outcome is certain, so that what depends on them can be compared though a generator makes them.

Programs treat them as any other draw: they are known at run time alone, whatever their arguments.
"""

from __future__ import annotations

from .integers import condition, integer
from .kinds import INT, array, declared
from .scope import Place, Variable, size

Lines = list[str]
TOP = 3  # the largest number that is drawn


def drawn_integers(place: Place) -> Lines:
    """An int or an array of ints that is drawn, and may be a bound, an index, a condition or an argument from here."""
    c = place.choices
    name = place.names.fresh()
    if c.chance(65):
        text, low, high = number(place)
        place.add(Variable(name, INT, low, high))
        return [f"int {name} = {text};"]
    n = c.between(1, 3)
    text, low, high = several(place, n)
    kind = array(INT, n)
    place.add(Variable(name, kind, low, high))
    return [f"{declared(kind, [size(place, n)], name)} = {text};"]


def number(place: Place) -> tuple[str, int, int]:
    """A draw, and what it does not leave."""
    c = place.choices
    what = c.below(7)
    low = c.between(0, 1)
    if what == 0:
        return flip(place), 0, 1
    if what == 1:
        k = integer(place, 1, TOP, 1)
        law = c.pick(["categorical_rng(one_hot_vector", "categorical_logit_rng(2000 * one_hot_vector"])
        return f"{law}({TOP}, {k}))", 1, TOP
    if what == 2:
        return f"binomial_rng({integer(place, low, TOP, 1)}, 1)", low, TOP
    if what == 3:
        return f"binomial_rng({integer(place, 0, TOP, 1)}, {flip(place)})", 0, TOP
    if what == 4:  # beyond the last cut point, or before the first
        return f"1 + bernoulli_logit_rng({flip(place)} ? 2000 : -2000)", 1, 2
    if what == 5:
        return f"ordered_logistic_rng(2000 * {integer(place, -1, 1, 1)}, [-1000, 1000]')", 1, 3
    same = integer(place, low, TOP, 1)
    return f"discrete_range_rng({same}, {same})", low, TOP


def several(place: Place, n: int) -> tuple[str, int, int]:
    """A draw of so many numbers, and what none of them leaves."""
    c = place.choices
    what = c.below(4)
    if what == 0:
        return f"multinomial_rng(one_hot_vector({n}, {integer(place, 1, n, 1)}), {integer(place, 0, TOP, 1)})", 0, TOP
    if what == 1:
        return f"bernoulli_rng(to_vector({_listed(place, n, 0, 1)}))", 0, 1
    low = c.between(0, 1)
    if what == 2:
        return f"binomial_rng({_listed(place, n, low, TOP)}, 1)", low, TOP
    same = _listed(place, n, low, TOP)
    return f"discrete_range_rng({same}, {same})", low, TOP


def _listed(place: Place, n: int, low: int, high: int) -> str:
    return "{" + ", ".join(integer(place, low, high, 1) for _ in range(n)) + "}"


def flip(place: Place) -> str:
    """A draw of 0 or 1 by a condition that parameters may decide."""
    test = condition(place, 0)
    return f"bernoulli_rng({place.choices.pick([f'({test}) ? 1.0 : 0.0', f'({test}) && 1'])})"
