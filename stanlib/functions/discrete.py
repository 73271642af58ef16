"""What translated programs with discrete parameters call; their names can't stand in a Stan program.

The compiler lists the discrete parameters and the terms that depend on them, each with a table of its values for all
values of theirs: stanlib/discrete/ says how, and is loaded by the first call.
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..random.base import Random
from ..registry import stan_function, variadic_function


@variadic_function("discrete_elements__")
def discrete_elements__(xp: Namespace, before: Array, *shape: Array) -> Array | int:
    """The numbers of a variable's elements, of its shape; those of the variables `before` come first."""
    from ..discrete.problem import elements

    return elements(before, shape)


@variadic_function("discrete_variable__")
def discrete_variable__(
    xp: Namespace, before: Array, name: str, lower: Array, upper: Array, *shape: Array
) -> Array | int:
    """The numbers of a discrete parameter's elements, whose bounds are checked.

    Raises:
        StanIndexError: for bounds of other sizes, and an element that can have no value.
        StanUnsupportedError: where there are too many values.
    """
    from ..discrete.problem import check_bounds, elements

    check_bounds(name, lower, upper, shape)
    return elements(before, shape)


@variadic_function("discrete_count__")
def discrete_count__(xp: Namespace, name: str, lower: Array, upper: Array, *shape: Array) -> Real:
    """The number of assignments of values in lower..upper to a variable of a shape.

    Raises:
        StanUnsupportedError: where there are too many.
    """
    from ..discrete.problem import count

    return count(name, lower, upper, shape)


@variadic_function("discrete_values__")
def discrete_values__(xp: Namespace, name: str, lower: Array, upper: Array, *shape: Array) -> Array:
    """All those assignments: an array with one more axis than the variable, the first."""
    from ..discrete.problem import assignments

    return assignments(name, lower, upper, shape)


@variadic_function("discrete_filled__")
def discrete_filled__(xp: Namespace, value: Array, *shape: Array) -> Array:
    """An array of a shape full of one number; of more axes than rep_array makes.

    Raises:
        StanUnsupportedError: where it would have too many entries.
    """
    from ..discrete.problem import filled

    return filled(xp, value, shape)


@variadic_function("discrete_places__")
def discrete_places__(xp: Namespace, stands: Array) -> Array:
    """The numbers from 1 of the places of an array that hold 1; 0 where it holds 0."""
    from ..discrete.problem import places

    return places(stands)


@variadic_function("discrete_standing__")
def discrete_standing__(xp: Namespace, stands: Array) -> Real:
    """How many places of an array hold 1."""
    from ..discrete.problem import places

    return int(places(stands).max(initial=0))


@variadic_function("discrete_alike__")
def discrete_alike__(xp: Namespace, *keys: Array) -> Array:
    """Numbers from 1 for the places of arrays of ints, the same where all of the arrays are."""
    from ..discrete.problem import alike

    return alike(keys)


@variadic_function("discrete_slices__")
def discrete_slices__(xp: Namespace, numbers: Array, *gone: Real) -> Array:
    """Numbers from 1 for the places of an array without the axes `gone`, the same where all is along those."""
    from ..discrete.problem import slices

    return slices(numbers, tuple(int(axis) for axis in gone))


@variadic_function("discrete_positions__")
def discrete_positions__(xp: Namespace, size: Real) -> Array:
    """The numbers from 1 to so many."""
    from ..discrete.problem import positions

    return positions(int(size))


@variadic_function("discrete_rows__")
def discrete_rows__(xp: Namespace, codes: Array) -> Real:
    """How many different numbers such an array has."""
    from ..discrete.problem import count_rows

    return count_rows(codes)


@variadic_function("discrete_first__")
def discrete_first__(xp: Namespace, codes: Array, x: Array) -> Array:
    """What an array holds at the first place of every number."""
    from ..discrete.problem import first

    return first(codes, x)


@variadic_function("discrete_segments__")
def discrete_segments__(xp: Namespace, codes: Array, groups: Array, terms: Array, excluded: Array) -> Array:
    """Sums of terms over the last axis of an array of their numbers, of kinds whose numbers are those of groups.

    What they are where `excluded` holds 1 does not matter.
    """
    from ..discrete.segments import sums

    return sums(xp, codes, groups, terms, excluded)


@variadic_function("discrete_outcome__")
def discrete_outcome__(xp: Namespace, groups: Array, axis: Real, least: Real) -> Array:
    """By number of an outcome and iteration the first value on an axis that has it, of (values, ..., iterations).

    `least` is the first value on the axis.
    """
    from ..discrete.segments import outcomes

    return outcomes(groups, int(axis)) + int(least)


@variadic_function("discrete_grid__")
def discrete_grid__(xp: Namespace, groups: Array, numbered: Real, *series: Array) -> Array:
    """The outcomes for all series, or where they are to be numbered, the number of each one, series and iteration."""
    from ..discrete.segments import over_series

    return over_series(groups, bool(numbered), tuple(int(n) for n in series))


@variadic_function("discrete_logs__")
def discrete_logs__(xp: Namespace, x: Array) -> Array:
    """The logarithms of probabilities; the derivative of that of 0 is 0."""
    from ..distributions._terms import log0

    return log0(xp, x)


@stan_function("vector discrete_simplex__(vector theta)", examples=[([0.2, 0.5, 0.3],)])
def discrete_simplex__(xp: Namespace, theta: Array) -> Array:
    """Probabilities, as categorical takes them; what is no simplex rejects the draw."""
    from ..domains import SIMPLEX, guard

    (kept,) = guard(xp, "categorical_lpmf", (theta,), [(0, "theta", SIMPLEX)])
    found: Array = kept
    return found


@variadic_function("discrete_total__")
def discrete_total__(xp: Namespace, *arguments: Array) -> Real:
    """The number of elements of all variables together."""
    from ..discrete.reading import read

    return len(read(xp, arguments).kinds)


@variadic_function("discrete_least__")
def discrete_least__(
    xp: Namespace, how: str, start: Real, numbers: Array, starts: Real, *arguments: Array
) -> Array | int:
    """The least values of what is counted from elements of variables, by the tables of so many starts, and others."""
    from ..discrete.reading import bounds

    return bounds(how, int(start), numbers, int(starts), arguments)[0]


@variadic_function("discrete_most__")
def discrete_most__(
    xp: Namespace, how: str, start: Real, numbers: Array, starts: Real, *arguments: Array
) -> Array | int:
    """The greatest values of what is counted from elements of variables."""
    from ..discrete.reading import bounds

    return bounds(how, int(start), numbers, int(starts), arguments)[1]


@variadic_function("discrete_patterns__")
def discrete_patterns__(xp: Namespace, elements: Array, *arguments: Array) -> Array:
    """Numbers from 1 for the places of a term, the same where the same values of its elements can go together."""
    from ..discrete.feasible import patterns

    return patterns(xp, elements, arguments)[0]


@variadic_function("discrete_possible__")
def discrete_possible__(xp: Namespace, elements: Array, *arguments: Array) -> Array:
    """Whether values of the elements of a term can go together, by those numbers, its last axis."""
    from ..discrete.feasible import patterns

    return patterns(xp, elements, arguments)[1]


@variadic_function("discrete_log_sum__")
def discrete_log_sum__(xp: Namespace, *arguments: Array) -> Array:
    """The logarithm of the sum over all values of the discrete parameters."""
    from ..discrete import elimination, reading

    return elimination.log_sum(reading.read(xp, arguments))


@variadic_function("discrete_log_sums__")
def discrete_log_sums__(xp: Namespace, *arguments: Array) -> Array:
    """The same for each unit that data are observed of: what no term couples with the others (discrete/units.py)."""
    from ..discrete import units

    found: Array = units.read(xp, arguments).log_sums()
    return found


@variadic_function("discrete_outcomes__")
def discrete_outcomes__(xp: Namespace, variable: str, *arguments: Array) -> Array:
    """The outcomes of a variable in the order of the units; none unless each unit has one of them."""
    from ..discrete import units

    return units.read(xp, arguments).outcomes(variable)


@variadic_function("discrete_draw__", random=True)
def discrete_draw__(xp: Namespace, random: Random, *arguments: Array) -> Array:
    """One draw of all discrete parameters given the terms, as one array over their elements."""
    from ..discrete import asking, backward, problem, reading

    found = reading.read(xp, arguments)

    def draw() -> Array:
        question = asking.asked()
        given = {v.name: asking.whole(v, question.given[v.name]) for v in found.own if v.name in question.given}
        if given and all(v.name in given for v in found.own):
            return problem.joined(found.own, given)
        with asking.given_some(found.own):
            places = backward.most_probable(found) if question.mode else backward.drawn(found, random)
            return problem.replaced(found.own, found.values(places), given)

    values: Array = asking.at_sites(found.own, draw)
    return values
