"""The one record per library function: its signatures as the Stan Functions Reference prints them, and its body.

    @stan_function("R log1m_exp(T x)", examples=[(-0.1,), (-3.0,)])
    def log1m_exp(xp, x):
        return xp.where(x > -LOG2, xp.log(-xp.expm1(x)), xp.log1p(-xp.exp(x)))

The type checker, the code generators, all three array libraries, the documentation's table and the tests read this
record; a function is added nowhere else. A name whose overloads need different bodies has one record per body, each
with a Python name (`symbol`) of its own. No array library is imported here.
"""
from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache, cached_property, lru_cache
from typing import Any

from . import extensions, signatures
from .arrays import differs_between_lanes, namespace
from .arrays.base import Namespace
from .dataclass import dataclass
from .domains import Domain, guard
from .lanes import frames
from .lanes.handing import hand_over
from .rejection import is_noted, poisoning
from .types import Parameter, Type
from .variadic import Variadic

_NUMBERS = ("float", "float64")  # of Python and NumPy


@dataclass(frozen=True, eq=False)
class Function:
    """A library function, or those overloads of one that share a body.

    `name` is Stan's; `symbol` is unique and what generated code calls. `body(xp, *args)` computes over the array
    namespace `xp` (stanlib.arrays). `operator` is the Python operator that does the same, for readable code.
    `shape_only` functions look at the shapes of their arguments alone. `random` ones take a source of random
    numbers after `xp`. `removed` names the Stan version that dropped the function, `successor` what replaces it.
    A `raw` body gets its arguments as they are given: functions that call the program's functions pass them on.
    `elementwise` says of a function of scalars that its body works component by component on arrays of one shape, and
    scalars beside them; signatures such as `R exp(T x)` say it by themselves. The body of any other function is never
    given more than the arguments of one call. One that reduces the terms of a law by `reduction`, "sum" or "prod", has
    them from its distribution.

    `by_component` says of a function of containers of one shape that it is itself applied to their components.
    `linear` names the arguments that the result is linear in while the others stay the same: ("a b",) in both
    together, ("a", "b") in each alone. `inverse` is the function that undoes it for all numbers that are not negative;
    of those that are it makes NaN. `neutral` is what changes nothing among the components that a reduction takes.
    `selects` says that the result is a part of
    the first argument, `repeats` that it is the first argument, as often as the second says. `moves` says that it
    consists of components of the arguments, in places that their sizes decide. A `first_order`
    function has no second derivatives in Stan. One that `keeps_nan` gives NaN if a number in its arguments is NaN,
    whatever the others are. `constrains` is the constraint whose transform it is, `unconstrains` the
    one whose transform it undoes.
    `variadic` says how calls with further arguments are checked; `passes` between which positions a function of
    functions finds the arguments that it passes on to that one, as its last.
    """

    name: str
    symbol: str
    texts: tuple[str, ...]
    body: Callable[..., Any]
    operator: str | None = None
    shape_only: bool = False
    sizes: tuple[str, ...] = ()  # the arguments that decide the shape of the result, so that they must be known
    random: bool = False
    raw: bool = False
    elementwise: bool = False
    reduction: str = ""
    by_component: bool = False
    linear: tuple[str, ...] = ()
    inverse: str = ""
    constrains: str = ""
    unconstrains: str = ""
    neutral: float | None = None
    selects: bool = False
    repeats: bool = False
    moves: bool = False
    keeps_nan: bool = False
    first_order: bool = False
    variadic: Variadic | None = None
    passes: tuple[int, int | None] = (1, None)
    effect: str = ""  # "jacobian" for the functions that add to the target
    domains: Mapping[str, Domain] = field(default_factory=dict)
    check: Callable[..., None] | None = None  # check(xp, *args) raises for arguments as they are given
    examples: tuple[tuple[Any, ...], ...] = ()
    removed: str = ""
    successor: str = ""
    built: bool = True
    distribution: Any = None  # the record of a distribution that this is the density, cdf or rng of
    overrides: dict[str, Callable[..., Any]] = field(default_factory=dict)

    @cached_property
    def signatures(self) -> tuple[signatures.Signature, ...]:
        return tuple(signatures.parse(t) for t in self.texts)

    @cached_property
    def checks(self) -> tuple[tuple[int, str, Domain], ...]:
        """Position, name and domain of every argument whose domain is declared."""
        if not self.domains:
            return ()
        names = self.signatures[0].argument_names
        first = 1 if self.random else 0  # the source of random numbers comes before Stan's arguments
        return tuple((names.index(n) + first, n, d) for n, d in self.domains.items() if n in names)

    @cached_property
    def shape_arguments(self) -> tuple[int, ...]:
        """The positions of the arguments that decide the shape of the result, whatever overload is meant."""
        positions = {i for s in self.signatures for i, n in enumerate(s.argument_names) if n in self.sizes}
        return tuple(sorted(positions))

    @cached_property
    def is_componentwise(self) -> bool:
        """Whether the body maps arrays of scalars component by component, as declared or as the signatures say."""
        if self.elementwise:
            return True
        texts = [s.is_componentwise for s in self.signatures]
        return any(texts) and all(c or s.is_scalar for c, s in zip(texts, self.signatures))

    @property
    def is_named(self) -> bool:
        """Whether a program can name it: names of what the compiler alone calls end in underscores."""
        return not self.name.endswith("__")

    @cached_property
    def method(self) -> str:
        """The method of the distribution that this is: "lpdf", "cdf", "rng", ..."""
        return self.name.rstrip("_").rpartition("_")[2]

    def on(self, library: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator: another body for one array library ("numpy", "jax" or "torch"), written directly below."""

        def add(body: Callable[..., object]) -> Callable[..., Any]:
            self.overrides[library] = body
            return body

        return add

    def __call__(self, *args: object) -> Any:
        if differs_between_lanes(args) or self.random and frames.current().axes:
            return hand_over("call", self, args)
        xp = namespace(args)
        if xp.LIBRARY == "numpy" or is_noted():
            return self._computed(xp, args)
        return poisoning(lambda: self._computed(xp, args))

    def _computed(self, xp: Namespace, args: tuple[object, ...]) -> Any:
        if self.raw:
            return self._of_library(xp, self.body(xp, *args), args)
        if self.check is not None:
            self.check(xp, *args)
        checked = guard(xp, self.name, args, self.checks)
        result = self.overrides.get(xp.LIBRARY, self.body)(xp, *xp.convert(checked))
        return self._of_library(xp, result, checked)

    def _of_library(self, xp: Namespace, result: Any, args: Sequence[Any]) -> object:
        """The result as operators of the library take it: what is made of tensors is one, though it be a constant.

        NumPy's arrays without axes don't stand beside tensors in an operation, its numbers do.
        """
        kind = type(result).__name__
        if xp.LIBRARY == "torch" and (kind in _NUMBERS or kind == "ndarray" and result.dtype.kind == "f"):
            return result if self.random else xp.convert((xp.asarray(result), *args))[0]
        return result[()] if kind == "ndarray" and not result.ndim else result

    def __repr__(self) -> str:
        return f"<stan function {self.symbol}>"


FUNCTIONS: dict[str, list[Function]] = {}
SYMBOLS: dict[str, Function] = {}


def stan_function(*texts: str, symbol: str = "", **options: Any) -> Callable[[Callable[..., Any]], Function]:
    """Decorator that registers a body for the overloads that the signatures stand for."""

    def register(body: Callable[..., Any]) -> Function:
        name = signatures.name_in(texts[0])
        function = Function(name, symbol or body.__name__, tuple(texts), body, **options)
        return add(function)

    return register


def variadic_function(
    name: str, variadic: Variadic | None = None, **options: object
) -> Callable[[Callable[..., Any]], Function]:
    """Decorator that registers the body of a function that takes functions and passes further arguments on to them.

    It has no signatures: `variadic` says how its calls are checked; those of the compiler's own functions are not.
    """
    passes = (1 if variadic is None else 1 + len(variadic.control), None)
    known: dict[str, Any] = {"first_order": variadic is not None, "variadic": variadic, "passes": passes}
    return lambda body: add(Function(name, name, (), body, raw=True, **(known | options)))


@cache
def variadic(name: str) -> Variadic | None:
    """How calls of a function of this Stan name are checked that passes further arguments on; None for all others."""
    load()
    records = FUNCTIONS.get(name, ())
    return next((f.variadic for f in records if f.variadic is not None), None)


def add(function: Function) -> Function:
    """Enter a record; a symbol can be taken only once."""
    if function.symbol in SYMBOLS:
        raise ValueError(f"two library functions are called {function.symbol}")
    FUNCTIONS.setdefault(function.name, []).append(function)
    SYMBOLS[function.symbol] = function
    return function


@lru_cache(maxsize=1)
def load() -> None:
    """Import every module that defines library functions or distributions, those of other packages too."""
    for package in ("functions", "distributions"):
        parent = importlib.import_module(f"stanlib.{package}")
        for module in pkgutil.iter_modules(parent.__path__):
            importlib.import_module(f"stanlib.{package}.{module.name}")
    extensions.load(lambda: [f.name for f in SYMBOLS.values()])


Candidate = tuple[Function, signatures.Overload]


@cache
def candidates(name: str) -> tuple[Candidate, ...]:
    """Every overload of a library function, with the record that implements it."""
    load()
    return tuple((f, o) for f in FUNCTIONS.get(name, ()) for s in f.signatures for o in s.overloads)


@cache
def exact(name: str) -> dict[tuple[Type, ...], Candidate]:
    """The overloads of a name by their argument types: most calls need no promotion."""
    return {c[1].types: c for c in candidates(name)}


def parameters_of(candidate: Candidate) -> tuple[Parameter, ...]:
    return candidate[1].parameters


def names(include_removed: bool = True) -> Iterable[str]:
    """The Stan names of all library functions that a program may call."""
    load()
    written = (n for n, records in FUNCTIONS.items() if records[0].is_named)
    return (n for n in written if include_removed or not all(f.removed for f in FUNCTIONS[n]))


def by_symbol(symbol: str) -> Function:
    """The record that generated code calls by this name.

    Raises:
        ImportError: for one that no installed package has.
    """
    if symbol not in SYMBOLS:
        load()
    if symbol not in SYMBOLS:
        raise ImportError(f"no installed package has the Stan function {symbol}, with which the program was translated")
    return SYMBOLS[symbol]


def is_known(name: str) -> bool:
    """Whether the library has a function of this Stan name."""
    load()
    return name in FUNCTIONS


def unbuilt(name: str) -> Function:
    """A stand-in for a function of Stan that has no record: programs that call it are refused when translated."""

    def body(xp: Namespace, *args: Any) -> Any:
        raise NotImplementedError(name)

    return Function(name, name, (), body, built=False)
