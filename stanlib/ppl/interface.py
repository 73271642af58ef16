"""What generated code and stanlib.program call of a backend: the contract of the modules stanlib.ppl.<backend>.

`Backend` is what all have. A backend that traces control flow over dynamic values has `Traces` besides; one that runs
it in Python has `Runs`. Shapes are those of Stan's values; `Any` is a value of the backend's array library or NumPy's.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..distribution import Distribution
    from ..lanes.values import Lanes as Index
    from ..metadata import Program

State = tuple[Any, ...]


class Values(Protocol):
    """Declared variables, literals, parts of containers."""

    UNSET: None
    inf: float

    def unset(self, shape: Sequence[int], kind: str = "real") -> Any:
        """A declared variable without a value: NaN, for integers the least one."""

    def fit(self, value: Any, shape: Sequence[Any] | None) -> Any:
        """The value assigned to a variable of declared sizes, which must be the value's."""

    def array(self, items: Sequence[Any]) -> Any:
        """`{a, b, ...}`: items along a new first axis."""

    def row(self, items: Sequence[Any]) -> Any:
        """`[a, b, ...]`: a row vector, or a matrix of rows."""

    def real(self, value: Any) -> Any:
        """An integer where a real is asked for."""

    def copy(self, value: Any) -> Any:
        """An array of its own, which may be changed in place."""

    def replace_item(self, value: tuple[Any, ...], number: int, item: Any) -> tuple[Any, ...]:
        """A tuple with item `number` (from 1) replaced."""

    def span(self, lower: Any = None, upper: Any = None) -> Any:
        """The index `lower:upper`."""

    def at(self, x: Any, *indices: Any) -> Any:
        """The part of a container that 1-based, checked indices select."""

    def assign(self, x: Any, value: Any, *indices: Any, over: Any = None) -> Any:
        """The container with that part replaced; `over` is the outermost of the loops of lanes that share it."""

    def assign_in_place(self, x: Any, value: Any, *indices: Any, over: Any = None) -> None:
        """The same for an array that nobody else holds."""


class Sites(Protocol):
    """Parameters, laws, what adds to the target, what Stan rejects."""

    def parameter(self, name: str, shape: Sequence[int] = (), kind: str | None = None, **arguments: Any) -> Any:
        """A parameter from the uniform or improper law on its domain."""

    def sample(
        self, name: str, distribution: Any, shape: Sequence[int] = (), kind: str | None = None,
        event: int | None = None, **arguments: Any,
    ) -> Any:  # fmt: skip
        """A parameter from its law, in a guide one whose observations have the `event` axes of the model's."""

    def sample_unconstrained(
        self, name: str, distribution: Any, shape: Sequence[int] = (), kind: str | None = None,
        event: int | None = None, **arguments: Any,
    ) -> Any:  # fmt: skip
        """A parameter from a law of the unconstrained parameter."""

    def by_elements(
        self, density: Callable[..., Any], draw: Callable[..., Any], shape: Sequence[int], *arguments: Any
    ) -> Any:
        """The law of a parameter whose elements have laws that read others: its log density, and what draws it."""

    def param(
        self, name: str, shape: Sequence[int] = (), kind: str | None = None, init: Any = None, **arguments: Any
    ) -> Any:
        """A parameter of a guide, which inference optimises."""

    def approximate(
        self, name: str, shape: Sequence[int] = (), kind: str | None = None, event: int | None = None, **arguments: Any
    ) -> Any:
        """A parameter that a guide leaves out, from a normal law on the unconstrained scale that inference fits."""

    def observe(self, name: str, distribution: Any, value: Any) -> None:
        """`value ~ distribution`, one log density per observation."""

    def observe_terms(self, name: str, *parts: Any) -> None:
        """The same by its log densities."""

    def factor(self, name: str, value: Any) -> None:
        """`target += value`."""

    def factor_terms(self, name: str, *parts: Any) -> None:
        """All increments of one statement."""

    def deterministic(self, name: str, value: Any) -> None:
        """Record a transformed parameter."""

    def half(self, distribution: Any, lower: Any = None, upper: Any = None) -> Any:
        """One half of a symmetric law."""

    def restrict(self, distribution: Any, log_normalizer: Any, lower: Any = None, upper: Any = None) -> Any:
        """A parameter's law on its domain, by whose probability Stan does not divide."""

    def truncate(self, distribution: Any, log_normalizer: Any, lower: Any = None, upper: Any = None) -> Any:
        """`T[lower, upper]`."""

    def truncated_term(
        self, density: Any, value: Any, log_normalizer: Any, lower: Any = None, upper: Any = None
    ) -> Any:
        """The log density of a truncated law of the program."""

    def terms(self, function: Any, y: Any, *arguments: Any) -> Any:
        """A distribution function, one term per observation."""

    def total(self, term: Any) -> Any:
        """The sum of an increment's terms."""

    def join(self, parts: Sequence[Any]) -> Any:
        """The increments of the iterations of a loop in Python, as one."""

    def require(self, name: str, value: Any, kind: str | None = None, **bounds: Any) -> None:
        """The declared constraint of a transformed parameter must hold, else the draw is rejected."""

    def verify(self, name: str, value: Any, kind: str | None = None, **bounds: Any) -> None:
        """The same of transformed data or a generated quantity, else an error."""

    def message(self, *parts: Any) -> None:
        """`print`."""

    def reject(self, *parts: Any) -> None:
        """`reject`."""

    def fatal_error(self, *parts: Any) -> Any:
        """`fatal_error`."""

    def random(self) -> Any:
        """A source of random numbers."""


class Lanes(Protocol):
    """Loops whose iterations run at once, and recurrences."""

    def lanes(
        self, lower: Any, upper: Any, most: int | None = None, dense: bool = False, leading: bool = False
    ) -> AbstractContextManager[Any]:  # fmt: skip
        """A loop, whose index stands for all iterations; it is None if there are none."""

    def alike(self, *numbers: Any) -> Iterator[None]:
        """One round for each choice of the numbers that decide shapes."""

    def when(self, condition: Any) -> AbstractContextManager[bool]:
        """The lanes in which a condition holds, and whether there are any."""

    def unless(self, condition: Any) -> AbstractContextManager[bool]:
        """Those in which it does not, likewise."""

    def merge(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """In each lane the value of the side that it took."""

    def each(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A function of the program in every lane."""

    def each_random(self, random: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        """The same of one that draws random numbers."""

    def spread(self, term: Any) -> Any:
        """An increment with an entry for every lane."""

    def add_to(self, total: Any, value: Any, loop: Index) -> Any:
        """`total += value` of all lanes."""

    def add_at(self, x: Any, value: Any, *indices: Any, loop: Index, over: Any = None) -> Any:
        """`x[indices] += value` of all lanes."""

    def padded(self, x: Any, lower: Any, upper: Any, fill: float) -> Any:
        """A range of varying length, filled up to the longest."""

    def widest(self, size: Any) -> int:
        """The largest of the sizes that an array has in all lanes."""

    def last(self, value: Any, loop: Index) -> Any:
        """The value that the last lane has."""

    def running_sum(self, first: Any, value: Any, loop: Index) -> Any:
        """In each lane the sum up to its own value."""

    def previous(self, x: Any, *indices: Any) -> Any:
        """A part of a container as a recurrence finds it before its first iteration."""

    def recur(self, loop: Index, step: Callable[..., Any], carry: State, inputs: State, adds: bool = False) -> Any:
        """A recurrence over the lanes of a loop, whose steps add to the target or not."""


class Backend(Values, Sites, Lanes, Protocol):
    """What every backend has. stanlib.program calls the methods here."""

    TRAINED: str  # what to do about a network without trained weights, by its name

    def choose(self, condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """`condition ? then : otherwise`."""

    def logical_and(self, left: Any, right: Callable[[], Any]) -> Any:
        """`left && right`."""

    def logical_or(self, left: Any, right: Callable[[], Any]) -> Any:
        """`left || right`."""

    def enter(self, program: Program) -> None:
        """A model, or its quantities, begins to run."""

    def draw(self, value: Any) -> Any:
        """A parameter's value as generated quantities compute with it."""

    def reject_draws(self, flag: Any) -> None:
        """The log density is -inf if the flag is true."""

    def make_distribution(self, record: Distribution, arguments: Sequence[Any]) -> Any:
        """The backend's distribution of a law of the library."""

    def call_network(
        self, network: Any, module: Any, inputs: Sequence[Any], lifted: Mapping[str, Any]
    ) -> Any:
        """The output of a network."""


class Traces(Backend, Protocol):
    """A backend that traces control flow over dynamic values."""

    def cond(
        self, condition: Any, then: Callable[..., State], otherwise: Callable[..., State], state: State = ()
    ) -> State:
        """A branch, as two functions of explicit state."""

    def for_loop(
        self, lower: Any, upper: Any, body: Callable[..., State], state: State = (), outputs: int = 0,
        most: int | None = None,
    ) -> State:  # fmt: skip
        """A loop over a range, whose body is a function of the index and the state."""

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., State], state: State) -> State:
        """A loop of unknown length."""

    def most(self, counts: Iterable[Any]) -> int:
        """The largest number of iterations that an inner loop can have."""

    def predictor(self, coefficients: Sequence[Any], columns: Sequence[Any], *rest: Any) -> Any:
        """A sum of columns of data times coefficients, as one product."""


class Runs(Backend, Protocol):
    """A backend whose control flow is Python's, on tensors that are known while it runs."""

    def tensor(self, value: Any) -> Any:
        """Data as a tensor, where a variable will depend on parameters."""

    def bound(self, function: Callable[..., Any], sites: Any) -> Any:
        """A bound of a parameter that depends on other parameters."""

    def decided(self, condition: Any) -> Any:
        """A condition that Python branches on."""
