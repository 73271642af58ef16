"""Priors on NumPyro: parameters sampled from a law, in the shape and on the domain that Stan declares."""
from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.distributions import (
    Distribution,
    ExpandedDistribution,
    Normal,
    TransformedDistribution,
    biject_to,
    constraints,
)

from ..declared_domains import check_domain
from ..starts import part_of, start_of
from ..values import check_event, check_law
from .distributions import of_shape
from .sites import latent, learned
from .supports import StanConstraint, support_of


def sample(
    name: str, distribution: object, shape: Sequence[int] = (), kind: str | None = None, event: int | None = None,
    **arguments: object,
) -> Any:  # fmt: skip
    """A parameter from its law.

    Args:
        name: the site, its Stan name.
        distribution: the law; a univariate one is that of every component.
        shape: of the constrained value.
        kind: the name of a constrained type, None for plain ones.
        event: in a guide, how many axes belong to one observation of the model's law; None for as many as of this one.
        arguments: lower, upper, offset, multiplier.
    """
    check_domain(name, shape, kind, arguments)
    sizes = tuple(int(n) for n in shape)
    return latent(name, agreeing(fitted(name, distribution, sizes, support_of(kind, arguments, sizes, name)), event))


def sample_unconstrained(
    name: str, distribution: object, shape: Sequence[int] = (), kind: str | None = None, event: int | None = None,
    **arguments: object,
) -> Any:  # fmt: skip
    """A parameter from a law of the unconstrained parameter, through the transform of its domain.

    Arguments as for `sample`.
    """
    check_domain(name, shape, kind, arguments)
    sizes = tuple(int(n) for n in shape)
    transform = biject_to(support_of(kind, arguments, sizes, name))
    free = transform.inverse_shape(sizes)
    check_law(name, distribution, free)
    law = of_shape(distribution, free)
    check_event(name, law, free)
    whole = TransformedDistribution(law.to_event(len(law.batch_shape)), [transform])
    return latent(name, agreeing(whole, event))


def param(
    name: str, shape: Sequence[int] = (), kind: str | None = None, init: object = None, complex: bool = False,
    **arguments: object,
) -> Any:  # fmt: skip
    """A parameter of a guide, which inference optimises on its domain.

    It starts from `init`, a value or a function without arguments that returns it, or where Stan starts parameters:
    uniform on (-2, 2) in unconstrained space. The parts of a complex one are parameters by themselves. Other arguments
    as for `sample`.
    """
    if complex:
        parts = [param(f"{name}.{p}", shape, init=part_of(init, p)) for p in ("real", "imag")]
        return parts[0] + 1j * parts[1]
    check_domain(name, shape, kind, arguments)
    sizes = tuple(int(n) for n in shape)
    support = support_of(kind, arguments, sizes, name)

    def start(key: jax.Array) -> Any:
        transform = biject_to(support)
        if init is not None:
            return jnp.asarray(start_of(name, init, sizes, kind, arguments, partial(_inverse, transform)), float)
        return transform(jax.random.uniform(key, transform.inverse_shape(sizes), minval=-2.0, maxval=2.0))

    return learned(name, start, support)


def _inverse(transform: Any, value: object) -> np.ndarray:
    """The unconstrained value of one that is known, which it is where JAX traces, too."""
    with jax.ensure_compile_time_eval():
        return np.asarray(transform.inv(value))


def approximate(
    name: str, shape: Sequence[int] = (), kind: str | None = None, event: int | None = None, complex: bool = False,
    **arguments: object,
) -> Any:  # fmt: skip
    """A parameter that a guide leaves out: a normal law of the unconstrained parameter, its components independent.

    The means start where Stan starts parameters, the standard deviations at 0.1; they are the parameters
    `<name>$loc` and `<name>$scale`. Arguments as for `sample`, but without `event` observations are those of the
    domain; the parts of a complex one are by themselves.
    """
    if complex:
        return approximate(f"{name}.real", shape) + 1j * approximate(f"{name}.imag", shape)
    sizes = tuple(int(n) for n in shape)
    support = support_of(kind, arguments, sizes, name)
    transform = biject_to(support)
    free = transform.inverse_shape(sizes)
    centre = learned(f"{name}$loc", lambda key: jax.random.uniform(key, free, minval=-2.0, maxval=2.0))
    width = numpyro.param(f"{name}$scale", jnp.full(free, 0.1), constraint=constraints.positive)
    whole = TransformedDistribution(Normal(centre, width).to_event(len(free)), [transform])
    return latent(name, agreeing(whole, support.event_dim if event is None else event))


def fitted(name: str, distribution: object, shape: tuple[int, ...], support: Any) -> Any:
    """The law of a whole parameter, whose transform from unconstrained space is that of the declared domain."""
    check_law(name, distribution, shape)
    whole = of_shape(distribution, shape)
    check_event(name, whole, shape)
    if support.event_dim > whole.event_dim:
        return Sorted(whole, support)
    return whole if _is_same(whole.support, support) else Constrained(whole, support)


def _is_same(own: object, declared: object) -> bool:
    """Whether NumPyro's transform for a law's own support is the declared domain's."""
    if isinstance(declared, StanConstraint) or isinstance(own, StanConstraint):
        return False
    if isinstance(declared, type(constraints.real)):
        return isinstance(_base(own), type(constraints.real))
    if declared is constraints.positive:
        return own is constraints.positive
    if own is constraints.unit_interval:
        return _ends(declared) == (0.0, 1.0)
    return _ends(own) is not None and _ends(own) == _ends(declared)


def _base(support: object) -> object:
    return getattr(support, "base_constraint", support)


def _ends(support: object) -> tuple[float, float] | None:
    """The bounds of an interval, if they are plain numbers."""
    lower, upper = getattr(support, "lower_bound", None), getattr(support, "upper_bound", None)
    if isinstance(lower, (int, float)) and isinstance(upper, (int, float)):
        return float(lower), float(upper)
    return None


def agreeing(law: Any, event: int | None) -> Any:
    """A guide's law of a parameter whose observations have `event` axes: NumPyro asks that they are those of the model.

    What is one observation of more axes becomes several that share its log density.
    """
    if event is None or law.event_dim == event:
        return law
    return law.to_event(event - law.event_dim) if law.event_dim < event else Shared(law, event)


class Shared(Distribution):
    """A law of one observation as that of several: each has the same share of its log density."""

    pytree_data_fields = ("base",)

    def __init__(self, base: Any, event: int):
        self.base = base if not base.batch_shape else base.to_event(len(base.batch_shape))
        shape = self.base.event_shape
        super().__init__(shape[: len(shape) - event], shape[len(shape) - event :], validate_args=False)

    @property
    def support(self) -> Any:
        return self.base.support

    def log_prob(self, value: Any) -> jax.Array:
        whole = self.base.log_prob(value)
        share = whole / max(1, math.prod(self.batch_shape))
        return jnp.broadcast_to(share.reshape(*share.shape, *(1,) * len(self.batch_shape)),
                                (*share.shape, *self.batch_shape))  # fmt: skip

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> Any:
        return self.base.sample(key, sample_shape)


class Constrained(Distribution):
    """A law whose support is given as the declared domain of a parameter."""

    pytree_data_fields = ("base", "_support")

    def __init__(self, base: Any, support: Any):
        self.base, self._support = base, support
        super().__init__(base.batch_shape, base.event_shape, validate_args=False)

    @property
    def support(self) -> Any:
        return self._support

    def log_prob(self, value: Any) -> Any:
        return self.base.log_prob(value)

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> Any:
        return self.base.sample(key, sample_shape)


class Sorted(Distribution):
    """Vectors of sorted draws of one law: its density at each, as Stan has it, which leaves out n! for n elements."""

    pytree_data_fields = ("base", "_support")

    def __init__(self, base: Any, support: object):
        self.base, self._support = base, support
        super().__init__(base.batch_shape[:-1], base.batch_shape[-1:], validate_args=False)

    @property
    def support(self) -> object:
        return self._support

    @property
    def log_share(self) -> jax.Array:
        """The sum of those of the elements."""
        return jnp.sum(jnp.broadcast_to(log_share(self.base), self.base.batch_shape), -1)

    def log_prob(self, value: Any) -> jax.Array:
        return jnp.sum(self.base.log_prob(value), -1)

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        return jnp.sort(self.base.sample(key, sample_shape), axis=-1)


class Half(Distribution):
    """One half of a symmetric law, beyond its centre: twice the density there."""

    pytree_data_fields = ("base", "lower", "upper")
    log_share = -math.log(2.0)

    def __init__(self, base: Any, lower: Any = None, upper: Any = None):
        self.base, self.lower, self.upper = base, lower, upper
        super().__init__(base.batch_shape, base.event_shape, validate_args=False)

    @property
    def support(self) -> Any:
        return support_of(None, {"lower": self.lower} if self.upper is None else {"upper": self.upper}, ())

    def log_prob(self, value: Any) -> jax.Array:
        inside = value >= self.lower if self.upper is None else value <= self.upper
        return jnp.where(inside, self.base.log_prob(value) + jnp.log(2.0), -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> Any:
        drawn = self.base.sample(key, sample_shape)
        if self.upper is None:
            return self.lower + jnp.abs(drawn - self.lower)
        return self.upper - jnp.abs(drawn - self.upper)


def log_share(law: object) -> Any:
    """The log probability of a parameter's domain by which its law is divided, and Stan's density is not."""
    while isinstance(law, (Constrained, ExpandedDistribution)):
        law = law.base if isinstance(law, Constrained) else law.base_dist
    return getattr(law, "log_share", 0.0)


def half(distribution: object, lower: object = None, upper: object = None) -> Half:
    """A symmetric law above (or below) its centre, which is given as the bound."""
    return Half(distribution, lower, upper)
