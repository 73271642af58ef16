"""Which observations of a program are told apart in its target, and which are not."""
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Unobserved(NamedTuple):
    """A statement by its line, and the data of which it adds something to the target.

    `is_constant` is true where that is made of data alone, the same in every draw, `is_beside` where it is one log
    density of several data for each observation, which stands under the name of another one or of none.
    """

    line: int
    data: tuple[str, ...]
    is_constant: bool = False
    is_beside: bool = False


class Observations(NamedTuple):
    """Whether the scheme "pointwise" tells observations apart that others do not, and what it does not either.

    `lines` are those of the statements that add to the target, by site, `computed` the statements that observe what is
    computed of several data, or in variables of their own.
    """

    are_apart: bool
    unobserved: tuple[Unobserved, ...]
    lines: Mapping[str, int] = {}
    computed: Mapping[str, Unobserved] = {}
