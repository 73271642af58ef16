"""The one record per distribution: its density, distribution functions, random numbers, support and native classes.

    @stan_distribution(
        "real normal_lpdf(reals y | reals mu, reals sigma)",
        rng=("real_or_array normal_rng(reals mu, reals sigma)",),
        support="real",
        domains={"mu": FINITE, "sigma": POSITIVE},
        native=Native("Normal", ("mu", "sigma")),
        examples=[(0.3, 0.1, 2.0)],
    )
    class normal:
        @staticmethod
        def lpdf(xp, y, mu, sigma): ...   # and lcdf, lccdf, cdf, rng where Stan has them

The methods return one term per observation, from arguments that broadcast against each other. Outside the support the
terms are -inf; `variate` says what Stan throws for instead, of an outcome that is known. A method `draw` gives random
numbers where Stan has no `_rng`, for the classes of NumPyro and Pyro alone. `argument_dims` tells of each
argument how many trailing axes one observation has of it: {"theta": 1} for the probabilities of a categorical
distribution. From one record come the functions `normal_lpdf`, `normal_lupdf`, `normal_cdf`, `normal_lcdf`,
`normal_lccdf` and `normal_rng`, and the distribution that `y ~ normal(mu, sigma)` observes. A method `pmf` gives
probabilities, where sums over discrete parameters take no logarithms: `bernoulli_pmf__`, which no program can name.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any, cast

from . import at_sight, registry, signatures, supports
from .arrays import is_of_data, namespace
from .arrays.base import Array, Namespace
from .dataclass import dataclass
from .domains import Domain, Interval, everywhere, guard, outside
from .observations import ENDS, check_sizes, common_shape, numbers, with_ends
from .registry import Function
from .rejection import collected, is_explaining, refuse
from .supports import Region
from .types import dimensions, is_discrete
from .unknown_outcomes import are_unknown


@dataclass(frozen=True)
class Native:
    """The class of NumPyro and Pyro for the same law: its name, and Stan's arguments in the order that it takes.

    `keywords` names what the class takes by keyword: {"covariance_matrix": "Sigma"}. `numpyro` and `pyro` override
    the name where one backend has another or (None) none. `arguments` may be functions of Stan's arguments in place
    of names: ("mu", lambda xp, mu, sigma: ...).
    """

    name: str
    arguments: tuple[str | Callable[..., Any], ...]
    numpyro: str | None = ""
    pyro: str | None = ""
    keywords: Mapping[str, str] = field(default_factory=dict)

    def on(self, backend: str) -> str | None:
        return self.name if (special := cast("str | None", getattr(self, backend))) == "" else special


Check = tuple[int, str, Domain]  # a parameter's position, its name and its domain
Outcomes = Domain | Interval | Callable[..., Domain]


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution of the library.

    `texts` are the signatures of its density; `support` is the name of a constraint ("real", "positive", "unit",
    "simplex", ...) or of the integers ("integer", "natural", ...), or a function of the parameters that returns the
    name and the bounds: ("interval", alpha, beta), ("lower", mu) or, of integers, ("range", 0, N). `methods` holds
    lpdf or lpmf, and lcdf, lccdf, cdf and rng where there are such. `event_dims` tells how many trailing axes one
    observation has, `argument_dims` how many it has of each argument (0 if not named). `variate` holds, by the name
    of a method, the domain of the outcome, an interval between parameters, or a function of them that returns it.
    `logged` are parameters outside of whose domain the density is NaN by itself, as it takes their logarithm.
    `symmetric_about` is the parameter, or the number, that the law is symmetric about; a `circular` law is that of an
    angle, and none on the whole line. `regions` adds what declarations can promise of arguments to what support and
    domains tell. `preferred` is the law that is better for a variable declared otherwise, `by_matrix` the same law by
    the matrix of which the last parameter is the Cholesky factor, where it is cheaper; `vague` names two parameters
    that make a prior less vague than it looks where they are equal and below 1.
    """

    name: str
    texts: tuple[str, ...]
    rng_texts: tuple[str, ...]
    support: str | Callable[..., tuple[Any, ...]]
    methods: Mapping[str, Callable[..., Any]]
    domains: Mapping[str, Domain] = field(default_factory=dict)
    native: Native | None = None
    event_dims: int = 0
    argument_dims: Mapping[str, int] = field(default_factory=dict)
    variate: Mapping[str, Outcomes] = field(default_factory=dict)
    examples: tuple[tuple[Any, ...], ...] = ()
    doc: str = ""
    sizes: tuple[str, ...] = ()  # the arguments of the rng that decide the shape of what it draws
    logged: tuple[str, ...] = ()
    event_shape: Callable[..., tuple[int, ...]] | None = None  # of the parameters, where it is not that of their axes
    symmetric_about: str | float | None = None
    circular: bool = False
    regions: Mapping[str, Region] = field(default_factory=dict)
    preferred: str = ""
    by_matrix: str = ""
    vague: tuple[str, ...] = ()
    relations: Mapping[str, Callable[..., Domain]] = field(default_factory=dict)  # domains that all parameters decide
    rng_domains: Mapping[str, Domain] = field(default_factory=dict)  # where they are narrower for random numbers

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """A method by its name, for the methods of other records: `normal.lpdf(xp, y, mu, sigma)`."""
        methods = self.__dict__.get("methods", {})
        if name not in methods:
            raise AttributeError(name)
        return cast("Callable[..., Any]", methods[name])

    @cached_property
    def density(self) -> str:
        return "lpmf" if "lpmf" in self.methods else "lpdf"

    @property
    def is_pathwise(self) -> bool:
        """Whether draws have derivatives in the parameters: they are continuous functions of these and of noise."""
        return self.density == "lpdf" and not self.circular and not {"rng", "draw"}.isdisjoint(self.methods)

    @cached_property
    def argument_names(self) -> tuple[str, ...]:
        """The names of the parameters, without the variate."""
        return signatures.parse(self.texts[0]).argument_names[1:]

    @property
    def variate_name(self) -> str:
        return signatures.parse(self.texts[0]).argument_names[0]

    @cached_property
    def declared_regions(self) -> tuple[Region | None, ...]:
        """What a declaration can promise of the outcome, and of each parameter: None where there is nothing."""
        of_outcome = supports.region(self.support) if self.density == "lpdf" and isinstance(self.support, str) else None
        named = {n: d.region for n, d in self.domains.items()} | {self.variate_name: of_outcome} | dict(self.regions)
        return tuple(named.get(n) for n in (self.variate_name, *self.argument_names))

    @cached_property
    def hard_bounds(self) -> tuple[str, ...]:
        """The parameters that a continuous law's outcome is between, () if there are none."""
        if self.density != "lpdf" or isinstance(self.support, str):
            return ()
        kind, *bounds = self.support(*self.argument_names)
        return tuple(bounds) if kind == "interval" else ()

    @cached_property
    def dims(self) -> tuple[int, ...]:
        """How many trailing axes one observation has of the outcome, and of each parameter."""
        return (self.event_dims, *(self.argument_dims.get(n, 0) for n in self.argument_names))

    @cached_property
    def spare_dims(self) -> tuple[int, ...]:
        """How many axes of observations the density takes in front of those, of the outcome and each parameter."""
        overloads = [o for t in self.texts for o in signatures.parse(t).overloads]
        most = [max(dimensions(o.types[i]) for o in overloads if i < len(o.types)) for i in range(len(self.dims))]
        return tuple(m - d for m, d in zip(most, self.dims))

    def shapes(self, xp: Namespace, arguments: Sequence[object]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shape to which the parameters of all observations broadcast, and that of one observation.

        Where the parameters don't tell the size of an observation (lkj_corr), it is 1.
        """
        if not self.event_dims and not self.argument_dims and self.event_shape is None:
            return common_shape([xp.shape(a) for a in arguments]), ()
        leading = [xp.shape(a)[: max(0, xp.ndim(a) - d)] for a, d in zip(arguments, self.dims[1:])]
        batch = common_shape(leading)
        if self.event_shape is not None:
            return batch, self.event_shape(*arguments)
        size = next((xp.shape(a)[-1] for a, d in zip(arguments, self.dims[1:]) if d), 1)
        return batch, (size,) * self.event_dims

    @cached_property
    def density_domains(self) -> dict[str, Domain]:
        """The domains of the parameters, as the density has to look after them."""
        return {n: replace(d, traced=d.traced and n not in self.logged) for n, d in self.domains.items()}

    @cached_property
    def probability_domains(self) -> dict[str, Domain]:
        """Those of the distribution functions: below an infinite location lies a probability of 0, or of 1."""
        return {n: everywhere(d) for n, d in self.domains.items()}

    @cached_property
    def vectorized(self) -> tuple[bool, ...]:
        """Which parameters are one number per observation: `reals` and `ints`, not vectors and matrices."""
        arguments = signatures.parse(self.texts[0]).arguments[1:]
        return tuple(getattr(a.term, "text", "") in ("reals", "ints", "real", "int", "numbers") for a in arguments)

    @cached_property
    def counts(self) -> tuple[bool, ...]:
        """Which parameters are integers by the law's signature, as numbers of trials are."""
        types = next(iter(signatures.parse(self.texts[0]).overloads)).types[1:]
        return tuple(map(is_discrete, types))

    def in_reals(self, arguments: Sequence[Any]) -> list[Any]:
        """The parameters, reals where the signature says so: a program may give integers for them."""
        return [a if count else _in_reals(a) for a, count in zip(arguments, self.counts)]

    def log_prob(self, y: Array, *arguments: object) -> Array:
        """One log density per observation, of arguments of any array library.

        Parameters outside their domain raise StanDomainError where they are known, and make the result -inf where
        they are traced, as does a result of NaN.
        """
        return self.checked_log_prob(y, arguments, self._density_checks)

    def checked_log_prob(self, y: Array, arguments: Sequence[object], checks: Sequence[Check]) -> Array:
        """The same, for parameters of which some have been checked already: `checks` are those to be made."""
        xp = namespace((y, *arguments))
        if (seen := at_sight.terms(self, xp, y, arguments, checks)) is not None:
            return seen
        with collected() as found:
            kept, bad = self._inside(xp, arguments, checks)
            wrong = self.wrong_variate(self.density, y, arguments)
            y, *kept = (xp.reals if self.density == "lpmf" else xp.convert)((y, *kept))
            check_sizes(xp, self.name, (y, *kept), self.event_dims, self.dims)
            terms = xp.without_nan(self.methods[self.density](xp, y, *kept))
            flag = found.take()
        for b in (*bad, flag, wrong):
            terms = terms if b is None else xp.where(b, -xp.inf, terms)
        return terms

    def wrong_variate(self, method: str, y: Any, arguments: Sequence[object]) -> Array | None:
        """For which known outcomes Stan throws, one truth value for each; None if for none, or if they aren't known."""
        domain = self._outcomes(method, arguments) if is_of_data((y,)) else None
        if domain is None or not is_of_data(domain.bounds):
            return None
        numpy = namespace(())
        wrong = ~self._are_inside(numpy, domain, numpy.asarray(y))
        if not wrong.any():
            return None
        if is_explaining():
            refuse(True, partial(domain.error, f"{self.name}_{method}", self.variate_name, y))
        return numpy.any(wrong, axis=tuple(range(max(numpy.ndim(y) - self.event_dims, 0), wrong.ndim)))

    def _outcomes(self, method: str, arguments: Sequence[object]) -> Domain | None:
        """The outcomes for which Stan does not throw, of parameters that may not be known; None if none is refused."""
        domain = None if are_unknown() else self.variate.get(method)
        if isinstance(domain, Interval):
            return domain.of(dict(zip(self.argument_names, arguments)))
        return domain(*arguments) if callable(domain) else domain

    def _are_inside(self, xp: Namespace, domain: Domain, y: Array) -> Array:
        """Whether outcomes are in a domain; those of matrices say it of one."""
        outcomes = y.shape[: max(y.ndim - self.event_dims, 0)]
        if self.event_dims < 2 or not outcomes:
            return xp.asarray(domain.inside(xp, y))
        matrices = y.reshape(math.prod(outcomes), *y.shape[len(outcomes) :])
        inside = xp.asarray([bool(xp.all(domain.inside(xp, m))) for m in matrices]) != 0  # booleans also of none
        return inside.reshape(outcomes)

    def checked_terms(self, method: str, arguments: Sequence[Any]) -> Array:
        """The terms of a density or distribution function of arrays that broadcast.

        What Stan throws for rejects the draw, or raises where it is known.
        """
        xp = namespace(arguments)
        name, (y, *parameters) = f"{self.name}_{method}", arguments
        self.refuse_variate(xp, method, y, parameters)
        domains = self.density_domains if method == self.density else self.probability_domains
        checks = tuple((i, n, domains[n]) for i, n in enumerate(self.argument_names) if n in domains)
        given = (y, *guard(xp, name, parameters, checks))
        return numbers(name, self.methods[method](xp, *(xp.reals if self.density == "lpmf" else xp.convert)(given)))

    def _inside(self, xp: Namespace, arguments: Sequence[Any], checks: Sequence[Check]) -> tuple[list[Any], list[Any]]:
        """The parameters with numbers of their domains for what is outside, and for which observations that was so."""
        kept, bad = list(arguments), []
        for i, wrong, domain, error in outside(xp, f"{self.name}_{self.density}", arguments, checks):
            if is_explaining():
                refuse(wrong, error)
            kept[i] = domain.replaced(xp, wrong, kept[i])
            own = min(self.dims[i + 1], xp.ndim(wrong))
            bad.append(xp.any(wrong, axis=tuple(range(-own, 0))) if own else wrong)
        return kept, bad

    def checks_of(self, arguments: Sequence[object]) -> tuple[Check, ...]:
        """The checks of the density that constants among its parameters have not passed once `check_parameters` ran."""
        return tuple(c for c in self._density_checks if c[0] >= len(arguments) or type(arguments[c[0]]) is not float)

    @cached_property
    def _density_checks(self) -> tuple[Check, ...]:
        domains = self.density_domains
        return tuple((i, n, domains[n]) for i, n in enumerate(self.argument_names) if n in domains)

    def check_sizes(self, xp: Namespace, function: str, arguments: Sequence[object], text: str) -> None:
        """Containers that are vectorised over must be of one size; `text` is the signature with their names.

        Raises:
            StanIndexError: naming both sizes.
        """
        names = signatures.parse(text).argument_names
        check_sizes(xp, function, arguments, self.event_dims, [self.argument_dims.get(n, 0) for n in names])

    def check_parameters(self, arguments: Sequence[object]) -> None:
        """Raise StanDomainError for known parameters of the density outside their domain."""
        for i, name, domain in self._density_checks:
            if i < len(arguments) and is_of_data((arguments[i],)):
                domain.check(namespace(()), f"{self.name}_{self.density}", name, arguments[i])

    def guard_parameters(self, arguments: Sequence[object]) -> None:
        """Reject the draw, or raise StanDomainError, for parameters of the density outside their domain."""
        checks = [(i, n, replace(d, traced=True)) for i, n, d in self._density_checks]
        checks += [(self.argument_names.index(n), n, f(*arguments)) for n, f in self.relations.items()]
        guard(namespace(arguments), f"{self.name}_{self.density}", arguments, checks)

    def check_variate(self, xp: Namespace, method: str, y: Array, arguments: Sequence[object]) -> None:
        """Raise StanDomainError for a known outcome for which Stan throws."""
        domain = self._outcomes(method, arguments) if is_of_data((y,)) else None
        if domain is not None and is_of_data(domain.bounds):
            domain.check(xp, f"{self.name}_{method}", self.variate_name, y)

    def refuse_variate(self, xp: Namespace, method: str, y: Array, arguments: Sequence[object]) -> None:
        """Reject the draw, or raise, for an outcome for which Stan throws."""
        if (domain := self._outcomes(method, arguments)) is not None:
            looked_at = domain if method == self.density else everywhere(domain)
            guard(xp, f"{self.name}_{method}", (y,), [(0, self.variate_name, looked_at)])


def _in_reals(x: Array) -> Array:
    return float(x) if isinstance(x, (int, float)) else namespace((x,)).real(x)


DISTRIBUTIONS: dict[str, Distribution] = {}


def stan_distribution(
    *texts: str, rng: Sequence[str] = (), support: str | Callable[..., tuple[object, ...]],
    domains: Mapping[str, Domain] | None = None, native: Native | None = None, event_dims: int = 0,
    argument_dims: Mapping[str, int] | None = None, variate: Mapping[str, Outcomes] | None = None,
    examples: Sequence[tuple[object, ...]] = (), sizes: Sequence[str] = (), logged: Sequence[str] = (),
    event_shape: Callable[..., tuple[int, ...]] | None = None, symmetric_about: str | float | None = None,
    circular: bool = False, regions: Mapping[str, Region] | None = None, preferred: str = "", by_matrix: str = "",
    vague: tuple[str, ...] = (), relations: Mapping[str, Callable[..., Domain]] | None = None,
    rng_domains: Mapping[str, Domain] | None = None,
) -> Callable[[type], Distribution]:  # fmt: skip
    """Class decorator that registers a distribution; the class's functions are its methods."""

    def register(cls: type) -> Distribution:
        name = signatures.name_in(texts[0]).rpartition("_")[0]
        d = Distribution(
            name, tuple(texts), tuple(rng), support, _methods(cls), dict(domains or {}), native, event_dims,
            dict(argument_dims or {}), dict(variate or {}), tuple(examples), cls.__doc__ or "",
            tuple(sizes), tuple(logged), event_shape, symmetric_about, circular, dict(regions or {}),
            preferred, by_matrix, vague, dict(relations or {}), dict(rng_domains or {}),
        )  # fmt: skip
        DISTRIBUTIONS[name] = d
        _register_functions(d)
        return d

    return register


def _methods(cls: type) -> dict[str, Callable[..., Any]]:
    """The functions of a class, by name; distribution functions of continuous laws also at infinity."""
    found = {k: getattr(v, "__func__", v) for k, v in vars(cls).items() if callable(v) and k[0] != "_"}
    return found | {k: with_ends(found[k], *ENDS[k]) for k in ENDS if k in found and "lpdf" in found}


def _register_functions(d: Distribution) -> None:
    for method in d.methods:
        if method == "rng":
            registry.add(_rng_function(d))
        elif method != "draw":
            registry.add(_summed_function(d, method))


def _summed_function(d: Distribution, method: str) -> Function:
    """`normal_lpdf` and its like: the sum of the terms, for `cdf` and `pmf` their product."""
    name, reduction = f"{d.name}_{method}{'__' * (method == 'pmf')}", "prod" if method in ("cdf", "pmf") else "sum"
    texts = tuple(t.replace(f"{d.name}_{d.density}(", f"{name}(") for t in d.texts)

    def body(xp: Namespace, *given: Any) -> Array:
        arguments = xp.reals(given) if d.density == "lpmf" else given
        return numbers(name, getattr(xp, reduction)(d.methods[method](xp, *arguments)))

    def check(xp: Namespace, y: Array, *parameters: object) -> None:
        d.check_sizes(xp, name, (y, *parameters), texts[0])
        d.refuse_variate(xp, method, y, parameters)

    body.__doc__ = d.doc
    return Function(name, name, texts, body, check=check, examples=d.examples, distribution=d, reduction=reduction,
                    domains=d.density_domains if method == d.density else d.probability_domains)  # fmt: skip


def _rng_function(d: Distribution) -> Function:
    name, domains = f"{d.name}_rng", {**d.domains, **d.rng_domains}

    def body(xp: Namespace, random: object, *arguments: object) -> Any:
        d.check_sizes(xp, name, arguments, d.rng_texts[0])
        return d.methods["rng"](xp, random, *arguments)

    return Function(name, name, d.rng_texts, body, sizes=d.sizes, domains=domains, random=True, distribution=d)


def get(name: str) -> Distribution:
    """The record of a distribution by its Stan name."""
    registry.load()
    return DISTRIBUTIONS[name]
