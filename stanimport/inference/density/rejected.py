"""Draws for which Stan throws in generated quantities: these are NaN there, and one warning tells of it.

What was computed before them stays: parameters, transformed parameters, and draws of discrete parameters.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib.dataclass import dataclass
from stanlib.declared_sizes import blank
from stanlib.errors import StanError
from stanlib.rejection import NO_INTEGER

from ...errors import warn
from .. import tuples

if TYPE_CHECKING:
    from stanlib.kept import Attempt
    from stanlib.metadata import Program

__all__ = ["RejectionWarning"]
Arrays = Mapping[str, np.ndarray]
Draws = Sequence[Mapping[str, Any]]  # of each its arrays, and what `marked` adds
REJECTED = "rejected__"  # the name under which it stands among the variables of a draw whether Stan throws for it


class RejectionWarning(RuntimeWarning):
    """Draws for which Stan throws in generated quantities, which are NaN there."""


@dataclass(frozen=True)
class Thrown:
    """What Stan throws for one draw.

    Attributes:
        error: with the Stan text.
        lacking: the arrays that the draw has not, in the order of their declarations.
        blank: arrays in their places, as far as sizes are known.
        others: finds the others, if there is a way, once no draw tells them.
    """

    error: StanError
    lacking: tuple[str, ...]
    blank: Arrays
    others: Callable[[], Arrays] | None = None


def marked(
    program: Program, inputs: Mapping[str, object], wanted: Collection[str], made: Mapping[str, object],
    told: Attempt, others: Callable[[], Arrays] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The arrays of those transformed parameters and generated quantities that are wanted, of one draw.

    Under REJECTED there is whether Stan throws for one of them, or what, if anything can.

    Args:
        made, told: what came of the attempt to make them.
        others: as of `Thrown`.
    """
    quantities = (*program.transformed_parameters, *program.generated_quantities)
    flat = tuples.unpack({n: v for n, v in made.items() if n in wanted})
    lacking = [v for v in quantities if v.name in wanted and v.name not in made]
    if told.error is not None:
        if lacking:
            blanks = {n: value for v in lacking for n, value in blank(v, inputs).items()}
            flat[REJECTED] = Thrown(told.error, tuple(tuples.leaf_names(lacking)), blanks, others)
        return flat
    flag = told.flag if all(n in told.values for n in made if n in wanted) else told.rejected
    return flat if flag is None else {**flat, REJECTED: flag}


def stacked(draws: Draws) -> dict[str, np.ndarray]:
    """The arrays of many draws, each with a first axis of draws; what Stan throws for is NaN.

    Raises:
        StanError: what it throws, if that leaves no draw of a variable, and the sizes of that are not known.
    """
    thrown = [d.get(REJECTED) for d in draws]
    names = dict.fromkeys(n for d in draws[:1] for n in d)
    names |= dict.fromkeys(n for t in thrown if isinstance(t, Thrown) for n in t.lacking)
    made = {n: _column(n, draws) for n in names if n != REJECTED}
    if any(t is not None for t in thrown):
        made[REJECTED] = np.array([isinstance(t, Thrown) or bool(t) for t in thrown])
    return made


def _column(name: str, draws: Draws) -> np.ndarray:
    """One array of many draws."""
    known = next((np.asarray(d[name]) for d in draws if name in d), None)
    if known is None:
        thrown: Thrown = draws[0][REJECTED]
        found = thrown.blank if name in thrown.blank or thrown.others is None else thrown.others()
        if name not in found:
            raise thrown.error
        known = found[name]
    nothing = np.full(known.shape, NO_INTEGER if known.dtype.kind in "iu" else np.nan, known.dtype)
    return np.stack([np.asarray(d[name]) if name in d else nothing for d in draws])


class Told:
    """Of how many draws Stan throws in generated quantities, and what in the first of these."""

    def __init__(self) -> None:
        self.count, self.total = 0, 0
        self.error: StanError | None = None

    def stacked(self, draws: Draws) -> dict[str, np.ndarray]:
        """The arrays of many draws, as `stacked` has them, which are added to those told of."""
        made = stacked(draws)
        errors = (d[REJECTED].error for d in draws if isinstance(d.get(REJECTED), Thrown))
        self.add(made.pop(REJECTED, None), len(draws), errors)
        return made

    def add(self, flags: np.ndarray | None, total: int, errors: Iterable[StanError | None] = ()) -> None:
        """So many draws more, with whether Stan throws for each; the first of the errors is asked for if needed."""
        self.total += total
        found = 0 if flags is None else int(np.sum(flags))
        self.count += found
        if found and self.error is None:
            self.error = next(iter(errors), None)

    def warn(self, of: str = "draws") -> None:
        """Tell of them, if there are any."""
        if not self.count:
            return
        one = "" if of == "draws" else f" of {of}"
        share = f" of {self.count} of {self.total} {of}" if self.total > 1 else one
        reason = "" if self.error is None else f": {'' if self.count == 1 else 'the first time '}{self.error}"
        warn(f"generated quantities{share} are NaN, integers {NO_INTEGER}, since Stan throws{reason}", RejectionWarning)


def told_of(draws: Draws) -> dict[str, np.ndarray]:
    """The arrays of many draws, with a warning of those for which Stan throws."""
    told = Told()
    made = told.stacked(draws)
    told.warn()
    return made
