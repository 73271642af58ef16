"""Stan's distributions as NumPyro's: the record's density under the class that NumPyro has for the same law."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as numpyro_distributions
from numpyro.distributions import Distribution as NumPyroDistribution
from numpyro.distributions import constraints

from ... import distribution as records
from ...arrays import named
from ...quantiles import excess, truncated_quantile
from ...random.jax import JaxRandom
from ...random.streams import begun, open_uniforms, sampled
from .. import laws
from .supports import support_of

xp = named("jax")

_SUPPORTS = {
    "integer": constraints.integer_greater_than(-(2**31)), "natural": constraints.nonnegative_integer,
    "positive_integer": constraints.positive_integer, "positive": constraints.positive,
    "nonnegative": constraints.positive, "unit": constraints.unit_interval, "real": constraints.real,
    "vector": constraints.real,
}  # fmt: skip
_BOUNDED = {
    "interval": constraints.interval, "lower": constraints.greater_than, "range": constraints.integer_interval,
}  # fmt: skip


class StanDistribution(NumPyroDistribution):
    """A distribution of the library where NumPyro has no class of its own."""

    arg_constraints: dict[str, Any] = {}
    pytree_data_fields = ("arguments", "rejected")
    rejected, place = laws.NEVER, None
    totals: object = None  # of observed counts, where draws need to know them; NumPyro's own laws have none
    pytree_aux_fields = ("record",)

    def __init__(
        self, record: records.Distribution, arguments: Sequence[object], event_shape: tuple[int, ...] | None = None
    ):
        self.record, self.arguments = record, tuple(arguments)
        batch, event = record.shapes(xp, self.arguments)
        super().__init__(batch, event if event_shape is None else event_shape, validate_args=False)

    @property
    def support(self) -> Any:
        return support(self.record, self.arguments, tuple(self.event_shape))

    def log_prob(self, value: object, intermediates: object = None) -> jax.Array:
        return jnp.asarray(laws.statement_log_prob(self, self.record, value, _each))

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        given = laws.rng_arguments(self.record, self.arguments, self.event_shape, getattr(self, "totals", None))
        return draw(self.record, given, key, sample_shape)


def make(record: records.Distribution, arguments: Sequence[object]) -> Any:
    """The NumPyro distribution of a law with these arguments."""
    arguments = record.in_reals(arguments)
    name = None if record.native is None else record.native.on("numpyro")
    if name is None or not hasattr(numpyro_distributions, name):  # classes that came with a later version
        return StanDistribution(record, arguments)
    if not record.argument_dims:
        return _native_class(record)(*arguments)
    try:
        return _native_class(record)(*arguments)
    except (ValueError, TypeError):  # of sizes that don't go together, for which the record has Stan's words
        return StanDistribution(record, arguments)


def of_shape(distribution: Any, shape: tuple[int, ...]) -> Any:
    """The law of a variable of that shape: one for every entry, as the `~` of a container means.

    Some laws don't tell the size of what they are about otherwise (lkj_corr).
    """
    batch, event = shape[: len(shape) - distribution.event_dim], shape[len(shape) - distribution.event_dim :]
    if isinstance(distribution, StanDistribution) and distribution.event_shape != event:
        made = StanDistribution(distribution.record, distribution.arguments, event)
        distribution = laws.alike(distribution, made)
    batch = laws.batch_of(distribution, batch)
    return distribution if distribution.batch_shape == batch else distribution.expand(batch)


def _each(f: Any, arguments: Sequence[Any], mapped: Sequence[bool]) -> object:
    """f for every entry along the first axis of the mapped arguments."""
    return jax.vmap(f, in_axes=tuple(0 if m else None for m in mapped))(*arguments)


@cache
def _native_class(record: records.Distribution) -> Any:
    """A subclass of NumPyro's own class that takes Stan's arguments and has the record's density."""
    assert record.native is not None
    base = getattr(numpyro_distributions, record.native.on("numpyro") or "")

    native = record.native

    def init(self: Any, *arguments: Any) -> None:
        named = dict(zip(record.argument_names, arguments))
        given = [named[a] if isinstance(a, str) else a(xp, *arguments) for a in native.arguments]
        keywords = {k: named[a] for k, a in native.keywords.items()}
        with numpyro.validation_enabled(False):  # else NumPyro raises for what Stan rejects draws for
            base.__init__(self, *given, **keywords, validate_args=False)
        self.stan_arguments = arguments

    def log_prob(self: object, value: object, intermediates: object = None) -> jax.Array:
        return jnp.asarray(laws.statement_log_prob(self, record, value, _each))

    body = {
        "__new__": _new, "__init__": init, "log_prob": log_prob, "pytree_data_fields": ("stan_arguments", "rejected"),
        "__doc__": record.doc, "__module__": __name__, "record": record, "rejected": laws.NEVER, "place": None,
        "arguments": property(lambda self: self.stan_arguments),
    }  # fmt: skip
    if record.methods.keys() & {"rng", "draw"}:
        body["sample"] = _native_sample(base, laws.is_count(record))
    return type(base)(f"Stan{base.__name__}", (base,), body)


_by_streams: ContextVar[bool] = ContextVar("by_streams", default=False)


@contextmanager
def drawn_by_streams() -> Iterator[None]:
    """Within, all laws are drawn as Stan's random numbers are: XLA compiles that in less time than NumPyro's draws.

    Elsewhere the laws of NumPyro's classes give what NumPyro's give by the same key.
    """
    token = _by_streams.set(True)
    try:
        yield
    finally:
        _by_streams.reset(token)


def _native_sample(base: Any, always: bool) -> Callable[..., Any]:
    """The draws of a subclass of NumPyro's own; `always` Stan's, for NumPyro's counts may be no integers of Stan."""

    def sample(self: Any, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> Any:
        if always or _by_streams.get():
            return StanDistribution.sample(self, key, sample_shape)
        return base.sample(self, key, sample_shape)

    return sample


def _new(cls: Any, *arguments: Any, **named: Any) -> object:
    """With NumPyro's own names, as its reparametrisations make laws, a law of NumPyro's own."""
    return cls.__base__(**named) if named else object.__new__(cls)


def support(record: records.Distribution, arguments: Sequence[object], event_shape: tuple[int, ...]) -> Any:
    """NumPyro's constraint for the support that the record names."""
    kind, *bounds = (record.support,) if isinstance(record.support, str) else record.support(*arguments)
    if kind not in _SUPPORTS and kind not in _BOUNDED:
        return support_of(kind, {}, event_shape)
    single = _BOUNDED[kind](*bounds) if bounds else _SUPPORTS[kind]
    return constraints.independent(single, record.event_dims) if record.event_dims else single


def draw(
    record: records.Distribution, arguments: Sequence[Any], key: jax.Array, sample_shape: tuple[int, ...]
) -> jax.Array:  # fmt: skip
    """Random numbers of the law, `sample_shape` times; the arguments are those of Stan's rng function."""

    def one(k: Any) -> jax.Array:
        return jnp.asarray(laws.draw(record, xp, JaxRandom(k), arguments, _each))

    return sampled(one, key, sample_shape)


class Truncated(NumPyroDistribution):
    """`foo(...) T[lower, upper]`: the density divided by the probability between the bounds."""

    pytree_data_fields = ("base", "log_normalizer", "lower", "upper")

    def __init__(self, base: Any, log_normalizer: Any, lower: Any = None, upper: Any = None):
        self.base, self.log_normalizer, self.lower, self.upper = base, log_normalizer, lower, upper
        laws.guard_bounds(lower, upper)
        batch = np.broadcast_shapes(base.batch_shape, *(np.shape(b) for b in (lower, upper)))
        super().__init__(batch, base.event_shape, validate_args=False)

    @property
    def support(self) -> Any:
        bounds = {k: v for k, v in (("lower", self.lower), ("upper", self.upper)) if v is not None}
        return support_of(None, bounds, ())

    def log_prob(self, value: Any) -> Any:
        inside = True
        if self.lower is not None:
            inside = inside & (value >= self.lower)
        if self.upper is not None:
            inside = inside & (value <= self.upper)
        return xp.where(inside, self.base.log_prob(value) - self.log_normalizer, -xp.inf)

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> Any:
        share = open_uniforms(begun(key), (*sample_shape, *self.batch_shape), jnp.result_type(float))
        return _quantile(self.base, self.lower, self.upper, share)


def _quantile(law: Any, lower: Any, upper: Any, share: Any) -> object:
    """A quantile of a truncated law, with the derivatives of the implicit function: it is itself searched for.

    Source: Figurnov, Mohamed and Mnih (2018), "Implicit Reparameterization Gradients", section 3.
    """
    found: Any = truncated_quantile(xp, law.record, law.arguments, lower, upper, share)
    if law.record.density == "lpmf":
        return found
    fixed = jax.lax.stop_gradient(found)
    over = excess(xp, law.record, law.arguments, lower, upper, share, fixed)
    density = jax.lax.stop_gradient(jnp.exp(law.log_prob(fixed)))
    is_told = (density > 0) & jnp.isfinite(over)  # not far out, where there is none that could be told
    return jnp.where(is_told, fixed - (over - jax.lax.stop_gradient(over)) / jnp.where(is_told, density, 1.0), fixed)


class Restricted(Truncated):
    """A parameter's law on its domain: normalised, as a law is, though Stan leaves the domain's probability out."""

    @property
    def log_share(self) -> Any:
        return self.log_normalizer


class Uninformed(numpyro_distributions.Uniform):
    """The uniform law of a bare declaration between two numbers: draws of that, with density 1, as in Stan.

    What the program says of the parameter elsewhere may be its prior: with a density of its own it would have two.
    """

    is_term = False  # of Stan's log density

    def log_prob(self, value: Any) -> jax.Array:
        return jnp.zeros(jnp.broadcast_shapes(jnp.shape(value), self.batch_shape))


class Improper(NumPyroDistribution):
    """The uniform law on a domain that may have no finite volume: density 1, no way to draw from it.

    Where the program draws the parameter part by part, that is `drawn`, by the laws at the sites `laws`; where it
    can't, `undrawn` tells what is wrong with the law.
    """

    pytree_data_fields = ("_support", "drawn")
    pytree_aux_fields = ("laws", "undrawn")

    def __init__(self, support: Any, shape: tuple[int, ...], drawn: object = None, laws: Sequence[str] = (),
                 undrawn: str | None = None):  # fmt: skip
        self._support, self.drawn, self.laws, self.undrawn = support, drawn, tuple(laws), undrawn
        split = len(shape) - support.event_dim
        super().__init__(shape[:split], shape[split:], validate_args=False)

    @property
    def support(self) -> Any:
        return self._support

    def log_prob(self, value: Any) -> jax.Array:
        return jnp.zeros(jnp.shape(value)[: jnp.ndim(value) - len(self.event_shape)])

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        if self.drawn is not None:
            return jnp.broadcast_to(jnp.asarray(self.drawn), (*sample_shape, *self.shape()))
        raise NotImplementedError(
            "no law of this parameter can be drawn from: it has no prior, or one that stands in the density alone, as "
            "under the comprehensive scheme, and laws of single elements do"
        )


class Drawn(NumPyroDistribution):
    """What stands at the site of discrete parameters that their laws, elsewhere, have drawn together: that draw."""

    is_term = False
    pytree_data_fields = ("drawn",)

    def __init__(self, drawn: jax.Array):
        self.drawn = drawn
        super().__init__((), jnp.shape(drawn), validate_args=False)

    @property
    def support(self) -> Any:
        return constraints.independent(_SUPPORTS["integer"], len(self.event_shape))

    def log_prob(self, value: Any) -> jax.Array:
        return jnp.zeros(jnp.shape(value)[: jnp.ndim(value) - len(self.event_shape)])

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        return jnp.broadcast_to(self.drawn, (*sample_shape, *self.event_shape)) if sample_shape else self.drawn
