"""Priors on Pyro: parameters sampled from a law, in the shape and on the domain that Stan declares."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyro
import torch
from pyro.distributions import ExpandedDistribution, Independent, Normal, TorchDistribution, TransformedDistribution
from torch.distributions import biject_to, constraints

from ..declared_domains import check_domain
from ..starts import part_of, start_of
from ..values import check_event, check_law
from .bounds import known, recorded
from .distributions import of_shape, tensors
from .particles import once
from .sites import as_event, latent, of_event
from .supports import Empty, StanConstraint, support_of


def sample(
    name: str, distribution: object, shape: Sequence[int] = (), kind: str | None = None, event: int | None = None,
    bounding: bool = False, **arguments: object,
) -> Any:  # fmt: skip
    """A parameter from its law.

    Args:
        name: the site, its Stan name.
        distribution: the law; a univariate one is that of every component.
        shape: of the constrained value.
        kind: the name of a constrained type, None for plain ones.
        bounding: whether bounds of other parameters refer to this one.
        event: for NumPyro's guides; here a parameter is one observation, in models too.
        arguments: lower, upper, offset, multiplier.
    """
    sizes = tuple(map(int, shape))
    wholes = None if bounding else getattr(distribution, "wholes", None)
    if wholes is None or not all([type(a) is float for a in arguments.values()]):  # a list: faster than a generator
        return of_event(name, _whole(name, distribution, sizes, kind, bounding, arguments))
    key = (sizes, kind, *arguments.items())
    whole = wholes.get(key)
    if whole is None:
        whole = wholes[key] = _whole(name, distribution, sizes, kind, bounding, arguments)
    return of_event(name, whole)


def _whole(
    name: str, distribution: Any, sizes: tuple[int, ...], kind: str | None, bounding: bool, arguments: dict[str, Any]
) -> Any:
    """The law of a parameter, as one event."""
    if kind is None and not arguments and not bounding and _is_plain(distribution, sizes):
        return distribution.to_event(len(sizes)) if sizes else distribution
    support = domain_of(name, sizes, kind, arguments)
    return as_event(fitted(name, distribution, sizes, recorded(name, support) if bounding else support))


def domain_of(name: str, sizes: tuple[int, ...], kind: str | None, arguments: Mapping[str, object]) -> Any:
    """The support of a parameter, checked; one that the program's numbers give is made once."""
    if all([type(a) is float for a in arguments.values()]):
        return _constant_domain(name, sizes, kind, tuple(arguments.items()))
    check_domain(name, sizes, kind, {k: known(v) for k, v in arguments.items()})
    return support_of(kind, dict(arguments), sizes)


@lru_cache(maxsize=4096)
def _constant_domain(name: str, sizes: tuple[int, ...], kind: str | None, arguments: tuple[Any, ...]) -> Any:
    check_domain(name, sizes, kind, dict(arguments))
    return support_of(kind, dict(arguments), sizes)


def _is_plain(law: Any, sizes: tuple[int, ...]) -> bool:
    """Whether a law of reals has one entry for every component of a parameter: nothing is left to make of it."""
    return law.batch_shape == sizes and not law.event_shape and law.support is constraints.real


def sample_unconstrained(
    name: str, distribution: object, shape: Sequence[int] = (), kind: str | None = None,
    event: int | None = None, bounding: bool = False, **arguments: object,
) -> Any:  # fmt: skip
    """A parameter from a law of the unconstrained parameter, through the transform of its domain.

    Arguments as for `sample`.
    """
    given, sizes = {k: known(v) for k, v in arguments.items()}, tuple(int(n) for n in shape)
    check_domain(name, shape, kind, given)
    support = support_of(kind, given, sizes)
    transform = biject_to(recorded(name, support) if bounding else support)
    free = tuple(transform.inverse_shape(torch.Size(sizes)))
    check_law(name, distribution, free)
    law = of_shape(distribution, free)
    check_event(name, law, free)
    return latent(name, Transformed(law.to_event(len(law.batch_shape)), [transform]))


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
    sizes = tuple(map(int, shape))
    support = domain_of(name, sizes, kind, arguments)

    def start() -> torch.Tensor:
        transform = biject_to(support)
        if init is not None:
            value = start_of(name, init, sizes, kind, arguments, lambda v: transform.inv(torch.as_tensor(v)))
            return torch.as_tensor(value, dtype=torch.get_default_dtype()).clone()
        return transform(torch.rand(transform.inverse_shape(torch.Size(sizes))) * 4.0 - 2.0)

    return once(("param", name), lambda: pyro.param(name, start, constraint=support))


def approximate(
    name: str, shape: Sequence[int] = (), kind: str | None = None, event: int | None = None, bounding: bool = False,
    complex: bool = False, **arguments: object,
) -> Any:  # fmt: skip
    """A parameter that a guide leaves out: a normal law of the unconstrained parameter, its components independent.

    The means start where Stan starts parameters, the standard deviations at 0.1; they are the parameters
    `<name>$loc` and `<name>$scale`. Arguments as for `sample`; the parts of a complex one are by themselves.
    """
    if complex:
        return approximate(f"{name}.real", shape) + 1j * approximate(f"{name}.imag", shape)
    sizes = tuple(int(n) for n in shape)
    support = support_of(kind, {k: known(v) for k, v in arguments.items()}, sizes)
    transform = biject_to(recorded(name, support) if bounding else support)
    free = transform.inverse_shape(torch.Size(sizes))
    centre, width = once(("param", name), lambda: _centre_and_width(name, free))
    return latent(name, Transformed(Normal(centre, width).to_event(len(free)), [transform]))


def _centre_and_width(name: str, free: torch.Size) -> tuple[Any, Any]:
    centre = pyro.param(f"{name}$loc", lambda: torch.rand(free) * 4.0 - 2.0)
    return centre, pyro.param(f"{name}$scale", lambda: torch.full(free, 0.1), constraint=constraints.positive)


def fitted(name: str, distribution: object, shape: tuple[int, ...], support: Any) -> Any:
    """The law of a whole parameter, whose transform from unconstrained space is that of the declared domain."""
    check_law(name, distribution, shape)
    whole = of_shape(distribution, shape)
    check_event(name, whole, shape)
    if whole.event_dim and 0 in whole.batch_shape:
        return Constrained(whole, Empty(whole.event_dim))
    if support.event_dim > whole.event_dim:
        return Sorted(whole, support)
    return whole if _is_same(whole.support, support) else Constrained(whole, support)


def _is_same(own: object, declared: object) -> bool:
    """Whether torch's transform for a law's own support is the declared domain's."""
    if isinstance(declared, StanConstraint):
        values = [float(a) for a in declared.arguments if isinstance(a, (int, float))]
        if declared.record.name == "lower":
            return values == [0.0] and own in (constraints.positive, constraints.nonnegative)
        return declared.record.name == "lower_upper" and values == [0.0, 1.0] and own is constraints.unit_interval
    return getattr(own, "base_constraint", own) is declared


class Transformed(TransformedDistribution):
    """A law of the unconstrained parameter as one on the domain; all its axes belong to one event.

    At what it has drawn, its density is that of the point which this was made of: a unit vector tells not its length.
    """

    _drawn: tuple[torch.Tensor, torch.Tensor] | None = None

    def sample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        with torch.no_grad():
            return self._noted(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        return self._noted(self.base_dist.rsample(sample_shape))

    def _noted(self, free: torch.Tensor) -> torch.Tensor:
        self._drawn = free, torch.as_tensor(self.transforms[0](free))
        return self._drawn[1]

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        if self._drawn is None or not _are_same(value, self._drawn[1]):
            return torch.as_tensor(super().log_prob(value))
        free, transform = self._drawn[0], self.transforms[0]
        jacobian = transform.log_abs_det_jacobian(free, value)
        event = len(self.event_shape) - transform.codomain.event_dim
        whole = jacobian.sum(tuple(range(jacobian.dim() - event, jacobian.dim()))) if event else jacobian
        return torch.as_tensor(self.base_dist.log_prob(free) - whole)


def _are_same(value: torch.Tensor, drawn: torch.Tensor) -> bool:
    """Whether a value is the one that was drawn, perhaps put among those of other draws and taken out again."""
    return value is drawn or value.shape == drawn.shape and torch.equal(value, drawn)


class Constrained(TorchDistribution):
    """A law whose support is given as the declared domain of a parameter."""

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base: Any, support: Any):
        self.base, self._support = base, support
        super().__init__(base.batch_shape, base.event_shape, validate_args=False)

    @constraints.dependent_property
    def support(self) -> Any:
        return self._support

    @property
    def has_rsample(self) -> bool:
        return bool(self.base.has_rsample)

    def log_prob(self, value: Any) -> torch.Tensor:
        return torch.as_tensor(self.base.log_prob(value))

    def sample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        return torch.as_tensor(self.base.sample(sample_shape))

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        return torch.as_tensor(self.base.rsample(sample_shape))

    @property
    def mean(self) -> torch.Tensor:
        return torch.as_tensor(self.base.mean)


class Sorted(Constrained):
    """Vectors of sorted draws of one law: its density at each, as Stan has it, which leaves out n! for n elements."""

    def __init__(self, base: Any, support: Any):
        self.base, self._support = base, support
        TorchDistribution.__init__(self, base.batch_shape[:-1], base.batch_shape[-1:], validate_args=False)

    def log_prob(self, value: object) -> torch.Tensor:
        return super().log_prob(value).sum(-1)

    def sample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        return super().sample(sample_shape).sort(-1).values

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        return super().rsample(sample_shape).sort(-1).values

    @property
    def mean(self) -> torch.Tensor:
        raise NotImplementedError("the means of sorted draws are not known")


class Half(TorchDistribution):
    """One half of a symmetric law, beyond its centre: twice the density there."""

    arg_constraints: dict[str, Any] = {}
    log_share = -math.log(2.0)

    def __init__(self, base: Any, lower: Any = None, upper: Any = None):
        self.base, self.lower, self.upper = base, lower, upper
        super().__init__(base.batch_shape, base.event_shape, validate_args=False)

    @constraints.dependent_property
    def support(self) -> Any:
        return support_of(None, {"lower": self.lower} if self.upper is None else {"upper": self.upper}, ())

    @property
    def has_rsample(self) -> bool:
        return bool(self.base.has_rsample)

    @property
    def _bound(self) -> object:
        return self.lower if self.upper is None else self.upper

    def log_prob(self, value: Any) -> torch.Tensor:
        value, bound = tensors([value, self._bound])
        inside = value >= bound if self.upper is None else value <= bound
        return torch.where(inside, self.base.log_prob(value) + math.log(2.0), -torch.inf)

    def sample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        with torch.no_grad():
            return self._folded(self.base.sample(sample_shape))

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        return self._folded(self.base.rsample(sample_shape))

    def _folded(self, drawn: object) -> torch.Tensor:
        drawn, bound = tensors([drawn, self._bound])
        distance = torch.abs(drawn - bound)
        return torch.as_tensor(bound + distance if self.upper is None else bound - distance)


def log_share(law: Any) -> Any:
    """The log probability of a parameter's domain by which its law is divided, and Stan's density is not.

    It is that of all components of the parameter.
    """
    one = law
    while isinstance(one, (Constrained, ExpandedDistribution, Independent)):
        one = one.base if isinstance(one, Constrained) else one.base_dist
    if not hasattr(one, "log_share"):
        return 0.0
    return torch.as_tensor(one.log_share).broadcast_to(law.shape()).sum()


def half(distribution: object, lower: object = None, upper: object = None) -> Half:
    """A symmetric law above (or below) its centre, which is given as the bound."""
    return Half(distribution, lower, upper)
