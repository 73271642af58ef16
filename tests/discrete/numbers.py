"""Sums over discrete parameters in plain NumPy, of complex numbers: what is imaginary in them is a derivative.

With steps of 1e-30 derivatives are exact to the last digits, as nothing is subtracted.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

STEP = 1e-30
Weight = Any  # of one assignment, or the sum of many: a number for the point, and one for a step along each axis


class Numbers:
    """The parameters of a program of histories at a point, each with a column for itself and one for every step."""

    def __init__(self, q: np.ndarray, occasions: int):
        steps = np.concatenate([np.zeros((1, len(q))), STEP * np.eye(len(q))])
        at = (q + 1j * steps).T.astype(np.clongdouble)  # exp(-10000) is no zero there
        rates = 1 / (1 + np.exp(-at[: 3 + 2 * occasions]))
        self.phi, self.p = rates[:3], rates[3:].reshape(2, occasions, -1)
        self.m, self.s = at[-4:-1], np.exp(at[-1])
        self.one = np.ones(len(q) + 1, np.clongdouble)
        self.jacobian = np.log(rates * (1 - rates)).sum(0) + at[-1]

    def normal(self, x: float, mu: Any, sigma: Any = None) -> Weight:
        """The density."""
        sigma = self.s if sigma is None else sigma
        return np.exp(-0.5 * ((x - mu) / sigma) ** 2) / sigma / np.sqrt(2 * np.pi)

    def bernoulli(self, k: int, rate: Any) -> Weight:
        """The probability."""
        return self.one * (rate if k else 1 - rate)


class Sum:
    """A sum of weights that may be too small for numbers: a number, and the logarithm of its factor."""

    def __init__(self, weight: Weight, log: Any = 0.0):
        size = np.abs(weight[0].real)
        self.weight, self.log = (weight / size, log + np.log(size)) if size > 0 else (weight, log)

    @classmethod
    def of_log(cls, term: Any) -> Sum:
        """The weight of which a term is the logarithm."""
        if term[0].real == -np.inf:
            return cls(np.zeros_like(term))
        return cls(np.exp(term - term[0].real), term[0].real)

    def __mul__(self, other: Sum) -> Sum:
        return Sum(self.weight * other.weight, self.log + other.log)

    def __add__(self, other: Sum) -> Sum:
        if self.weight[0] == 0 or other.weight[0] == 0:
            return other if self.weight[0] == 0 else self
        most = max(self.log, other.log)
        return Sum(self.weight * np.exp(self.log - most) + other.weight * np.exp(other.log - most), most)

    @property
    def value(self) -> tuple[float, np.ndarray]:
        """The logarithm, and its derivatives; they mean nothing where it is -inf."""
        if self.weight[0] == 0:
            return -np.inf, np.zeros(len(self.weight) - 1)
        found = np.log(self.weight) + self.log
        return float(found[0].real), (found[1:].imag / STEP).astype(float)


def forward(states: Sequence[Sequence[int]], first: Callable[[int], Weight],
            step: Callable[[int, int, int], Weight]) -> Sum:  # fmt: skip
    """The sum over all paths of a chain, place by place.

    Args:
        states: those of each place.
        first: the weight of a state at the first place.
        step: that of a place, the state before, and its own state.
    """
    at: Mapping[int, Weight] = {a: first(a) for a in states[0]}
    log = 0.0
    for t, here in enumerate(states[1:], 1):
        at = {b: sum(at[a] * step(t, a, b) for a in states[t - 1]) for b in here}
        most = max(abs(w[0].real) for w in at.values())
        if most > 0:
            at, log = {b: w / most for b, w in at.items()}, log + np.log(most)
    return Sum(sum(at.values()), log)
