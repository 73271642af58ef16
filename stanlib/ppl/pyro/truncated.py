"""Truncated laws as Pyro's distributions, whose draws have derivatives, those of the bounds among them."""
from __future__ import annotations

from typing import Any

import torch
from pyro.distributions import TorchDistribution
from torch.distributions import constraints

from ...quantiles import excess, truncated_quantile
from .distributions import tensors, xp
from .supports import support_of


class Truncated(TorchDistribution):
    """`foo(...) T[lower, upper]`: the density divided by the probability between the bounds."""

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base: Any, log_normalizer: Any, lower: Any = None, upper: Any = None):
        self.base, self.log_normalizer, self.lower, self.upper = base, log_normalizer, lower, upper
        batch = torch.broadcast_shapes(base.batch_shape, *(tuple(getattr(b, "shape", ())) for b in (lower, upper)))
        super().__init__(batch, base.event_shape, validate_args=False)

    @constraints.dependent_property
    def support(self) -> Any:
        bounds = {k: v for k, v in (("lower", self.lower), ("upper", self.upper)) if v is not None}
        return support_of(None, bounds, ())

    def log_prob(self, value: Any) -> torch.Tensor:
        lower = -torch.inf if self.lower is None else self.lower
        x, low, high = tensors([value, lower, torch.inf if self.upper is None else self.upper])
        inside = (x >= low) & (x <= high)
        log_prob, log_normalizer = tensors([self.base.log_prob(value), self.log_normalizer])
        return torch.as_tensor(xp.where(inside, log_prob - log_normalizer, -xp.inf))

    @property
    def has_rsample(self) -> bool:
        """Whether draws have derivatives: those of the score would leave out that bounds move."""
        return bool(self.base.record.density == "lpdf")

    def sample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        with torch.no_grad():
            return self._quantile(self._share(sample_shape))

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        """A draw with the derivatives of the implicit function, as it is searched for; none where the density is 0.

        Source: Figurnov, Mohamed and Mnih (2018), "Implicit Reparameterization Gradients", section 3.
        """
        share = self._share(sample_shape)
        with torch.no_grad():
            found = self._quantile(share)
        base, bounds = self.base, self._bounds(share)
        over = torch.as_tensor(excess(xp, base.record, base.arguments, *bounds, share, found))
        density = torch.as_tensor(base.log_prob(found)).detach().exp()
        is_told = (density > 0) & torch.isfinite(over)
        return torch.where(is_told, found - (over - over.detach()) / torch.where(is_told, density, 1.0), found)

    def _share(self, sample_shape: torch.Size) -> torch.Tensor:
        given = tensors(self.base.arguments)
        like = next((a for a in given if a.is_floating_point()), torch.empty(()))  # a number of trials is none
        share = torch.rand((*sample_shape, *self.batch_shape), dtype=like.dtype, device=like.device)
        return share.clamp(min=torch.finfo(share.dtype).tiny)

    def _bounds(self, share: torch.Tensor) -> tuple[Any, Any]:
        made = [None if b is None else tensors([b])[0].to(share) for b in (self.lower, self.upper)]
        return made[0], made[1]

    def _quantile(self, share: torch.Tensor) -> torch.Tensor:
        base, bounds = self.base, self._bounds(share)
        return torch.as_tensor(truncated_quantile(xp, base.record, base.arguments, *bounds, share))


class Restricted(Truncated):
    """A parameter's law on its domain: normalised, as a law is, though Stan leaves the domain's probability out."""

    @property
    def log_share(self) -> Any:
        return self.log_normalizer
