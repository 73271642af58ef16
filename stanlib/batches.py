"""Minibatches: data that are a sample of more, whose likelihood inference scales to the whole.

`model.minibatch(N=60_000)` says that along every axis declared with the size `N` a call holds some of 60,000 entries.
The sites of data and parameters whose first axis that is stand in a subsampled plate of the backend.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import StanError

if TYPE_CHECKING:
    from .metadata import Program


@dataclass(frozen=True)
class Batch:
    """The size of an axis in this call, and how many entries there are in all."""

    size: int
    total: int


_current: ContextVar[dict[str, Batch | None] | None] = ContextVar("batches", default=None)
_SUFFIX = re.compile(r"__(prior|density|\d+)$")


@contextmanager
def call_with(program: Program, totals: Mapping[str, int], inputs: Mapping[str, Any]) -> Iterator[None]:
    """A call of a model whose data are a batch.

    Raises:
        StanError: for a size that the program does not declare.
    """
    unknown = totals.keys() - set(program.names("data"))
    if unknown:
        raise StanError(f"{program.name} has no size {min(unknown)!r} among its data")
    batches: dict[str, Batch | None] = {}
    for v in (*program.data, *program.parameters):
        first = v.shape[0] if v.shape else ""
        batches[v.name] = Batch(int(inputs[first]), totals[first]) if first in totals else None
    token = _current.set(batches if totals else None)
    try:
        yield
    finally:
        _current.reset(token)


def of_site(site: str) -> Batch | None:
    """The batch that a site's first axis is, if it is one.

    Raises:
        StanError: in a minibatch, for a site that belongs to no one variable: how to scale it can't be told.
    """
    batches = _current.get()
    if batches is None:
        return None
    name = site
    while name not in batches and _SUFFIX.search(name):
        name = _SUFFIX.sub("", name)
    if name not in batches:
        raise StanError(f"{site} is the density of no one variable: how to scale it for a minibatch can't be told")
    return batches[name]
