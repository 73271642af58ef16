"""Laws of parameters that a guide gives element by element, as Pyro's distributions."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from pyro.distributions import TorchDistribution
from torch.distributions import constraints

from ... import places
from ...random.torch import TorchRandom
from ...rejection import poisoning
from .distributions import tensors


class ByElements(TorchDistribution):
    """A law given by two functions of the program, of one event.

    Args:
        density: of the value and the arguments, its log density.
        draw: of a source of random numbers and the arguments, one value.
        shape: of the value.
        arguments: what both take.
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = True

    def __init__(
        self, density: Callable[..., object], draw: Callable[..., object], shape: Sequence[int],
        arguments: Sequence[object]
    ):
        self.density, self.draw, self.arguments = density, draw, tuple(arguments)
        self.place = places.here()
        super().__init__(torch.Size(), torch.Size(int(n) for n in shape), validate_args=False)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.independent(constraints.real, self.event_dim)

    def log_prob(self, value: Any) -> torch.Tensor:
        with places.blamed(self.place):
            if value.ndim <= self.event_dim:
                return self._log_prob(value)
            batch = value.shape[: value.ndim - self.event_dim]
            values = value.reshape(-1, *self.event_shape)
            return torch.stack([self._log_prob(v) for v in values]).reshape(batch)

    def _log_prob(self, value: object) -> torch.Tensor:
        found: torch.Tensor = tensors([poisoning(lambda: self.density(value, *self.arguments))])[0]
        return found

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        if not sample_shape:
            return self._drawn()
        made = [self._drawn() for _ in range(int(torch.Size(sample_shape).numel()))]
        return torch.stack(made).reshape((*sample_shape, *self.event_shape))

    def _drawn(self) -> torch.Tensor:
        drawn: torch.Tensor = tensors([poisoning(lambda: self.draw(TorchRandom(), *self.arguments))])[0]
        return drawn.reshape(self.event_shape)


def by_elements(
    density: Callable[..., object], draw: Callable[..., object], shape: Sequence[int], *arguments: object
) -> ByElements:
    """The law of a parameter whose elements have laws that read others; arguments as for `ByElements`."""
    return ByElements(density, draw, shape, arguments)
