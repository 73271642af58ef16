"""What is in scope at a place of a random program, and what may be done there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from .choices import Choices
from .kinds import Kind
from .names import Names


@dataclass(frozen=True)
class Variable:
    """A variable in scope.

    Attributes:
        low, high: of an int or an array of ints, what no component leaves.
        data: whether stanc takes it where data are asked for.
        static: whether its value depends on data alone.
        assignable: whether statements may change it.
    """

    name: str
    kind: Kind
    low: int = 0
    high: int = 0
    data: bool = False
    static: bool = False
    assignable: bool = False


@dataclass(frozen=True)
class Signature:
    """A function that the program defines: `data` tells of each argument whether it must be data; one that draws
    random numbers may be `certain`.
    """

    name: str
    arguments: tuple[Kind, ...]
    data: tuple[bool, ...]
    result: Kind | None
    suffix: str = ""
    bounds: tuple[tuple[int, int], ...] = ()  # of its arguments that are ints
    certain: bool = False


@dataclass
class Place:
    """A place in the program: variables, functions, and what control flow surrounds it.

    Attributes:
        block: "transformed data", "transformed parameters", "model", "generated quantities" or "function".
        dynamic: whether parameters decide if this place is reached.
        loops: how many loops are around it, and `breakable` whether `break` and `continue` may stand here.
        escapes: whether a `break`, `continue` or `return` may depend on parameters here.
        budget: how many times more a loop may multiply what is run.
        features: what the program may contain.
        target, jacobian, random: whether statements may add to the target, to the Jacobian, and draw random numbers.
        outermost: whether what is declared here is a transformed parameter.
    """

    choices: Choices
    names: Names
    features: frozenset[str]
    block: str = "model"
    variables: list[Variable] = field(default_factory=list)
    functions: list[Signature] = field(default_factory=list)
    solvers: list[Callable[["Place", int], str]] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    dynamic: bool = False
    loops: int = 0
    breakable: bool = False
    escapes: bool = False
    budget: int = 60
    result: Kind | None = None
    returns: bool = False
    target: bool = False
    jacobian: bool = False
    random: bool = False
    outermost: bool = False
    unbounded: bool = True  # no parameter has a transform, so that target() is the same on both scales

    def inner(self, **changes: object) -> "Place":
        """A place inside this one: what it declares is not seen outside."""
        changes = {"outermost": False, **changes}
        return replace(self, variables=list(self.variables), **changes)  # type: ignore[arg-type]

    def add(self, variable: Variable) -> Variable:
        self.variables.append(variable)
        return variable

    def having(self, test: Callable[[Variable], bool]) -> list[Variable]:
        return [v for v in self.variables if test(v)]

    def of(self, kind: Kind, data: bool = False) -> list[Variable]:
        return [v for v in self.variables if v.kind == kind and (v.data or not data)]

    @property
    def data_only(self) -> bool:
        return self.block == "transformed data"

    @property
    def draws(self) -> bool:
        """Whether random numbers may be drawn here."""
        return self.random and "rng" in self.features

    @property
    def static(self) -> bool:
        """Whether a variable that is assigned here depends on data alone, if what is assigned does."""
        return not (self.dynamic or self.escapes)

    @contextmanager
    def restricted(self, test: Callable[[Variable], bool]) -> Iterator[None]:
        """Only some of the variables are seen for a while."""
        before = self.variables
        self.variables = [v for v in before if test(v)]
        try:
            yield
        finally:
            self.variables = before


def size(place: Place, n: int) -> str:
    """A size as text: a literal, one of the program's that is as large, or what these decide."""
    c = place.choices
    known = [name for name, value in place.sizes.items() if value == n]
    text = c.pick([str(n), *known, *known])
    if not place.sizes or not c.chance(8):
        return text
    name, value = c.pick(list(place.sizes.items()))
    bound, other = c.between(0, 3), c.pick([str(n + 1), "0", *place.sizes])
    return f"({name} > {bound} ? {text} : {other})" if value > bound else f"({name} > {bound} ? {other} : {text})"
