"""Bounds that depend on other parameters, on Pyro.

Pyro takes the transforms of all parameters from one run of the model and applies them site by site, in the order of
that run. A bound that depends on another parameter must follow that parameter's value: the transform of the one records
what it has just computed, and the transform of the other computes its bounds from that.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import torch
from torch.distributions import biject_to, constraints, transform_to
from torch.distributions.transforms import Transform

from ...errors import StanError
from ...rejection import is_error


class Recorded(constraints.Constraint):
    """The support of a parameter that bounds of others refer to: it keeps the value last transformed to it."""

    def __init__(self, base: Any):
        self.base = base
        self.last: torch.Tensor | None = None
        self.count = 0

    @property
    def event_dim(self) -> int:
        return int(self.base.event_dim)

    def check(self, value: torch.Tensor) -> Any:
        return self.base.check(value)


class RecordedTransform(Transform):
    """The transform of a recorded support."""

    bijective = True

    def __init__(self, constraint: Recorded):
        super().__init__()
        self.constraint, self.base = constraint, biject_to(constraint.base)
        self.domain, self.codomain = self.base.domain, constraint

    def _call(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.base(x)
        self.constraint.last = y
        self.constraint.count += 1
        return y

    def _inverse(self, y: torch.Tensor) -> object:
        return self.base.inv(y)

    def log_abs_det_jacobian(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        return self.base.log_abs_det_jacobian(x, y)

    def with_cache(self, cache_size: int = 1) -> RecordedTransform:
        """The transform itself: what it has last given stands with the constraint."""
        return self

    def forward_shape(self, shape: torch.Size) -> Any:
        return self.base.forward_shape(shape)

    def inverse_shape(self, shape: torch.Size) -> Any:
        return self.base.inverse_shape(shape)


for registry in (biject_to, transform_to):
    registry.register(Recorded, RecordedTransform)

_recorded: dict[str, Recorded] = {}  # of the latest run of a model, by site
_own: ContextVar[dict[str, Recorded] | None] = ContextVar("own", default=None)  # of one of several runs at once


def _latest() -> dict[str, Recorded]:
    own = _own.get()
    return _recorded if own is None else own


def recorded(site: str, support: object) -> Recorded:
    """The support of a parameter that bounds of others will refer to."""
    made = _latest()[site] = Recorded(support)
    return made


def record_apart() -> None:
    """From here on this context has records of its own, as one of several runs at once needs them."""
    _own.set({})


def unrecorded(support: object) -> Any:
    """The same support without a memory of what is transformed to it."""
    return support.base if isinstance(support, Recorded) else support


def _sites(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The sites of a parameter with their values: those of the items of a tuple, of both parts of complex numbers."""
    if isinstance(value, tuple):
        for i, item in enumerate(value, 1):
            yield from _sites(f"{name}.{i}", item)
    elif torch.as_tensor(value).is_complex():
        yield from ((f"{name}.real", value.real), (f"{name}.imag", value.imag))
    else:
        yield name, value


def _like(value: Any, numbers: Iterator[torch.Tensor]) -> Any:
    """A value of this form, a tuple or complex or real, made of those of its sites, in their order."""
    if isinstance(value, tuple):
        return tuple(_like(item, numbers) for item in value)
    return torch.complex(next(numbers), next(numbers)) if torch.as_tensor(value).is_complex() else next(numbers)


class Bound:
    """A bound as a function of other parameters, and its value in the run that it comes from."""

    def __init__(self, function: Callable[..., Any], parameters: Mapping[str, Any]):
        parts = [part for name, value in parameters.items() for part in _sites(name, value)]
        self.of_parameters, self.parameters = function, tuple(parameters.values())
        self.values = tuple(torch.as_tensor(value) for _, value in parts)
        self.value = self.function(*self.values)
        self.cells = tuple(_latest()[site] for site, _ in parts)
        self.used = -1  # the state of the cells at which a value was last constrained

    def function(self, *values: torch.Tensor) -> Any:
        """The bound for values of the sites of the parameters."""
        return self.of_parameters(*_like(self.parameters, iter(values)))

    def latest(self, x: torch.Tensor, constraining: bool) -> Any:
        """The bound for the values last recorded; batches of those are leading dimensions of x.

        Raises:
            StanError: where the parameter's own transform is applied before those that its bounds depend on.
        """
        count = sum(c.count for c in self.cells)
        if constraining and count and count == self.used and is_error():  # outside of a run of the model
            raise StanError(
                "the bounds of a parameter depend on others, whose values Pyro has not computed yet: "
                "run NUTS with jit_compile=False, which keeps the order of the program, and for guides AutoNormal"
            )
        self.used = count if constraining else self.used
        values = [v if c.last is None else c.last for c, v in zip(self.cells, self.values)]
        extra = max(v.ndim - own.ndim for v, own in zip(values, self.values))
        return self.function(*values) if extra <= 0 else self._batched(values, extra, x.ndim - extra)

    def _batched(self, values: list[torch.Tensor], extra: int, dims: int) -> torch.Tensor:
        """The bounds of a batch of values, in a shape that broadcasts against parameters of `dims` dimensions."""
        lead = next(v.shape[:extra] for v, own in zip(values, self.values) if v.ndim > own.ndim)
        wide = [v.expand((*lead, *own.shape)).reshape((-1, *own.shape)) for v, own in zip(values, self.values)]
        bounds = torch.as_tensor(torch.vmap(self.function)(*wide))
        own = bounds.shape[1:]
        return bounds.reshape((*lead, *(1,) * (dims - len(own)), *own))


def bound(function: Callable[..., object], parameters: Mapping[str, object]) -> Bound:
    """A bound as a function of the parameters that it depends on, given by name in the order of its arguments."""
    return Bound(function, parameters)


def known(argument: object) -> Any:
    """The value of an argument of a constraint in the run that it comes from."""
    return argument.value if isinstance(argument, Bound) else argument
