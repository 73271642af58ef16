"""Random numbers from a NumPy Generator."""
from __future__ import annotations

import numpy as np

from ..arrays.base import Array
from .base import Random, Shape


class NumpyRandom(Random):
    """Draws from a NumPy Generator, whose state it advances."""

    LIBRARY = "numpy"

    def __init__(self, generator: np.random.Generator):
        self.generator = generator

    def uniform(self, shape: Shape) -> Array:
        return self.generator.random(shape)

    def normal(self, shape: Shape) -> Array:
        return self.generator.standard_normal(shape)

    def exponential(self, shape: Shape) -> Array:
        return self.generator.standard_exponential(shape)

    def gamma(self, alpha: Array, shape: Shape | None = None) -> Array:
        return self.generator.standard_gamma(alpha, shape)

    def beta(self, a: Array, b: Array, shape: Shape | None = None) -> Array:
        return self.generator.beta(a, b, shape)

    def poisson(self, rate: Array, shape: Shape | None = None) -> Array:
        return self.generator.poisson(rate, shape)

    def binomial(self, n: Array, p: Array, shape: Shape | None = None) -> Array:
        return self.generator.binomial(n, p, shape)

    def von_mises(self, kappa: Array, shape: Shape | None = None) -> Array:
        return self.generator.vonmises(0.0, kappa, shape)

    def hypergeometric(self, draws: Array, good: Array, bad: Array) -> Array:
        return self.generator.hypergeometric(good, bad, draws)
