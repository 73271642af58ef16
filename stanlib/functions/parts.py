"""What models call that draw parameters part by part; the names can't stand in a Stan program."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace
from ..random.base import Random
from ..registry import variadic_function


@variadic_function("part_draw__", random=True)
def part_draw__(xp: Namespace, random: Random, name: str, place: Array, *arguments: Array) -> Array:
    """A draw of a law, by its name, for a place of an array."""
    from .. import draws

    return draws.part(xp, random, name, place, arguments, None, None)


@variadic_function("part_draw_above__", random=True)
def part_draw_above__(
    xp: Namespace, random: Random, name: str, place: Array, lower: Array, *arguments: Array
) -> Array:
    """The same of a law above a bound."""
    from .. import draws

    return draws.part(xp, random, name, place, arguments, lower, None)


@variadic_function("part_draw_below__", random=True)
def part_draw_below__(
    xp: Namespace, random: Random, name: str, place: Array, upper: Array, *arguments: Array
) -> Array:
    """The same of a law below a bound."""
    from .. import draws

    return draws.part(xp, random, name, place, arguments, None, upper)


@variadic_function("part_draw_between__", random=True)
def part_draw_between__(
    xp: Namespace, random: Random, name: str, place: Array, lower: Array, upper: Array, *arguments: Array
) -> Array:
    """The same of a law between bounds."""
    from .. import draws

    return draws.part(xp, random, name, place, arguments, lower, upper)


@variadic_function("part_mark__")
def part_mark__(xp: Namespace, own: Array, *read: Array) -> Any:
    """What becomes of components that are drawn where these have been read."""
    from .. import draws

    return draws.marked(own, read)


@variadic_function("part_mark_listed__")
def part_mark_listed__(xp: Namespace, own: Array, numbers: Array, *read: Array) -> Any:
    """The same where lists of indices choose the components, whose numbers may repeat."""
    from .. import draws

    return draws.marked(own, read, numbers)


@variadic_function("part_numbers__")
def part_numbers__(xp: Namespace, whole: Array) -> Any:
    """The numbers of a variable's components, in its shape."""
    from .. import draws

    return draws.numbers(whole)


@variadic_function("part_made__")
def part_made__(xp: Namespace, own: Array, *read: Array) -> Any:
    """What becomes of a variable that is computed of what has been read."""
    from .. import draws

    return draws.computed(own, read)


@variadic_function("parts_joined__", random=True)
def parts_joined__(
    xp: Namespace, random: Random, name: str, drawn: Array, marks: Array, *bounds: Array
) -> Array:
    """The parameter, once its parts are drawn; `bounds` are none or two."""
    from .. import draws

    lower, upper = bounds or (None, None)
    return draws.whole(xp, random, name, drawn, marks, lower, upper)
