"""Stan's distributions as Pyro's: the record's density under the class that Pyro has for the same law."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import pyro.distributions as pyro_distributions
import torch
from pyro.distributions import TorchDistribution
from pyro.distributions.torch_distribution import ExpandedDistribution
from pyro.distributions.util import is_validation_enabled
from torch.distributions import TransformedDistribution, constraints

from ... import at_sight, places
from ... import distribution as records
from ...arrays import named
from ...arrays.torch import as_tensor, is_tracing
from ...random.torch import TorchRandom
from .. import laws
from .supports import support_of

xp = named("torch")

_SUPPORTS = {
    "integer": constraints.real, "natural": constraints.nonnegative_integer,
    "positive_integer": constraints.positive_integer, "positive": constraints.positive,
    "nonnegative": constraints.nonnegative, "unit": constraints.unit_interval, "real": constraints.real,
    "vector": constraints.real,
}  # fmt: skip
_BOUNDED = {
    "interval": constraints.interval, "lower": constraints.greater_than_eq, "range": constraints.integer_interval,
}  # fmt: skip


_SIMPLE = ("Normal", "Cauchy", "Gamma", "Exponential", "Laplace", "Uniform")  # Pyro's classes without laws inside


def tensors(values: Sequence[object]) -> list[Any]:
    """Data as tensors, like the tensors beside them or of torch's default type; Python's numbers too."""
    if all([isinstance(v, torch.Tensor) for v in values]):  # a list: faster than a generator
        return list(values)
    like = next((v for v in values if isinstance(v, torch.Tensor) and v.is_floating_point()), None)
    like = torch.zeros(()) if like is None else like
    converted = list(xp.convert((like, *values)))[1:]
    return [as_tensor(v, device=like.device) if not isinstance(v, torch.Tensor) else v for v in converted]


class StanDistribution(TorchDistribution):
    """A distribution of the library where Pyro has no class of its own."""

    arg_constraints: dict[str, Any] = {}
    rejected, place = laws.NEVER, None

    def __init__(
        self, record: records.Distribution, arguments: Sequence[Any], event_shape: tuple[int, ...] | None = None
    ):
        self.record, self.arguments = record, tuple(arguments)
        batch, event = record.shapes(xp, self.arguments)
        event = event if event_shape is None else event_shape
        super().__init__(torch.Size(batch), torch.Size(event), validate_args=False)

    @constraints.dependent_property
    def support(self) -> Any:
        return support(self.record, self.arguments, tuple(self.event_shape))

    def log_prob(self, value: object) -> torch.Tensor:
        return torch.as_tensor(laws.statement_log_prob(self, self.record, value, _each))

    def expand(self, batch_shape: object, _instance: object = None) -> Expanded:
        return Expanded(self, torch.Size(batch_shape))

    @property
    def has_rsample(self) -> bool:
        return self.record.is_pathwise

    def sample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        with torch.no_grad():  # or Pyro would take derivatives of draws besides those of the score
            return self._drawn(sample_shape)

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        if not self.has_rsample:
            raise NotImplementedError(f"draws from {self.record.name} have no derivatives")
        return self._drawn(sample_shape)

    def _drawn(self, sample_shape: torch.Size) -> torch.Tensor:
        given = laws.rng_arguments(self.record, self.arguments, self.event_shape)
        return draw(self.record, given, tuple(sample_shape))


def make(record: records.Distribution, arguments: Sequence[object]) -> Any:
    """The Pyro distribution of a law with these arguments."""
    name = None if record.native is None else record.native.on("pyro")
    given = record.in_reals(arguments)
    law = StanDistribution(record, tensors(given)) if name is None else _native_class(record)(*given)
    law.given = given  # which of them are data, tensors don't tell
    return law


_make_placed = laws.placed(make)
_of_constants: dict[tuple[Any, ...], Any] = {}
_MOST = 4096  # laws that are kept


def make_placed(record: records.Distribution, arguments: Sequence[object]) -> Any:
    """The distribution of a statement. One of constants is made once: it is the same in every step of inference.

    It has a dict `wholes` then, of what it is for parameters of some size and domain.
    """
    if not all([isinstance(a, (float, int)) for a in arguments]) or is_tracing():
        return _make_placed(record, arguments)
    like, place = torch.empty(()), places.here()
    where = (None, 0) if place is None else (id(place[1]), place[2])  # the code, which the law keeps, and where in it
    key = (record, *arguments, *where, like.dtype, like.device, like.is_inference())
    law = _of_constants.get(key)
    if law is None:
        if len(_of_constants) >= _MOST:
            _of_constants.clear()
        law = _of_constants[key] = _make_placed(record, arguments)
        law.wholes = {}
    return law


def of_shape(distribution: Any, shape: tuple[int, ...]) -> Any:
    """The law of a variable of that shape: one for every entry, as the `~` of a container means.

    Some laws don't tell the size of what they are about otherwise (lkj_corr).
    """
    batch, event = shape[: len(shape) - distribution.event_dim], shape[len(shape) - distribution.event_dim :]
    if isinstance(distribution, StanDistribution) and tuple(distribution.event_shape) != tuple(event):
        made = StanDistribution(distribution.record, distribution.arguments, event)
        distribution = laws.alike(distribution, made)
    whole = laws.batch_of(distribution, tuple(batch))  # torch's own takes longer than a small density
    return distribution if distribution.batch_shape == whole else distribution.expand(torch.Size(whole))


def _each(f: Any, arguments: Sequence[Any], mapped: Sequence[bool]) -> torch.Tensor:
    """f for every entry along the first axis of the mapped arguments."""
    count = next(len(a) for a, m in zip(arguments, mapped) if m)
    lanes = ([a[i] if m else a for a, m in zip(arguments, mapped)] for i in range(count))
    return torch.stack([torch.as_tensor(f(*lane)) for lane in lanes])


def _expanded(self: Any, batch_shape: Any, _instance: object = None) -> object:
    """The law of more entries; of one that is transformed such a law itself, as Pyro's TransformReparam asks."""
    native: Any = type(self).__base__
    if not issubclass(native, TransformedDistribution):
        return _expanded_class(native)(self, torch.Size(batch_shape))
    made = type(self)(*(a.expand(batch_shape) for a in self.stan_arguments))
    made.numbers, made.checks = self.numbers, self.checks
    made.given = getattr(self, "given", made.stan_arguments)
    return laws.alike(self, made)


@cache
def _expanded_class(native: Any) -> type:
    """Laws of one class of Pyro's, expanded."""
    body = {"__new__": partial(_new, native), "__module__": __name__}
    return type(f"Expanded{native.__name__}", (Expanded,), body)


def _new(native: Any, cls: Any, *arguments: Any, **named: Any) -> object:
    """With Pyro's own names, as its reparametrisations make laws, a law of Pyro's own class."""
    return native(**named) if named else object.__new__(cls)


def _of_natives(
    record: records.Distribution, native: records.Native, arguments: Sequence[object]
) -> tuple[list[object], dict[str, object]]:
    """The arguments of Pyro's class for Stan's."""
    named = dict(zip(record.argument_names, arguments))
    given = [named[a] if isinstance(a, str) else a(xp, *arguments) for a in native.arguments]
    return given, {k: named[a] for k, a in native.keywords.items()}


@contextmanager
def _unvalidated() -> Iterator[None]:
    """Without Pyro's tests: it raises for what Stan rejects draws for, if the laws inside of a law are validated."""
    is_validated = is_validation_enabled()
    try:
        if is_validated:
            pyro_distributions.enable_validation(False)
        yield
    finally:
        if is_validated:
            pyro_distributions.enable_validation(True)


def _beginning(record: records.Distribution, native: records.Native, base: Any) -> Callable[[Any, Sequence[Any]], None]:
    """What initializes a distribution of Pyro's class `base` by Stan's arguments."""
    if native.arguments == record.argument_names and not native.keywords and base.__name__ in _SIMPLE:
        return lambda law, arguments: base.__init__(law, *arguments, validate_args=False)

    def begin(law: Any, arguments: Sequence[Any]) -> None:
        given, keywords = _of_natives(record, native, arguments)
        with _unvalidated():
            base.__init__(law, *given, **keywords, validate_args=False)

    return begin


@cache
def _native_class(record: records.Distribution) -> Any:
    """A subclass of Pyro's own class that takes Stan's arguments and has the record's density."""
    native = record.native
    assert native is not None
    base = getattr(pyro_distributions, native.on("pyro") or "")
    begin = _beginning(record, native, base)

    def init(self: Any, *numbers: Any) -> None:
        arguments = tensors(numbers)
        begin(self, arguments)
        self.stan_arguments = arguments
        if laws.broadcasts(record):
            self.numbers = [float(n) if isinstance(n, float) else a for n, a in zip(numbers, arguments)]
            self.checks = record.checks_of(self.numbers)

    body = {
        "__new__": partial(_new, base), "__init__": init, "log_prob": _density(record), "expand": _expanded,
        "__doc__": record.doc, "__module__": __name__, "record": record,
        "arguments": property(lambda self: self.stan_arguments), "rejected": laws.NEVER, "place": None,
        **({"sample": _counts} if laws.is_count(record) else _BY_THE_RECORD.get(base.__name__, {})),
    }  # fmt: skip
    return type(base)(f"Stan{base.__name__}", (base,), body)


def _density(record: records.Distribution) -> Callable[[Any, object], torch.Tensor]:
    """The method that computes log densities of a law: the shortest way first, which most take in most steps."""
    are_numbers = laws.broadcasts(record)

    def log_prob(law: Any, value: object) -> torch.Tensor:
        if are_numbers and law.rejected is laws.NEVER:
            seen = at_sight.terms(record, xp, value, law.numbers, law.checks)
            if seen is not None:
                return seen
        return torch.as_tensor(laws.statement_log_prob(law, record, value, _each))

    return log_prob


def _counts(law: Any, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
    """Draws by the record, of the type that Pyro's own have."""
    with torch.no_grad():
        return draw(law.record, law.arguments, tuple(sample_shape)).to(law.arguments[0].dtype)


def _all_at_once(law: Any, sample_shape: torch.Size) -> torch.Tensor:
    """Draws by the record of a law whose rng takes any leading axes."""
    shape = law._extended_shape(sample_shape)
    drawn = law.record.methods["rng"](xp, TorchRandom(), *(a.expand(shape) for a in law.arguments))
    return torch.as_tensor(drawn)


def _shares(law: object, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
    """Draws of shares, between 0 and 1 as far as the type tells them apart, as Pyro's own have it."""
    drawn = _all_at_once(law, sample_shape)
    limits = torch.finfo(drawn.dtype)
    return drawn.clamp(limits.tiny, 1 - limits.eps)


def _counts_by_shares(law: Any, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
    with torch.no_grad():
        return _all_at_once(law, sample_shape).to(law.arguments[-1].dtype)


# torch divides gamma draws, which small parameters underflow: 0 / 0 is 1/2 to it
_BY_THE_RECORD: dict[str, dict[str, Any]] = {
    "Beta": {"rsample": _shares}, "Dirichlet": {"rsample": _shares}, "BetaBinomial": {"sample": _counts_by_shares},
}  # fmt: skip


class Expanded(ExpandedDistribution):
    """A law of more entries than its parameters have."""

    def __getattr__(self, name: str) -> Any:
        """A parameter of the law, for all entries."""
        law = vars(self).get("base_dist")
        if law is None or name not in law.arg_constraints:
            raise AttributeError(name)
        value = getattr(law, name)
        return value.expand(*self.batch_shape, *value.shape[len(law.batch_shape) :])

    def log_prob(self, value: Any) -> torch.Tensor:
        terms: torch.Tensor = self.base_dist.log_prob(value)
        if terms.shape == self.batch_shape:  # as it is, but for values that broadcast
            return terms
        event = value.ndim - self.event_dim
        return terms.expand(torch.broadcast_shapes(self.batch_shape, value.shape[:event]))


def support(record: records.Distribution, arguments: Sequence[object], event_shape: tuple[int, ...]) -> Any:
    """torch's constraint for the support that the record names."""
    kind, *bounds = (record.support,) if isinstance(record.support, str) else record.support(*arguments)
    if kind not in _SUPPORTS and kind not in _BOUNDED:
        return support_of(kind, {}, event_shape)
    single = _BOUNDED[kind](*bounds) if bounds else _SUPPORTS[kind]
    return constraints.independent(single, record.event_dims) if record.event_dims else single


def draw(record: records.Distribution, arguments: Sequence[object], sample_shape: tuple[int, ...]) -> torch.Tensor:
    """Random numbers of the law, `sample_shape` times; the arguments are those of Stan's rng function."""

    def one() -> torch.Tensor:
        return torch.as_tensor(laws.draw(record, xp, TorchRandom(), arguments, _each))

    if not sample_shape:
        return one()
    made = [one() for _ in range(int(torch.Size(sample_shape).numel()))]
    stacked = torch.stack(made) if made else one()[None][:0]
    return stacked.reshape((*sample_shape, *stacked.shape[1:]))


class Drawn(TorchDistribution):
    """What stands at the site of discrete parameters that their laws, elsewhere, have drawn together: that draw."""

    arg_constraints: dict[str, Any] = {}

    def __init__(self, drawn: torch.Tensor):
        self.drawn = drawn
        super().__init__(torch.Size(), drawn.shape, validate_args=False)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.independent(constraints.integer_interval(-(2**31), 2**31 - 1), len(self.event_shape))

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        return torch.zeros(value.shape[: value.ndim - len(self.event_shape)])

    def sample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        return self.drawn.expand((*sample_shape, *self.event_shape)) if sample_shape else self.drawn
