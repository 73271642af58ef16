"""Random numbers from PyTorch's generator."""
from __future__ import annotations

from typing import Any

import torch

from ..arrays import named
from ..arrays.base import Array, Real
from ..arrays.torch import as_tensor
from .base import Random, Shape, propose_angle

xp = named("torch")


class TorchRandom(Random):
    """Draws from a torch Generator, by default the global one.

    Draws without tensor parameters have the given dtype and device, by default torch's; others those of the
    parameters.
    """

    LIBRARY = "torch"

    def __init__(
        self, generator: torch.Generator | None = None, dtype: torch.dtype | None = None,
        device: torch.device | None = None,
    ):  # fmt: skip
        self.generator, self.dtype, self.device = generator, dtype, device

    @property
    def like(self) -> torch.Tensor:
        """A tensor of the type and device of the draws."""
        return torch.empty((), dtype=self.dtype, device=self.device)

    def uniform(self, shape: Shape) -> Array:
        return torch.rand(shape, generator=self.generator, dtype=self.dtype, device=self.device)

    def normal(self, shape: Shape) -> Array:
        return torch.randn(shape, generator=self.generator, dtype=self.dtype, device=self.device)

    def exponential(self, shape: Shape) -> Array:
        return -torch.log1p(-self.uniform(shape))

    def gamma(self, alpha: Array, shape: Shape | None = None) -> Array:
        (alpha,) = self._parameters(shape, alpha)
        return torch._standard_gamma(alpha, self.generator)

    def beta(self, a: Array, b: Array, shape: Shape | None = None) -> Array:
        a, b = self._parameters(shape, a, b)
        return torch.sigmoid(self._log_gamma(a) - self._log_gamma(b))

    def _log_gamma(self, alpha: Any) -> Array:
        """The logarithm of a gamma draw, which small alpha can't underflow: G(alpha) = G(alpha + 1) U^(1 / alpha)."""
        u = torch.rand(alpha.shape, generator=self.generator, dtype=alpha.dtype, device=alpha.device)
        return torch.log(torch._standard_gamma(alpha + 1, self.generator)) + torch.log1p(-u) / alpha

    def poisson(self, rate: Array, shape: Shape | None = None) -> Array:
        (rate,) = self._parameters(shape, rate)
        return torch.poisson(rate, self.generator).to(torch.int64)

    def binomial(self, n: Any, p: Any, shape: Shape | None = None) -> Array:
        n, p = self._parameters(shape, n, p)
        return torch.binomial(n.contiguous(), p.contiguous(), self.generator).to(torch.int64)

    def von_mises(self, kappa: Any, shape: Shape | None = None) -> Array:
        kappa = self._parameters(shape, kappa)[0].detach()  # what is accepted depends on it: draws have no derivatives
        out = torch.where(kappa >= 0, 0.0, torch.nan).to(kappa.dtype)
        done = ~(kappa >= 0)
        while not done.all():
            u = torch.rand((3, *kappa.shape), generator=self.generator, dtype=kappa.dtype, device=kappa.device)
            accepted, angle = propose_angle(xp, kappa, u)
            out, done = torch.where(done, out, angle), done | accepted
        return out

    def hypergeometric(self, draws: Real, good: Real, bad: Real) -> Array:
        draws, good, bad = int(draws), int(good), int(bad)
        least, most = max(0, draws - bad), min(draws, good)
        k = torch.arange(least, most + 1, dtype=torch.float64)
        log_p = -sum(torch.lgamma(x + 1) for x in (k, good - k, draws - k, bad - draws + k))
        return least + self.categorical(torch.exp(log_p - log_p.max()))

    def _parameters(self, shape: Shape | None, *parameters: Array) -> list[torch.Tensor]:
        """The parameters as tensors of one floating type, broadcast against each other or to the shape."""
        given = [p for p in parameters if isinstance(p, torch.Tensor)]
        dtype = next((p.dtype for p in given if p.is_floating_point()), self.dtype or torch.get_default_dtype())
        device = given[0].device if given else self.device
        tensors = [as_tensor(p, dtype=dtype, device=device) for p in parameters]
        return [t.expand(shape) for t in tensors] if shape is not None else list(torch.broadcast_tensors(*tensors))
