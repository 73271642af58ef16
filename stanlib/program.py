"""The functions that a translated module offers."""
from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, Self

from . import batches, conditioned, declared_sizes, drawn, networks, places, predicted
from .batches import Batches, warn_of_rows
from .discrete.asking import drawing_at, given_integers
from .errors import LIMITS, StanDataError, StanDomainError, StanError, StanIndexError, StanReject
from .kept import attempted
from .lanes import frames
from .metadata import SIMULATION, Program, Variable
from .rejection import collected, explaining, is_error_of_data, rejecting_draws
from .tracebacks import briefly
from .unknown_outcomes import with_moved

if TYPE_CHECKING:
    from .ppl.interface import Backend
    from .unobserved import Observations


class StanFunction:
    """A function of a translated module.

    It is called with keyword arguments under their Stan names, and pickles by reference: unpickling imports the module
    through stanimport, also in a worker process that knows nothing of the import hook.
    """

    def __init__(
        self, function: Callable[..., object], backend: Backend, program: Program,
        stan_names: Mapping[str, str] | None = None,
    ):  # fmt: skip
        self.__name__, self.__qualname__, self.__module__ = function.__name__, function.__name__, function.__module__
        self.__doc__ = function.__doc__ or type(self).__doc__
        self.__wrapped__ = function  # inspect.signature shows the generated function's
        self.function, self.backend, self.program = function, backend, program
        self.stan_names = dict(stan_names or {})  # where Python could not take Stan's name: {"lambda_": "lambda"}

    def _named(self, values: Mapping[str, object]) -> dict[str, Any]:
        """The values that the generated function takes, under the names that it has for them."""
        wanted = self.function.__code__.co_varnames[: self.function.__code__.co_kwonlyargcount]
        return {n: values[self.stan_names.get(n, n)] for n in wanted}

    def _by_name(self, unnamed: tuple[object, ...]) -> None:
        """Values are given by their names. Raises TypeError for those that are not."""
        if unnamed:
            name = self.__name__
            raise TypeError(f"{name}() takes values by their names: {name}(**data), not {name}(data)")

    def _run(self, /, *args: object, **named: object) -> Any:
        """Call the generated function; every error says where in the Stan file it arose."""
        import numpy

        with numpy.errstate(all="ignore"), frames.outside(), places.running(self.function, self.program):
            return self.function(*args, **named)

    def __reduce__(self) -> Any:
        loader = self.function.__globals__.get("__loader__")
        reference = getattr(loader, "reference", None)
        return super().__reduce__() if reference is None else reference(self.__name__)

    def __repr__(self) -> str:
        return f"<{self.__name__} of Stan program {self.program.name}>"


class _Called(StanFunction):
    """A function of the data, which may have networks of its own."""

    def __init__(self, function: Callable[..., object], data: TransformedData, stan_names: Mapping[str, str]):
        super().__init__(function, data.backend, data.program, stan_names)
        self.data = data
        self.networks: dict[str, Any] = {}

    def with_networks(self, **given: object) -> Self:
        """The same, with these networks for those that the program declares under their names.

        Raises:
            StanError: for a name that is none of a network.
        """
        unknown = given.keys() - set(self.program.networks)
        if unknown:
            known = ", ".join(self.program.networks) or "none"
            raise StanError(f"{self.program.name} declares no network {min(unknown)!r}, but {known}")
        made = copy.copy(self)
        made.networks = {**self.networks, **given}
        return made

    def __copy__(self) -> Self:
        made = object.__new__(type(self))  # not as pickle does, which takes what the module has under the name
        made.__dict__.update(self.__dict__)
        return made

    def __reduce__(self) -> Any:
        if not self.networks:
            return super().__reduce__()
        whole = copy.copy(self)
        whole.networks = {}
        return _with_networks, (whole, self.networks)


def _with_networks(function: _Called, networks: Mapping[str, object]) -> object:
    """Unpickle a function with networks of its own."""
    return function.with_networks(**networks)


class TransformedData(StanFunction):
    """`transformed_data(**data)`: check and convert the data, run the block `transformed data`.

    Takes the program's data as JSON-like values, NumPy arrays, scalars or columns. Returns a dict of data and
    transformed data, which the module's other functions take.

    Raises:
        StanDataError: for data that are missing, misnamed or not as declared.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> coin.transformed_data(flips=3, heads=[1, 0, 1])
        {'flips': 3, 'heads': array([1, 0, 1])}
        >>> coin.transformed_data(flips=3, heads=[1, 0])
        Traceback (most recent call last):
        stanlib.errors.StanDataError: heads must have shape (3), not (2): declared as...
    """

    def __call__(self, /, *unnamed: object, **inputs: object) -> dict[str, Any]:
        from . import given_again
        from .data import Reader, all_converted

        __tracebackhide__ = True  # for pytest and IPython
        self._by_name(unnamed)
        with briefly():
            made = all_converted(self.variables.values(), self._run(Reader(self.program, inputs)))
        given_again.remember(self.program, made)
        return made

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """Data and transformed data by their names."""
        return {v.name: v for v in (*self.program.data, *self.program.transformed_data)}

    def prepare(self, inputs: Mapping[str, object]) -> dict[str, Any]:
        """The data that a model takes, by Stan name: as given if they come from this function, else from raw data.

        Raises:
            StanDataError: for raw data that are not as declared.
        """
        from . import data, given_again

        variables = self.variables
        if inputs.keys() >= variables.keys():
            given = {n: inputs[n] for n in variables}
            known = given_again.remembered(self.program, given)
            if known is not None:
                return known
            if all(data.is_converted(v, given[n]) for n, v in variables.items()):
                return given_again.checked(self.program, self._run, given)
        return self._from_raw(inputs)

    def prepare_without(self, inputs: Mapping[str, object], unknown: Sequence[str]) -> dict[str, Any]:
        """The same where some data, on which transformed data don't depend, are not known: others stand for them."""
        from .data import StandIn

        made = {v.name for v in self.program.transformed_data}
        raw = {n: v for n, v in inputs.items() if n not in made} | {n: StandIn(0) for n in unknown}
        return self._from_raw(raw) | {n: v for n, v in inputs.items() if n in made}

    def _from_raw(self, inputs: Mapping[str, object]) -> dict[str, Any]:
        """What this function returns, for a model. Raises StanDataError for data that JAX traces."""
        from . import data

        traced = [n for n in self.variables if n in inputs and data.is_traced(inputs[n])]
        if traced:
            raise StanDataError("data that JAX traces must come from transformed_data(...)", traced[0])
        return self(**inputs)


class Model(_Called):
    """`model(**inputs)`: an ordinary model of the backend.

    Takes what `transformed_data` returned, or the raw data. Every parameter is a sample site under its Stan name.
    Returns the parameters' values by their names. Data that are observed may be None: then their site is none of an
    observation, and draws them.

    Raises:
        StanDataError: for data that are missing or not as declared, and for None where the model can't draw what is
            asked for, which it names.

    Examples:
        >>> from numpyro import handlers
        >>> coin = stanimport.load("models/coin.stan")
        >>> trace = handlers.trace(handlers.seed(coin.model, 0)).get_trace(flips=3, heads=[1, 0, 1])
        >>> [name for name, site in trace.items() if site["type"] == "sample" and not site["is_observed"]]
        ['bias']
    """

    is_guide = False

    def __init__(self, function: Callable[..., object], data: TransformedData, stan_names: Mapping[str, str]):
        super().__init__(function, data, stan_names)
        self.batches = Batches()

    def __call__(self, /, *unnamed: object, **inputs: object) -> dict[str, Any]:
        __tracebackhide__ = True
        self._by_name(unnamed)
        with briefly():
            return self.backend.run(self.program, lambda: self._once({**self.networks, **inputs}))

    def _once(self, inputs: Mapping[str, object]) -> dict[str, Any]:
        """One draw, and the values of its parameters. Raises StanUnsupportedError for given ones that no site takes."""
        given = self.backend.given_names(conditioned.without_sites(self.program))
        conditioned.check_parameters(self.program, given)
        with drawn.noted() as sites:
            self._call(inputs)
        if given and not self.is_guide:
            conditioned.check_data(self.program, given, sites.observed)
        return drawn.parameters(self.program.parameters, sites)

    def _call(self, inputs: Mapping[str, object]) -> None:
        """Run the function on the data and networks among its inputs; draws for which Stan would throw are rejected.

        Raises:
            StanError: where data alone are the reason, and wherever Stan would throw in a guide.
        """
        with rejecting_draws(), networks.call_with(self.program, inputs) as rest:
            with batches.reading(self.batches.totals):
                given, asked = self._given(rest)
            site = self.backend.discrete if self.program.scheme == SIMULATION else None
            with batches.call_with(self.program, self.batches, given), collected() as rejections, drawing_at(site):
                try:
                    with predicted.drawing(asked):
                        self._run(**self._named(with_moved(given)))
                except LIMITS:
                    raise
                except (StanDomainError, StanIndexError, StanReject):
                    if self.is_guide or is_error_of_data(rejections):
                        raise
                    self._rejected(True)
                else:
                    self._rejected(rejections.take())

    def _given(self, inputs: Mapping[str, object]) -> tuple[dict[str, Any], predicted.Asked | None]:
        """The data, and those of them that are given as None, which the model draws."""
        wanted = predicted.names(inputs, self.program)
        if not wanted:
            return self.data.prepare(inputs), None
        predicted.verify(self.program, wanted, self.undrawn)
        given = self.data.prepare_without(inputs, wanted)
        return given, None if self.is_guide else predicted.Asked(self.program, {n: given[n] for n in wanted})

    def undrawn(self) -> Mapping[str, str]:
        """The data that it can't draw, and why. Raises StanError for a module that runs without its Stan program."""
        known: dict[str, str] | None = self.__dict__.get("unpredictable")
        if known is None:
            known = self.unpredictable = self._ask("unpredictable", "predictions by a model")(self.is_guide)
        return known

    def computed_from(self, name: str) -> frozenset[str]:
        """The transformed data that may depend on the values of one of the data. Raises StanError as `undrawn`."""
        known: Mapping[str, frozenset[str]] | None = self.__dict__.get("computed")
        if known is None:
            known = self.computed = self._ask("computed_from", "predictions of other data")()
        return known[name]

    def observations(self) -> Observations:
        """What its log likelihood can tell apart. Raises StanError for a module that runs without its Stan program."""
        known: Observations | None = self.__dict__.get("told_apart")
        if known is None:
            known = self.told_apart = self._ask("observations", "log likelihoods")()
        return known

    def _rejected(self, flag: object) -> None:
        """Draws for which a condition holds that no site of the program has taken up are rejected."""
        if flag is not None:
            self.backend.reject_draws(flag)

    def minibatch(self, **totals: int) -> "Model":
        """The same, for calls whose data are a batch: `model.minibatch(N=60_000)` where `N` is a declared size.

        Terms that are sums over the entries along the axes of that size are scaled to all of them, those that depend on
        none stay as they are. Model and guide must both be for the same batches.

        Warns:
            BatchWarning: where parameters have an entry for every row, and the program no guide for them.

        Raises:
            StanSemanticError: naming the statements that depend on all entries at once, and for what is no size.
            StanError: for a module that runs without its Stan program.
        """
        made = self.with_batches(**totals)
        if "guide" not in self.function.__globals__:
            warn_of_rows(self.program, totals)
        return made

    def with_batches(self, **totals: int) -> "Model":
        """What `minibatch` returns, for whoever gives parameters of rows their own laws."""
        rows = self._ask("rows_of", "minibatches")(tuple(totals), self.is_guide)
        made = copy.copy(self)
        made.batches = Batches(totals, rows)
        return made

    def _ask(self, question: str, purpose: str) -> Callable[..., Any]:
        """What the loader knows of the program. Raises StanError for a module that runs without its Stan program."""
        ask: Callable[..., Any] | None = getattr(self.function.__globals__.get("__loader__"), question, None)
        if ask is None:
            raise StanError(f"{purpose} of {self.program.name} need the Stan program: load it through stanimport")
        return partial(ask, self.program)

    def __reduce__(self) -> Any:
        if not self.batches.totals:
            return super().__reduce__()
        whole = copy.copy(self)
        whole.batches = Batches()
        return _of_batches, (whole, dict(self.batches.totals))


def _of_batches(model: Model, totals: Mapping[str, int]) -> Model:
    """Unpickle a model of batches."""
    return model.minibatch(**totals)


class Guide(Model):
    """`guide(**inputs)`: a guide of the backend, for stochastic variational inference.

    Takes what the model takes. It samples every parameter of the model; its own parameters are `param` sites. Returns
    the values of the model's parameters by their names.
    """

    is_guide = True

    def _rejected(self, flag: object) -> None:
        """A guide can't reject: the model does."""


class GeneratedQuantities(_Called):
    """`generated_quantities(**inputs, **draw)`: transformed parameters and generated quantities of one draw.

    Takes what `transformed_data` returned, or the raw data, and a value of every parameter. Returns a dict. Random
    numbers come from the backend: for NumPyro under `numpyro.handlers.seed`, a new key for every draw. Discrete
    parameters have the values that the draw has of them; those that it lacks are drawn given all others.

    Whether they lie within their bounds isn't checked.

    Raises:
        StanDataError: for a draw that lacks a parameter, or has one that is not made of numbers, or is of other sizes
            than the program declares.

    Examples:
        >>> line = stanimport.loads("data { real x; } parameters { real b; } generated quantities { real y = b * x; }")
        >>> float(line.generated_quantities(x=3.0, b=2.0)["y"])
        6.0
    """

    def __call__(self, /, *unnamed: object, **inputs: object) -> dict[str, Any]:
        __tracebackhide__ = True
        self._by_name(unnamed)
        with briefly():
            return self.backend.run_quantities(self.program, lambda: self._quantities({**self.networks, **inputs}))

    def _quantities(self, inputs: Mapping[str, object]) -> dict[str, Any]:
        """The quantities of one draw."""
        from .data import all_converted

        declared = (*self.program.transformed_parameters, *self.program.generated_quantities)
        with networks.call_with(self.program, inputs, trained=True) as inputs:
            given = self.data.prepare(inputs)
            for v in self.program.parameters:
                given[v.name] = self._drawn(v, v.name, inputs)
                declared_sizes.verify(v, given[v.name], given, self.program)
            known = {v.name: self.backend.draw(inputs[v.name]) for v in self.program.drawn_integers if v.name in inputs}
            with collected() as rejections, explaining(), given_integers(known), attempted(rejections) as attempt:
                return attempt.usable(all_converted(declared, self._run(**self._named(given))), rejections.take())

    def _drawn(self, v: Variable, name: str, inputs: Mapping[str, object]) -> Any:
        """The value of a parameter; a tuple's items and a complex number's parts may also be given by their sites.

        These are called `p.1`, `p.2` and `z.real`, `z.imag`.
        """
        if name in inputs:
            return self.backend.draw(declared_sizes.numbers(v, inputs[name], self.program))
        if f"{name}.real" in inputs and f"{name}.imag" in inputs:
            return self.backend.draw(inputs[f"{name}.real"]) + 1j * self.backend.draw(inputs[f"{name}.imag"])
        if not v.items:
            raise StanDataError(f"the draw lacks parameter {name}", name, self.program.filename)
        return tuple(self._drawn(item, f"{name}.{i}", inputs) for i, item in enumerate(v.items, 1))


class Module(Protocol):
    """A translated module, as whoever runs its program sees it; `guide` is there where the program has one."""

    __name__: str
    __doc__: str | None
    __dict__: dict[str, Any]
    stan: Program
    transformed_data: TransformedData
    model: Model
    guide: Guide
    generated_quantities: GeneratedQuantities
