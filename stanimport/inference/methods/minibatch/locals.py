"""Parameters with an entry for every row: a mean-field law for each, looked up by the rows of a batch.

A table holds a line for every row: the means and the logarithms of the standard deviations of its unconstrained
parameters, Adam's two moments of each, and how often the row has been seen. Only the rows of a batch move in a step.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stanlib.dataclass import dataclass

from ...options import OptionError

START = 0.5  # standard deviation of an entry's law to begin with


@dataclass(frozen=True)
class Local:
    """The parameters of the rows of one size.

    Attributes:
        size: of the data.
        axes: the axis of the rows of each site, on the unconstrained scale.
        shapes: what a row has of each site.
    """

    size: str
    axes: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]

    @property
    def width(self) -> int:
        """How many unconstrained parameters a row has."""
        return sum(int(np.prod(s)) for s in self.shapes.values())

    @property
    def columns(self) -> int:
        """Of its table."""
        return 6 * self.width + 1

    def table(self, total: int, radius: float, seed: Sequence[int]) -> np.ndarray:
        """A table to begin with: means uniform within a radius, as Stan starts parameters."""
        made = np.zeros((total, self.columns))
        rng = np.random.default_rng(seed)
        made[:, : self.width] = rng.uniform(-radius, radius, (total, self.width))
        made[:, self.width : 2 * self.width] = np.log(START)
        return made

    def split(self, values: Any, move: Any) -> dict[str, Any]:
        """The sites of values (rows, width); `move` is the array library's `moveaxis`."""
        out, at = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            out[name] = move(values[:, at : at + size].reshape(-1, *shape), 0, self.axes[name])
            at += size
        return out

    def params(self, table: np.ndarray) -> dict[str, np.ndarray]:
        """The means and standard deviations of the sites' unconstrained parameters, of all rows."""
        means = self.split(table[:, : self.width], np.moveaxis)
        spreads = self.split(np.exp(table[:, self.width : 2 * self.width]), np.moveaxis)
        return {f"{n}.loc": v for n, v in means.items()} | {f"{n}.scale": v for n, v in spreads.items()}


def locals_of(
    names: Sequence[str], shapes: Mapping[str, tuple[int, ...]], axes: Mapping[str, Mapping[str, int]]
) -> dict[str, Local]:  # fmt: skip
    """The local parameters of each size, of sites with these shapes for a batch.

    Args:
        axes: of each size the axes of the rows, by the names of parameters.

    Raises:
        OptionError: for a parameter with an entry for every row of each of two sizes.
    """
    found: dict[str, Local] = {}
    for name in names:
        sizes = [s for s, known in axes.items() if name.partition(".")[0] in known]
        if len(sizes) > 1:
            rows = " and of ".join(sizes)
            advice = "take batches of one of them, or a guide that computes it from the rows"
            raise OptionError(f"{name} has an entry for every row of {rows}: {advice}")
    for size, known in axes.items():
        mine = {n: known[n.partition(".")[0]] for n in names if n.partition(".")[0] in known}
        if mine:
            kept = {n: tuple(k for i, k in enumerate(shapes[n]) if i != a) for n, a in mine.items()}
            found[size] = Local(size, mine, kept)
    return found


def adam(moved: Any, gradient: Any, moments: Any, count: Any, eta: Any, xp: Any) -> tuple[Any, Any]:
    """A step of Adam: the new values, and the new moments, stacked along the last axis.

    Source: Kingma and Ba (2015), "Adam: a method for stochastic optimization", ICLR.
    """
    width = moved.shape[-1]
    first = 0.9 * moments[..., :width] + 0.1 * gradient
    second = 0.999 * moments[..., width:] + 0.001 * gradient * gradient
    step = eta * (first / (1 - 0.9**count)) / (xp.sqrt(second / (1 - 0.999**count)) + 1e-8)
    return moved - step, xp.concatenate([first, second], -1)
