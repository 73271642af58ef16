"""What inference asks of the sum over discrete variables, while a program runs: marginal probabilities, modes.

The derivative of the log of a sum in a number that is added to the logarithm of all its terms with z[n] = k is the
probability that z[n] is k.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from typing import Any

import numpy as np

from ..arrays import namespace
from ..dataclass import dataclass
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


_current: ContextVar[Question | None] = ContextVar("question", default=None)


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
