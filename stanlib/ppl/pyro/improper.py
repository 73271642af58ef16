"""Uniform laws on domains that may have no finite volume, on Pyro: samplers may start from what they draw."""
from __future__ import annotations

import warnings
from typing import Any

import pyro
import torch
from pyro.distributions import TorchDistribution
from pyro.infer.autoguide import AutoRegressiveMessenger
from pyro.infer.autoguide.initialization import InitMessenger
from pyro.poutine.uncondition_messenger import UnconditionMessenger
from torch.distributions import biject_to, constraints

from ...arrays.torch import as_tensor
from ...errors import StanUnsupportedError
from .bounds import unrecorded


class LawWarning(UserWarning):
    """A value from which samplers may start stands where a draw of a law should."""


_NO_LAW = (
    "the program has no law of it to draw from, as under the scheme comprehensive, but values from which samplers may "
    "start; the scheme mixed has laws where priors are such, a guide or posterior draws give it values"
)


def is_unconditioned() -> bool:
    """Whether what is observed is to be drawn instead, with the parameters."""
    return any([isinstance(m, UnconditionMessenger) for m in pyro.poutine.runtime._PYRO_STACK])


def _is_beginning() -> bool:
    """Whether Pyro asks for values with which a model can run at all, as for the shapes of its sites."""
    return any(isinstance(m, InitMessenger) for m in pyro.poutine.runtime._PYRO_STACK)


def _law_wanted() -> str | None:
    """Why a start is no value for who asks for one, if it is none."""
    if pyro.poutine.get_mask() is False:
        return "can't be predicted"
    if is_unconditioned():
        return "can't be drawn with the data, as uncondition, CSIS and ReweightedWakeSleep do"
    if any([isinstance(m, AutoRegressiveMessenger) for m in pyro.poutine.runtime._PYRO_STACK]):
        return "has no law whose draws AutoRegressiveMessenger could transform"
    return None


class Improper(TorchDistribution):
    """The uniform law on a domain that may have no finite volume: density 1.

    `sample` gives values to start from, as Stan does: uniform on (-2, 2) in unconstrained space; or what the program
    has `drawn` part by part.

    Warns:
        LawWarning: where such a start has a density, as if it were a draw.

    Raises:
        StanUnsupportedError: where Predictive, CSIS or the sleep phase of ReweightedWakeSleep would take it for one.
    """

    arg_constraints: dict[str, Any] = {}
    _begun: torch.Tensor | None = None

    def __init__(self, support: Any, shape: tuple[int, ...], drawn: Any = None, site: str = "a parameter"):
        self._support, self.drawn, self.site = support, drawn, site
        split = len(shape) - support.event_dim
        super().__init__(torch.Size(shape[:split]), torch.Size(shape[split:]), validate_args=False)

    @constraints.dependent_property
    def support(self) -> Any:
        return self._support

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        """Zeros, with a derivative of zero: PyTorch has none of a density in which the parameter does not occur."""
        if self._is_begun(value):
            told = f"weights of draws of {self.site}, such as those of Importance, are none of the posterior: {_NO_LAW}"
            warnings.warn(told, LawWarning, stacklevel=2)
        zeros = value.new_zeros(value.shape[: value.ndim - len(self.event_shape)])
        return zeros + (0.0 * torch.nan_to_num(value)).sum() if value.requires_grad else zeros

    def sample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        """A start, of the shape that is asked for before those of the batch and of an event."""
        if self.drawn is not None:
            return as_tensor(self.drawn).expand((*sample_shape, *self.batch_shape, *self.event_shape))
        wanted = None if _is_beginning() else _law_wanted()
        if wanted is not None:
            raise StanUnsupportedError(f"{self.site} {wanted}: {_NO_LAW}")
        transform = biject_to(unrecorded(self._support))  # of values that nobody may give the parameter
        shape = transform.inverse_shape(torch.Size((*sample_shape, *self.batch_shape, *self.event_shape)))
        self._begun = transform(torch.rand(shape) * 4.0 - 2.0)
        return self._begun

    def _is_begun(self, value: torch.Tensor) -> bool:
        """Whether a value is the one to start from, perhaps put among those of other draws and taken out again."""
        begun = self._begun
        return begun is not None and (value is begun or value.shape == begun.shape and torch.equal(value, begun))

    @property
    def mean(self) -> torch.Tensor:
        raise StanUnsupportedError(f"{self.site} has no mean: {_NO_LAW}")

    def expand(self, batch_shape: Any, _instance: object = None) -> "Improper":
        return Improper(self._support, (*batch_shape, *self.event_shape), self.drawn, self.site)
