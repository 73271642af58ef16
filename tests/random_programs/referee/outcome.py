"""What a program computes at one point: the same for Stan and for us, and how two of them differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

RELATIVE, ABSOLUTE = 1e-7, 1e-9
SETTLED = 1e-7  # of slopes, which differences of densities settle to a tenth of it
LARGE = 1e9  # beyond it, and where a value is not finite, two outcomes are not compared by number
STEEP = 1e7  # nor are they where a gradient is beyond this: chaotic iterations, in which roundings show


@dataclass
class Outcome:
    """The log density up to a constant, its gradient, and the program's variables by Stan's names of their entries.

    `gradient` and `values` are None where they were not asked for; in the place of the gradient there may be the
    `slope` along a direction, NaN where it is not known. `rejected` says why there is nothing: Stan threw, or what was
    raised here.
    """

    log_density: float = math.nan
    gradient: np.ndarray | None = None
    values: dict[str, float] | None = None
    rejected: str = ""
    direction: np.ndarray | None = None
    slope: float = math.nan

    @property
    def throws_in_quantities(self) -> bool:
        """Whether Stan throws in computing generated quantities, by which the draw has none."""
        return self.values is not None and "" in self.values

    @property
    def is_finite(self) -> bool:
        gradient = () if self.gradient is None else self.gradient
        numbers = [self.log_density, *(self.values or {}).values()]
        return not self.rejected and all(
            math.isfinite(x) and abs(x) < limit for limit, some in ((LARGE, numbers), (STEEP, gradient)) for x in some
        )


def slope(density: Callable[[np.ndarray], float], point: np.ndarray, direction: np.ndarray) -> float:
    """The derivative of a density along a direction, extrapolated from differences; NaN where these don't settle."""
    steps = [0.02 / 2**k for k in range(4)]
    rows = [[(density(point + h * direction) - density(point - h * direction)) / (2 * h) for h in steps]]
    while len(rows[-1]) > 1:
        factor, last = 4.0 ** len(rows), rows[-1]
        rows.append([(factor * b - a) / (factor - 1) for a, b in zip(last, last[1:])])
    found, before = rows[-1][0], rows[-2][1]
    return found if abs(found - before) <= 0.1 * SETTLED * (1 + abs(found)) else math.nan


def close(a: float, b: float, scale: float = 0.0) -> bool:
    return abs(a - b) <= ABSOLUTE + RELATIVE * max(abs(a), abs(b), scale)


def differences(ours: list[Outcome], stans: list[Outcome]) -> list[str]:
    """How outcomes at the same points differ; densities are compared between points, as Stan's lack constants."""
    out: list[str] = []
    pairs = [(a, b) for a, b in zip(ours, stans) if b.is_finite]
    for a, b in pairs:
        if a.rejected:
            return [f"raised: {a.rejected}"]
        out += _gradients(a, b) + _values(a, b)
    for (a, b), (a0, b0) in zip(pairs[1:], pairs):
        scale = max(abs(b.log_density), abs(b0.log_density))
        if not close(a.log_density - a0.log_density, b.log_density - b0.log_density, scale):
            out.append(f"log density: {a.log_density - a0.log_density!r} for {b.log_density - b0.log_density!r}")
    if len(pairs) == 1 and not math.isfinite(pairs[0][0].log_density):
        out.append(f"log density: {pairs[0][0].log_density}")
    return out


def accepted(ours: list[Outcome], stans: list[Outcome]) -> list[str]:
    """Where Stan throws and a number comes out: it must be minus infinity, or an error that names a line.

    Where Stan throws in generated quantities, these must be NaN, or the error, and transformed parameters Stan's.
    """
    return [
        f"accepted: {a.log_density!r} or {a.rejected!r} where Stan throws"
        for a, b in zip(ours, stans)
        if b.rejected and not (", line " in a.rejected or a.log_density == -math.inf)
    ] + [
        f"accepted: {dict(list(a.values.items())[-3:])} where Stan throws in generated quantities"
        for a, b in zip(ours, stans)
        if b.throws_in_quantities and a.values and not any(map(_is_none, a.values.values()))
    ] + [
        f"kept: {a.values[n]!r} for {n} = {x!r} where Stan throws in generated quantities"
        for a, b in zip(ours, stans)
        if b.throws_in_quantities and a.values
        for n, x in (b.values or {}).items()
        if n in a.values and math.isfinite(x) and abs(x) < LARGE and not close(a.values[n], x, 1e-2)
    ][:2]


def _is_none(value: float) -> bool:
    """What a draw has whose quantities Stan refuses: NaN, or the least integer."""
    return math.isnan(value) or value == -(2.0**31)


def _gradients(a: Outcome, b: Outcome) -> list[str]:
    if a.gradient is not None and b.direction is not None and math.isfinite(b.slope):
        return _slopes(a.gradient, b.direction, b.slope)
    if a.gradient is None or b.gradient is None:
        return []
    if len(a.gradient) != len(b.gradient):
        return [f"gradient: of {len(a.gradient)} parameters for {len(b.gradient)}"]
    scale = max(map(abs, b.gradient), default=0.0)
    wrong = [i for i, (x, y) in enumerate(zip(a.gradient, b.gradient)) if not close(x, y, scale)]
    return [f"gradient[{i}]: {float(a.gradient[i])!r} for {float(b.gradient[i])!r}" for i in wrong[:2]]


def _slopes(gradient: np.ndarray, direction: np.ndarray, slope: float) -> list[str]:
    if len(gradient) != len(direction):
        return [f"gradient: of {len(gradient)} parameters for {len(direction)}"]
    parts = direction * gradient
    if abs(parts.sum() - slope) <= SETTLED * (1 + np.abs(parts).sum() + abs(slope)):
        return []
    return [f"gradient along a direction: {float(parts.sum())!r} for {slope!r}"]


def _values(a: Outcome, b: Outcome) -> list[str]:
    ours, stans = a.values, b.values
    if ours is None or stans is None:
        return []
    missing = [n for n in stans if n not in ours]
    if missing:
        return [f"values: no {missing[0]}"]
    wrong = [n for n, x in stans.items() if not close(ours[n], x, 1e-2)]
    return [f"value of {n}: {ours[n]!r} for {stans[n]!r}" for n in wrong[:2]]
