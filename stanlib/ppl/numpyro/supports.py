"""Stan's constraints as NumPyro's: supports, and the transforms from unconstrained space."""
from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpyro.distributions import biject_to, constraints
from numpyro.distributions.transforms import Transform

from ... import constraints as records
from ... import drawn
from ...arrays import named
from ...errors import StanUnsupportedError

xp = named("jax")


class StanConstraint(constraints._GreaterThan):
    """A constraint given by its record and the record's arguments.

    NumPyro replays a model whose supports depend on other sites, and recognises those by the bounds of an interval:
    `lower_bound` carries an argument for that. Such a support is that of one run of the model, whose values it has.
    """

    run = 0  # the number of that run of the model; 0 for supports that are the same in all

    def __init__(self, record: records.Constraint, arguments: tuple[Any, ...] = (), site: str = ""):
        self.record, self.arguments, self.site = record, arguments, site
        dynamic = [a for a in arguments if not _is_constant(a)]
        if dynamic:
            self.run = drawn.run()
        super().__init__(dynamic[0] if dynamic else 0.0)

    @property
    def event_dim(self) -> int:
        return self.record.event_dims

    def __call__(self, x: object) -> Any:
        return self.record.check(xp, x, *self.arguments)

    def is_past(self) -> bool:
        """Whether this is the domain in a run of the model that is over, or not the one that goes on."""
        return bool(self.run) and self.run != drawn.run()

    def feasible_like(self, prototype: Any) -> Any:
        transform = biject_to(self)
        return transform(jnp.full(transform.inverse_shape(jnp.shape(prototype)), self.record.start))

    def tree_flatten(self) -> tuple[tuple[tuple[Any, ...]], tuple[tuple[str], dict[str, Any]]]:
        return (self.arguments,), (("arguments",), {"record": self.record, "lower_bound": self.lower_bound})

    def eq(self, other: object, static: bool = False) -> bool:
        return isinstance(other, StanConstraint) and self.record is other.record and self.arguments is other.arguments

    def __repr__(self) -> str:
        return f"StanConstraint({self.record.name})"


class StanTransform(Transform):
    """The transform of a constraint's record.

    Guides of NumPyro's ask the first run of a model for transforms, and constrain by them in all others.
    """

    def __init__(self, constraint: StanConstraint):
        self.constraint, self.is_past = constraint, constraint.is_past()

    @property
    def _record(self) -> records.Constraint:
        return self.constraint.record

    @property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, self._record.free_dims)

    @property
    def codomain(self) -> StanConstraint:
        return self.constraint

    def __call__(self, x: object) -> Any:
        if self.is_past:
            site = self.constraint.site or "a parameter"
            raise StanUnsupportedError(
                f"the domain of {site} depends on other parameters, and NumPyro's guides "
                "take that of one run of the model for all: reparametrise the site (docs/numpyro.md, Variational "
                "inference), or fit the program by stanimport.variational"
            )
        return self._record.constrain(xp, jnp.asarray(x), *self.constraint.arguments)[0]

    def _inverse(self, y: object) -> object:
        return self._record.unconstrain(xp, jnp.asarray(y), *self.constraint.arguments)

    def log_abs_det_jacobian(self, x: Any, y: object, intermediates: object = None) -> Any:
        return self._record.log_jacobian(xp, jnp.asarray(x), *self.constraint.arguments)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(jnp.shape(self(jnp.zeros(shape))))

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        split = len(shape) - self._record.event_dims
        return (*shape[:split], *self._record.free_shape(shape[split:], *self.constraint.arguments))

    def tree_flatten(self) -> Any:
        return (self.constraint,), (("constraint",), {"is_past": self.is_past})

    def eq(self, other: object, static: bool = False) -> bool:
        return isinstance(other, StanTransform) and self.constraint.eq(other.constraint)


biject_to.register(StanConstraint, StanTransform)


def support_of(kind: str | None, arguments: dict[str, Any], shape: tuple[int, ...], site: str = "") -> Any:
    """The support of a parameter: NumPyro's own for plain bounds, else one made of the record."""
    if kind is None and (not arguments or 0 in shape):
        return constraints.real
    if kind is None:
        return _bounds(arguments, site)
    if kind == records.AFFINE:
        values = (arguments.get("offset", 0.0), arguments.get("multiplier", 1.0))
        return StanConstraint(records.get(kind), values, site)
    record = records.get(kind)
    return StanConstraint(record, tuple(shape[-2:]) if record.is_sized else ())


def _is_constant(argument: object) -> bool:
    """Whether an argument is a number, or an array of NumPy's: what depends on parameters is JAX's."""
    return isinstance(argument, (int, float, np.ndarray, np.generic))


def _bounds(arguments: dict[str, Any], site: str) -> object:
    """The support within bounds: NumPyro's own where it has one, Stan's where they depend on other parameters."""
    lower, upper = arguments.get("lower", -np.inf), arguments.get("upper", np.inf)
    low, high = _is_finite(lower), _is_finite(upper)
    if low is None or high is None:
        both = "lower" in arguments and "upper" in arguments
        name = "lower_upper" if both else "lower" if "lower" in arguments else "upper"
        given = tuple(arguments[k] for k in ("lower", "upper") if k in arguments)
        return StanConstraint(records.get(name), given, site)
    if low and high:
        return constraints.interval(lower, upper)
    if low:
        return constraints.positive if _is_zero(lower) else constraints.greater_than(lower)
    if high:
        return StanConstraint(records.get("upper"), (upper,))
    return constraints.real


def _is_finite(bound: Any) -> bool | None:
    """Whether a bound is finite; None where components differ, and for what depends on parameters."""
    if not _is_constant(bound):
        return None
    finite = np.isfinite(bound)
    return bool(np.all(finite)) if np.all(finite) or not np.any(finite) else None


def _is_zero(bound: Any) -> bool:
    return np.ndim(bound) == 0 and float(bound) == 0.0
