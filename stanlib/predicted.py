"""Data that a model is called with as None, by the convention of NumPyro's and Pyro's users: it draws them.

Marks stand in the places of such data, different numbers in the order of their components, so that it shows which
statement observes the whole of a variable, as it is.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import StanDataError
from .sites import variable_of
from .unknown_outcomes import moved_outcomes

if TYPE_CHECKING:
    from .metadata import Program

_FIRST = 0x3F000000  # of the bits of 0.5, in single precision


class Asked:
    """The data that one call of a model draws: marks by name, and which of them were drawn."""

    def __init__(self, program: Program, stood_in: Mapping[str, Any]):
        self.program, self.drawn = program, set[str]()
        self.marks = {n: _marks(np.shape(v)) for n, v in stood_in.items()}

    def variable_of(self, site: str) -> str | None:
        """The variable that a site would observe, if it is one to be drawn."""
        name = variable_of(site, self.program.names("data", "transformed_data"))
        return name if name in self.marks else None


_asked: ContextVar[Asked | None] = ContextVar("asked", default=None)
_laws: ContextVar[bool] = ContextVar("laws", default=False)


def names(given: Mapping[str, object], program: Program) -> list[str]:
    """The data that are given as None."""
    return [n for n, v in given.items() if v is None and n in program.names("data")]


def verify(program: Program, wanted: list[str], reasons: Callable[[], Mapping[str, str]]) -> None:
    """Raise StanDataError for data that a model or guide can't draw; `reasons` tells which those are, and why."""
    known = reasons()
    for name in wanted:
        if name in known:
            raise refusal(program, name, known[name])


def refusal(program: Program, name: str, reason: str) -> StanDataError:
    """The error for data that can't be drawn."""
    v = next(v for v in program.data if v.name == name)
    told = f"{name} is None, and the model of {program.name} can't draw it: {reason}. fit.posterior_predictive(data) "
    told += "and stanimport.prior_predictive(program, data) may be able to"
    return StanDataError(told, name, program.filename, v.line)


def _marks(shape: tuple[int, ...]) -> np.ndarray:
    """Numbers that differ in single precision too."""
    count = int(np.prod(shape, dtype=int))
    return (np.arange(count, dtype=np.int32) + _FIRST).view(np.float32).astype(float).reshape(shape)


@contextmanager
def drawing(asked: Asked | None) -> Iterator[None]:
    """Within it the model draws the data that are asked for, each of them once."""
    if asked is None:
        yield
        return
    token = _asked.set(asked)
    try:
        with moved_outcomes(asked.marks):
            yield
    finally:
        _asked.reset(token)
    for name in {n for n, marks in asked.marks.items() if marks.size} - asked.drawn:
        raise refusal(asked.program, name, "no statement with a law to draw from observes it, or one does in a loop")


@contextmanager
def laws_to_draw_from() -> Iterator[None]:
    """Within it laws of containers in loops, too, are laws of all iterations, of which else the density is enough."""
    token = _laws.set(True)
    try:
        yield
    finally:
        _laws.reset(token)


def are_laws_wanted() -> bool:
    """Whether what is observed in loops is to be drawn as well."""
    return _laws.get() or _asked.get() is not None


def is_drawn(site: str, value: Any) -> bool:
    """Whether a site draws its value, in whose place `value` stands.

    Raises:
        StanDataError: for another part or order than that of the variable, and for one that was drawn before.
    """
    asked = _asked.get()
    name = None if asked is None else asked.variable_of(site)
    if asked is None or name is None:
        return False
    if name in asked.drawn:
        raise refusal(asked.program, name, "statements observe it more than once")
    if np.shape(value) != asked.marks[name].shape or not np.array_equal(np.asarray(value), asked.marks[name]):
        raise refusal(asked.program, name, "a statement observes a part of it, or its components in another order")
    asked.drawn.add(name)
    return True


def require_law(site: str) -> None:
    """Raise StanDataError where what is to be drawn has a density that no law of the backend has."""
    asked = _asked.get()
    name = None if asked is None else asked.variable_of(site)
    if asked is not None and name is not None:
        raise refusal(asked.program, name, "its density is computed by the program itself, or in a loop")
