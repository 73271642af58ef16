"""Stan's constraints as NumPyro's: supports, and the transforms from unconstrained space."""
from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpyro.distributions import biject_to, constraints
from numpyro.distributions.transforms import Transform

from ... import constraints as records
from ...arrays import named

xp = named("jax")


class StanConstraint(constraints._GreaterThan):
    """A constraint given by its record and the record's arguments.

    NumPyro replays a model whose supports depend on other sites, and recognises those by the bounds of an interval:
    `lower_bound` carries an argument for that.
    """

    def __init__(self, record: records.Constraint, arguments: tuple[Any, ...] = ()):
        self.record, self.arguments = record, arguments
        dynamic = [a for a in arguments if not isinstance(a, (int, float, np.ndarray))]
        super().__init__(dynamic[0] if dynamic else 0.0)

    @property
    def event_dim(self) -> int:
        return self.record.event_dims

    def __call__(self, x: Any) -> Any:
        return self.record.check(xp, x, *self.arguments)

    def feasible_like(self, prototype: Any) -> Any:
        transform = biject_to(self)
        start = jnp.ones if self.record.name == "unit_vector" else jnp.zeros  # zeros have no direction
        return transform(start(transform.inverse_shape(jnp.shape(prototype))))

    def tree_flatten(self) -> Any:
        return (self.arguments,), (("arguments",), {"record": self.record, "lower_bound": self.lower_bound})

    def eq(self, other: object, static: bool = False) -> bool:
        return isinstance(other, StanConstraint) and self.record is other.record and self.arguments is other.arguments

    def __repr__(self) -> str:
        return f"StanConstraint({self.record.name})"


class StanTransform(Transform):
    """The transform of a constraint's record."""

    def __init__(self, constraint: StanConstraint):
        self.constraint = constraint

    @property
    def _record(self) -> records.Constraint:
        return self.constraint.record

    @property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, self._record.free_dims)

    @property
    def codomain(self) -> Any:
        return self.constraint

    def __call__(self, x: Any) -> Any:
        return self._record.constrain(xp, jnp.asarray(x), *self.constraint.arguments)[0]

    def _inverse(self, y: Any) -> Any:
        return self._record.unconstrain(xp, jnp.asarray(y), *self.constraint.arguments)

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        return self._record.log_jacobian(xp, jnp.asarray(x), *self.constraint.arguments)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(jnp.shape(self(jnp.zeros(shape))))

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        split = len(shape) - self._record.event_dims
        return (*shape[:split], *self._record.free_shape(shape[split:], *self.constraint.arguments))

    def tree_flatten(self) -> Any:
        return (self.constraint,), (("constraint",), {})

    def eq(self, other: object, static: bool = False) -> bool:
        return isinstance(other, StanTransform) and self.constraint.eq(other.constraint)


biject_to.register(StanConstraint, StanTransform)


def support_of(kind: str | None, arguments: dict[str, Any], shape: tuple[int, ...]) -> Any:
    """The support of a parameter: NumPyro's own for plain bounds, else one made of the record."""
    if kind is None and (not arguments or 0 in shape):
        return constraints.real
    if kind is None:
        return _bounds(arguments)
    if kind == records.AFFINE:
        values = (arguments.get("offset", 0.0), arguments.get("multiplier", 1.0))
        return StanConstraint(records.get(kind), values)
    record = records.get(kind)
    return StanConstraint(record, tuple(shape[-2:]) if record.is_sized else ())


def _bounds(arguments: dict[str, Any]) -> Any:
    """The support within bounds: NumPyro's own where it has one, Stan's where it is not known which are finite."""
    lower, upper = arguments.get("lower", -np.inf), arguments.get("upper", np.inf)
    low, high = _is_finite(lower), _is_finite(upper)
    if low is None or high is None:  # not known whether the bound is finite
        both = "lower" in arguments and "upper" in arguments
        name = "lower_upper" if both else "lower" if "lower" in arguments else "upper"
        return StanConstraint(records.get(name), tuple(arguments[k] for k in ("lower", "upper") if k in arguments))
    if low and high:
        return constraints.interval(lower, upper)
    if low:
        return constraints.positive if _is_zero(lower) else constraints.greater_than(lower)
    if high:
        return StanConstraint(records.get("upper"), (upper,))
    return constraints.real


def _is_finite(bound: Any) -> bool | None:
    """Whether a bound is finite: of constants it is known, components that differ or tracers say None."""
    if not xp.is_concrete(bound):
        return None
    finite = np.isfinite(bound)
    return bool(np.all(finite)) if np.all(finite) or not np.any(finite) else None


def _is_zero(bound: Any) -> bool:
    return np.ndim(bound) == 0 and float(bound) == 0.0
