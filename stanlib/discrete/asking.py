"""What inference asks of the sum over discrete variables, while a program runs: marginal probabilities, modes.

The derivative of the log of a sum in a number that is added to the logarithm of all its terms with z[n] = k is the
probability that z[n] is k.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import namespace
from ..dataclass import dataclass
from ..errors import StanDataError

if TYPE_CHECKING:
    from .problem import Variable


@dataclass
class Question:
    """Numbers to be added, by variable, (elements, values); with `mode` draws are the most probable assignments.

    Where values of variables are `given`, by name and of their shapes, draws have these. `seen` are the variables that
    were summed out.
    """

    added: Mapping[str, Any] = field(default_factory=dict)
    mode: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)
    seen: dict[str, Variable] = field(default_factory=dict)


Site = Callable[[str, Any], Any]  # a name and a value that was drawn: the value that handlers give it, or that one

_current: ContextVar[Question | None] = ContextVar("question", default=None)
_site: ContextVar[Site | None] = ContextVar("site", default=None)


@contextmanager
def asking(question: Question) -> Iterator[Question]:
    """Inside, sums and draws answer the question."""
    token = _current.set(question)
    try:
        yield question
    finally:
        _current.reset(token)


@contextmanager
def given_some(variables: Sequence[Variable]) -> Iterator[None]:
    """Inside, draws of the other variables are those given the values of some that the question gives."""
    question, added = asked(), {}
    for v in variables:
        if v.name in question.given:
            xp = namespace((question.given[v.name],))
            at = xp.reshape(question.given[v.name], (-1, 1)) - v.least
            added[v.name] = xp.where(at == np.arange(v.values), 0.0, -np.inf)
    with asking(replace(question, added={**question.added, **added}) if added else question):
        yield


def asked() -> Question:
    """The question that sums and draws have to answer."""
    return _current.get() or Question()


@contextmanager
def given_integers(values: Mapping[str, object]) -> Iterator[None]:
    """Inside, draws have these values of variables, by name."""
    if not values:
        yield
        return
    with asking(replace(asked(), given={**asked().given, **values})):
        yield


@contextmanager
def drawing_at(site: Site | None) -> Iterator[None]:
    """Inside, every variable that is drawn has a site of its own in the model."""
    token = _site.set(site)
    try:
        yield
    finally:
        _site.reset(token)


def at_sites(variables: Sequence[Variable], draw: Callable[[], Any]) -> Any:
    """A draw of all variables as one array over their elements, through their sites, if they have any.

    What handlers give one of them, those behind it are drawn given that.

    Raises:
        StanDataError: for values of other sizes, and outside of the bounds where they are known.
    """
    values, site = draw(), _site.get()
    if site is None:
        return values
    given, start = dict(asked().given), 0
    for v in variables:
        end = start + v.lower.size
        xp = namespace((values,))
        mine = xp.reshape(values[start:end], v.shape)
        taken = site(v.name, mine)
        given[v.name] = taken
        if taken is not mine:
            with given_integers(given):
                values = draw()
        start = end
    return values


def whole(variable: Variable, value: Any) -> Any:
    """What somebody gives a variable, as ints.

    Raises:
        StanDataError: for a value of other sizes, and where it is known one that is no int or outside of the bounds.
    """
    xp = namespace((value,))
    if tuple(xp.shape(value)) != variable.shape:
        sizes = f"is declared with sizes {variable.shape}, its value has {tuple(xp.shape(value))}"
        raise StanDataError(f"{variable.name} {sizes}", variable.name)
    known = xp.known(value)
    if known is None:
        return xp.integer(value)
    found = np.reshape(np.asarray(known), -1)
    low, high = variable.lower.reshape(-1), variable.upper.reshape(-1)
    for n in map(int, np.flatnonzero(~((found >= low) & (found <= high) & (found == np.floor(found))))):
        element = variable.element(variable.first + n)
        raise StanDataError(f"{element} is {found[n]}, but must be an int from {low[n]} to {high[n]}", variable.name)
    return np.asarray(known).astype(int)
