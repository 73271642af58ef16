"""Stan's constraints as torch's: supports, and the transforms from unconstrained space."""
from __future__ import annotations

from typing import Any

import torch
from torch.distributions import biject_to, constraints, transform_to
from torch.distributions.transforms import Transform

from ... import constraints as records
from ...arrays import named
from ...arrays.torch import as_tensor
from .bounds import Bound, known

xp = named("torch")


class StanConstraint(constraints.Constraint):
    """A constraint given by its record and the record's arguments."""

    def __init__(self, record: records.Constraint, arguments: tuple[object, ...] = ()):
        self.record, self.arguments = record, arguments

    @property
    def event_dim(self) -> int:
        return self.record.event_dims

    def check(self, value: torch.Tensor) -> Any:
        return self.record.check(xp, *xp.convert((value, *map(known, self.arguments))))


class StanTransform(Transform):
    """The transform of a constraint's record."""

    bijective = True

    def __init__(self, constraint: StanConstraint, cache_size: int = 0):
        super().__init__(cache_size)
        self.constraint = constraint
        record = constraint.record
        self.domain = constraints.independent(constraints.real, record.free_dims)
        self.codomain = constraint

    def _arguments(self, x: torch.Tensor, constraining: bool = False) -> tuple[Any, ...]:
        """The constraint's arguments for x: bounds as tensors like it, but for numbers of the program."""
        given = self.constraint.arguments
        if self.constraint.record.is_sized or all([type(a) is float for a in given]):
            return given
        latest = (a.latest(x, constraining) if isinstance(a, Bound) else a for a in given)
        return tuple(torch.as_tensor(a, dtype=x.dtype, device=x.device) for a in latest)

    def _call(self, x: torch.Tensor) -> torch.Tensor:
        return _like(x, self.constraint.record.constrained(xp, x, *self._arguments(x, True)))

    def _inverse(self, y: torch.Tensor) -> torch.Tensor:
        return _like(y, self.constraint.record.unconstrain(xp, y, *self._arguments(y)))

    def log_abs_det_jacobian(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return _like(x, self.constraint.record.log_jacobian(xp, x, *self._arguments(x)))

    def forward_shape(self, shape: torch.Size) -> torch.Size:
        return self._call(torch.zeros(shape)).shape

    def inverse_shape(self, shape: torch.Size) -> torch.Size:
        split = len(shape) - self.constraint.record.event_dims
        sizes = self.constraint.arguments if self.constraint.record.is_sized else ()
        free = self.constraint.record.free_shape(tuple(shape[split:]), *sizes)
        return torch.Size((*shape[:split], *free))

    def with_cache(self, cache_size: int = 1) -> "StanTransform":
        """The same, which remembers the latest value if `cache_size` is 1."""
        return self if cache_size == self._cache_size else type(self)(self.constraint, cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StanTransform) and self.constraint is other.constraint

    __hash__ = None  # type: ignore[assignment]


def _like(x: torch.Tensor, value: Any) -> torch.Tensor:
    """A value as a tensor; what nothing free decides, such as a simplex of one number, is an array."""
    if isinstance(value, torch.Tensor) and value.dtype == x.dtype:
        return value
    return as_tensor(value, dtype=x.dtype, device=x.device)


class FeasibleTransform(StanTransform):
    """What `transform_to` gives: of zeros, which guides take for a feasible value, that where the record begins."""

    def _call(self, x: torch.Tensor) -> torch.Tensor:
        record = self.constraint.record
        if record.start and x.numel():
            nowhere = x.abs().amax(dim=tuple(range(-record.free_dims, 0)), keepdim=True) == 0
            x = torch.where(nowhere, record.start, x)
        return super()._call(x)


class Empty(constraints.Constraint):
    """The domain of an array without elements that have `event_dim` axes each."""

    def __init__(self, event_dim: int):
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    def check(self, value: torch.Tensor) -> torch.Tensor:
        return torch.ones(value.shape[: value.ndim - self.event_dim], dtype=torch.bool)


class EmptyTransform(Transform):
    """Of nothing to nothing. torch's own can't sum its log Jacobian, as the length of a sum is not known then."""

    bijective = True

    def __init__(self, constraint: Empty):
        super().__init__()
        self.domain = self.codomain = constraint

    def _call(self, x: torch.Tensor) -> torch.Tensor:
        return x

    def _inverse(self, y: torch.Tensor) -> torch.Tensor:
        return y

    def log_abs_det_jacobian(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.new_zeros(x.shape[: x.ndim - self.domain.event_dim])


for registry in (biject_to, transform_to):
    registry.register(Empty, EmptyTransform)
biject_to.register(StanConstraint, StanTransform)
transform_to.register(StanConstraint, FeasibleTransform)


def support_of(kind: str | None, arguments: dict[str, Any], shape: tuple[int, ...]) -> Any:
    """The support of a parameter."""
    if kind is None and (not arguments or 0 in shape):
        return constraints.real
    if kind is None:
        names = [n for n in ("lower", "upper") if n in arguments]
        record = records.get("_".join(names))
        return StanConstraint(record, tuple(_number(arguments[n]) for n in names))
    if kind == records.AFFINE:
        values = (_number(arguments.get("offset", 0.0)), _number(arguments.get("multiplier", 1.0)))
        return StanConstraint(records.get(kind), values)
    record = records.get(kind)
    return StanConstraint(record, tuple(shape[-2:]) if record.is_sized else ())


def _number(argument: object) -> object:
    """An integer of the program as the real number that transforms take as it is."""
    return float(argument) if type(argument) is int else argument
