"""Laws of parameters that a guide gives element by element, as NumPyro's distributions."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from numpyro.distributions import Distribution, constraints

from ... import places
from ...random.jax import JaxRandom
from ...random.streams import sampled
from ...rejection import poisoning


class ByElements(Distribution):
    """A law given by two functions of the program, of one event.

    Args:
        density: of the value and the arguments, its log density.
        draw: of a source of random numbers and the arguments, one value.
        shape: of the value.
        arguments: what both take.
    """

    arg_constraints: dict[str, Any] = {}
    pytree_data_fields = ("arguments",)
    pytree_aux_fields = ("density", "draw", "place")

    def __init__(
        self, density: Callable[..., object], draw: Callable[..., object], shape: Sequence[int],
        arguments: Sequence[object]
    ):
        self.density, self.draw, self.arguments = density, draw, tuple(arguments)
        self.place = places.here()
        super().__init__((), tuple(int(n) for n in shape), validate_args=False)

    @property
    def support(self) -> Any:
        return constraints.independent(constraints.real, self.event_dim)

    def log_prob(self, value: object, intermediates: object = None) -> jax.Array:
        """The log density of values with any leading axes."""
        value = jnp.asarray(value)

        def one(z: object) -> jax.Array:
            return jnp.asarray(poisoning(lambda: self.density(z, *self.arguments)))

        for _ in range(value.ndim - self.event_dim):
            one = jax.vmap(one)
        with places.blamed(self.place):
            return one(value)

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        """Draws, functions of the arguments that have derivatives."""
        def one(k: Any) -> jax.Array:
            return jnp.asarray(poisoning(lambda: self.draw(JaxRandom(k), *self.arguments)))

        return sampled(one, key, sample_shape)


def by_elements(
    density: Callable[..., object], draw: Callable[..., object], shape: Sequence[int], *arguments: object
) -> ByElements:
    """The law of a parameter whose elements have laws that read others; arguments as for `ByElements`."""
    return ByElements(density, draw, shape, arguments)
