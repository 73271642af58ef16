"""Programs: functions, networks, parameters, and the bodies of the blocks."""
from __future__ import annotations

from stanlib.dataclass import dataclass
from stanlib.types import Type

from ...source import Span
from .declarations import Constraint, Sized
from .statements import Stmt


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a user's function."""

    name: str
    type: Type
    data_only: bool = False


@dataclass(frozen=True, slots=True)
class FunDef:
    """A user's function. `name` is unique among overloads, `stan_name` is the one written in the program."""

    name: str
    stan_name: str
    parameters: tuple[Parameter, ...]
    result: Type
    body: tuple[Stmt, ...]
    span: Span
    suffix: str = ""

    @property
    def is_density(self) -> bool:
        """Whether it is one, or a mass function: those of unnormalised names are their normalised ones."""
        return self.suffix in ("lpdf", "lpmf")


@dataclass(frozen=True, slots=True)
class Variable:
    """A program variable: what `module.stan` tells of it."""

    name: str
    symbol: str
    sized: Sized
    constraint: Constraint | None
    span: Span


@dataclass(frozen=True, slots=True)
class External:
    """A function that the program declares without a body: `path` is where Python finds it."""

    name: str
    path: str
    parameters: tuple[Parameter, ...]
    result: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Network(External):
    """A network: calls pass the values of `lifted` parameters, names of those of the module, behind its arguments."""

    lifted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled program: what each function of the translated module does.

    `transformed_parameters` stands inside `model` and is run again before `generated_quantities`. The `discrete`
    parameters are summed out in `model`, and drawn at the start of `generated_quantities`.
    """

    functions: tuple[FunDef, ...]
    data: tuple[Variable, ...]
    transformed_data: tuple[Stmt, ...]
    transformed_data_variables: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    transformed_parameters: tuple[Variable, ...]
    quantities: tuple[Variable, ...]
    model: tuple[Stmt, ...]
    recomputed: tuple[Stmt, ...]
    generated_quantities: tuple[Stmt, ...]
    span: Span
    guide_parameters: tuple[Variable, ...] = ()
    guide: tuple[Stmt, ...] = ()
    networks: tuple[Network, ...] = ()
    discrete: tuple[Variable, ...] = ()
    externals: tuple[External, ...] = ()
