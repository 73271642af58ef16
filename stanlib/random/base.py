"""What a source of random numbers offers to the `_rng` functions, and what all sources do in the same way."""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..arrays import named
from ..arrays.base import Array, Namespace

Shape = tuple[int, ...]


class Random(ABC):
    """A source of random numbers.

    Every call gives new, independent numbers. Where a `shape` may be None, it is the shape to which the parameters
    broadcast. Real draws have the library's floating type, integer draws an integer one. `LIBRARY` names the array
    library of the draws, which the namespace of an rng function follows.
    """

    LIBRARY: str

    @property
    def xp(self) -> Namespace:
        """The array namespace of the draws."""
        return named(self.LIBRARY)

    def split(self) -> Random:
        """A source independent of this one, for the iterations of a loop: `at` gives each its own."""
        return self

    def at(self, index: Array) -> Random:
        """The source of one iteration of a compiled loop, or of one lane of a vectorised one, out of a `split` one.

        A loop that is traced once would else draw the same numbers in every iteration. Sources that keep a state
        outside the trace return themselves.
        """
        return self

    @abstractmethod
    def uniform(self, shape: Shape) -> Array:
        """Uniform on [0, 1)."""

    @abstractmethod
    def normal(self, shape: Shape) -> Array:
        """Standard normal."""

    @abstractmethod
    def exponential(self, shape: Shape) -> Array:
        """Exponential of rate 1."""

    @abstractmethod
    def gamma(self, alpha: Array, shape: Shape | None = None) -> Array:
        """Gamma of shape parameter alpha and rate 1."""

    @abstractmethod
    def beta(self, a: Array, b: Array, shape: Shape | None = None) -> Array:
        """Beta with parameters a and b, which may be far below 1."""

    @abstractmethod
    def poisson(self, rate: Array, shape: Shape | None = None) -> Array:
        """Poisson counts."""

    @abstractmethod
    def binomial(self, n: Array, p: Array, shape: Shape | None = None) -> Array:
        """Successes in n trials of probability p."""

    @abstractmethod
    def von_mises(self, kappa: Array, shape: Shape | None = None) -> Array:
        """Von Mises angles in [-pi, pi] around 0, of concentration kappa >= 0."""

    @abstractmethod
    def hypergeometric(self, draws: Array, good: Array, bad: Array) -> Array:
        """The number of good ones among `draws` taken without replacement out of `good + bad`."""

    def categorical(self, probabilities: Array) -> Array:
        """Categories, counted from 0, of probabilities (or weights) along the last axis: inversion of their sums."""
        xp = self.xp
        sums = xp.cumsum(xp.real(probabilities), axis=-1)
        sums, u = xp.convert((sums, self.uniform(xp.shape(sums)[:-1])))
        return xp.sum(xp.integer(sums[..., :-1] <= u[..., None] * sums[..., -1:]), axis=-1)


def propose_angle(xp: Namespace, kappa: Array, u: Array) -> tuple[Any, Any]:
    """One round of rejection for von Mises angles: which lanes accept, and their angles; u holds three uniforms each.

    The proposal is a wrapped Cauchy law, whose parameter rho is Best and Fisher's (1979). Everything is written in
    s = (1 + rho^2) / (2 rho) less one and in one less the cosine, so that large kappa loses no digits.
    """
    k = xp.maximum(kappa, 1e-9)
    tau = 1 + xp.sqrt(1 + 4 * k * k)
    rho = xp.where(k < 1e-4, k / 2, (tau - xp.sqrt(2 * tau)) / (2 * k))
    s1 = (1 - rho) ** 2 / (2 * rho)
    half = 0.5 * xp.pi * u[0]
    versine = 2 * s1 * xp.sin(half) ** 2 / (s1 + 2 * xp.cos(half) ** 2)
    c = k * (s1 + versine)
    accepted = (c * (2 - c) > u[1]) | (xp.log(c / u[1]) + 1 >= c)
    angle = 2 * xp.arcsin(xp.sqrt(xp.minimum(0.5 * versine, 1.0)))
    return accepted, xp.where(u[2] < 0.5, -angle, angle)
