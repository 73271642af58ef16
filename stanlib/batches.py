"""Minibatches: data that are a sample of more, whose likelihood inference scales to the whole.

`model.minibatch(N=60_000)` says that along every axis declared with the size `N` a call holds some of 60,000 entries.
The compiler tells which sites are sums over these; their log densities are multiplied by 60,000 / N.
It tells too which axes of the data and of the parameters these are: what a batch is cut out of.
"""
from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import field
from typing import TYPE_CHECKING, Any

from .dataclass import dataclass
from .errors import StanError

if TYPE_CHECKING:
    from .metadata import Program

class BatchWarning(UserWarning):
    """A minibatch that fits a guide of the program's own alone."""


@dataclass(frozen=True)
class Rows:
    """What of a program depends on the rows of one size of its data.

    Attributes:
        sites: of the model or guide, and whether each is a sum over the rows.
        axes: the axis of the rows, of data, transformed data and parameters that have one.
        sizes: the data and transformed data that are the number of rows.
        sums: transformed data that are sums over the rows.
        whole: transformed parameters and generated quantities that depend on no row.
    """

    sites: Mapping[str, bool]
    axes: Mapping[str, int] = field(default_factory=dict)
    sizes: frozenset[str] = frozenset()
    sums: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Batches:
    """How many rows there are of each size in all, and what of the program depends on them."""

    totals: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, Rows] = field(default_factory=dict)

    def factors(self, program: Program, inputs: Mapping[str, Any]) -> dict[str, float]:
        """By what each site's log density is multiplied in a call.

        Raises:
            StanError: for a batch that is empty, or larger than all that there is.
        """
        factors: dict[str, float] = {}
        for size, total in self.totals.items():
            held = int(inputs[size])
            if not 0 < held <= total:
                raise StanError(f"{program.name} has {held} of {total} in the minibatch of {size}")
            for site, scaled in self.rows[size].sites.items():
                factors[site] = factors.get(site, 1.0) * (total / held if scaled else 1.0)
        return factors


def warn_of_rows(program: Program, sizes: Iterable[str]) -> None:
    """Warn of parameters with an entry for every row, of a program without a guide."""
    local = [v.name for v in program.parameters for size in sizes if size in v.shape]
    if local:
        warnings.warn(
            f"{program.name}: {', '.join(local)} has an entry for every row. An automatic guide gives the rows of all "
            "batches the same law, which is wrong: compute them from the rows, in a guide block or a guide in Python",
            BatchWarning, stacklevel=3,
        )  # fmt: skip


_current: ContextVar[dict[str, float] | None] = ContextVar("batches", default=None)
_read: ContextVar[frozenset[str]] = ContextVar("read", default=frozenset())


class reading:
    """Data that are read are rows of these sizes, so that a bound that names one is none of the batch."""

    def __init__(self, sizes: Iterable[str]):
        self.sizes = frozenset(sizes)

    def __enter__(self) -> None:
        self.token = _read.set(self.sizes)

    def __exit__(self, *raised: object) -> None:
        _read.reset(self.token)


def bounds_all_rows(constraint: str) -> bool:
    """Whether a declared constraint names a size of which the data that are read are a batch."""
    return not _read.get().isdisjoint(re.findall(r"\w+", constraint))


class call_with:
    """A call of a model whose data are a batch."""

    def __init__(self, program: Program, batches: Batches, inputs: Mapping[str, object]):
        self.factors = batches.factors(program, inputs) if batches.totals else None

    def __enter__(self) -> None:
        self.token = _current.set(self.factors)

    def __exit__(self, *raised: object) -> None:
        _current.reset(self.token)


def factor(site: str) -> float | None:
    """By what a site's log density is multiplied; None where it stays as it is.

    Raises:
        StanError: in a minibatch, for a site of which the compiler does not know what it is a sum of.
    """
    factors = _current.get()
    if factors is None:
        return None
    found = factors.get(site)
    if found is None:  # a tuple's items and a complex number's parts are sites of their own
        found = factors.get(site.partition(".")[0])
    if found is None:
        raise StanError(f"in a minibatch: what {site} is a sum of can't be told, as in a loop of unknown length")
    return None if found == 1.0 else found
