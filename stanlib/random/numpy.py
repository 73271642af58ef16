"""Random numbers from a NumPy Generator."""
from __future__ import annotations

from typing import Any

import numpy as np

from .base import Random, Shape


class NumpyRandom(Random):
    """Draws from a NumPy Generator, whose state it advances."""

    LIBRARY = "numpy"

    def __init__(self, generator: np.random.Generator):
        self.generator = generator

    def uniform(self, shape: Shape) -> Any:
        return self.generator.random(shape)

    def normal(self, shape: Shape) -> Any:
        return self.generator.standard_normal(shape)

    def exponential(self, shape: Shape) -> Any:
        return self.generator.standard_exponential(shape)

    def gamma(self, alpha: Any, shape: Shape | None = None) -> Any:
        return self.generator.standard_gamma(alpha, shape)

    def beta(self, a: Any, b: Any, shape: Shape | None = None) -> Any:
        return self.generator.beta(a, b, shape)

    def poisson(self, rate: Any, shape: Shape | None = None) -> Any:
        return self.generator.poisson(rate, shape)

    def binomial(self, n: Any, p: Any, shape: Shape | None = None) -> Any:
        return self.generator.binomial(n, p, shape)

    def von_mises(self, kappa: Any, shape: Shape | None = None) -> Any:
        return self.generator.vonmises(0.0, kappa, shape)

    def hypergeometric(self, draws: Any, good: Any, bad: Any) -> Any:
        return self.generator.hypergeometric(good, bad, draws)
