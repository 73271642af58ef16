"""The laws of containers in a loop, one in each lane, as one distribution: what replications draw from."""
from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from numpyro.distributions import Distribution, constraints

from ...distribution import Distribution as Record
from ...random.streams import sampled
from .. import laws
from .distributions import draw


class LawsOfLanes(Distribution):
    """A law of a container for every lane. Its log densities are computed where the loop runs."""

    rejected, place = laws.NEVER, None
    totals: object = None
    support = constraints.real

    def __init__(
        self, record: Record, arguments: Sequence[object], event_shape: tuple[int, ...], log_densities: jax.Array
    ):  # fmt: skip
        """`arguments` have an axis for the lanes in front, and so have `log_densities`, (lanes)."""
        self.record, self.arguments, self.log_densities = record, tuple(arguments), log_densities
        super().__init__(jnp.shape(log_densities), event_shape, validate_args=False)

    def log_prob(self, value: object) -> object:
        return self.log_densities

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        """Draws, (*sample_shape, lanes, ...). Raises NotImplementedError where there are none."""

        def one(k: jax.Array) -> jax.Array:
            given = laws.rng_arguments(self.record, self.arguments, self.event_shape, self.totals)
            return draw(self.record, given, k, ())

        return sampled(one, key, sample_shape)
