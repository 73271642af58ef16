"""What generated code and stanlib.program call of a backend: the contract of the modules stanlib.ppl.<backend>.

`Backend` is what all have. A backend that traces control flow over dynamic values has `Traces` besides; one that runs
it in Python has `Runs`. Shapes are those of Stan's values.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from ..arrays.base import Array
    from ..distribution import Distribution
    from ..lanes.values import Lanes as Index
    from ..metadata import Program

# of Stan's: an array of the backend's library or NumPy's, a number, a tuple, an array of tuples, or one per lane
Value: TypeAlias = "Array | complex | tuple[Value, ...] | list[Value] | Index"
State = tuple["Value", ...]


class Values(Protocol):
    """Declared variables, literals, parts of containers."""

    UNSET: None
    inf: float

    def unset(self, shape: Sequence[int], kind: str = "real") -> Value:
        """A declared variable without a value: NaN, for integers the least one."""

    def fit(self, value: Any, shape: Sequence[Any] | None, in_results: bool = False) -> Any:
        """The value assigned to a variable of declared sizes, which must be the value's."""

    def array(self, items: Sequence[Value]) -> Value:
        """`{a, b, ...}`: items along a new first axis."""

    def row(self, items: Sequence[Value]) -> Value:
        """`[a, b, ...]`: a row vector, or a matrix of rows."""

    def real(self, value: Value) -> Value:
        """An integer where a real is asked for."""

    def copy(self, value: Value) -> Value:
        """An array of its own, which may be changed in place."""

    def replace_item(self, value: tuple[Value, ...], number: int, item: Value) -> tuple[Value, ...]:
        """A tuple with item `number` (from 1) replaced."""

    def span(self, lower: Value | None = None, upper: Value | None = None) -> object:
        """The index `lower:upper`."""

    def at(self, x: Value, *indices: Value) -> Value:
        """The part of a container that 1-based, checked indices select."""

    def assign(
        self, x: Value, value: Value, *indices: Value, over: Index | None = None, reached: Value | None = None
    ) -> Value:
        """The container with that part replaced; `over` is the outermost of the loops of lanes that share it.

        Lanes in which `reached` is 0 may have indices that are out of range: then they write nothing.
        """

    def assign_in_place(
        self, x: Value, value: Value, *indices: Value, over: Index | None = None, reached: Value | None = None
    ) -> None:
        """The same for an array that nobody else holds."""


class Sites(Protocol):
    """Parameters, laws, what adds to the target, what Stan rejects."""

    def parameter(self, name: str, shape: Sequence[int] = (), kind: str | None = None, **arguments: Any) -> Value:
        """A parameter from the uniform or improper law on its domain."""

    def sample(
        self, name: str, distribution: object, shape: Sequence[int] = (), kind: str | None = None,
        event: int | None = None, **arguments: Any,
    ) -> Value:  # fmt: skip
        """A parameter from its law, in a guide one whose observations have the `event` axes of the model's."""

    def sample_unconstrained(
        self, name: str, distribution: object, shape: Sequence[int] = (), kind: str | None = None,
        event: int | None = None, **arguments: Any,
    ) -> Value:  # fmt: skip
        """A parameter from a law of the unconstrained parameter."""

    def by_elements(
        self, density: Callable[..., object], draw: Callable[..., object], shape: Sequence[int], *arguments: Value
    ) -> object:
        """The law of a parameter whose elements have laws that read others: its log density, and what draws it."""

    def param(
        self, name: str, shape: Sequence[int] = (), kind: str | None = None, init: Value | None = None,
        complex: bool = False, **arguments: Any,
    ) -> Value:  # fmt: skip
        """A parameter of a guide, which inference optimises."""

    def approximate(
        self, name: str, shape: Sequence[int] = (), kind: str | None = None, event: int | None = None, **arguments: Any
    ) -> Value:
        """A parameter that a guide leaves out, from a normal law on the unconstrained scale that inference fits."""

    def observe(self, name: str, distribution: object, value: Value) -> None:
        """`value ~ distribution`, one log density per observation."""

    def observe_terms(self, name: str, *parts: object) -> None:
        """The same by its log densities."""

    def observe_sums(self, name: str, *parts: object) -> None:
        """The same by sums, of the log densities of several observations each."""

    def observe_units(self, name: str, *parts: object) -> None:
        """The same by sums, of the log densities of what hangs together by discrete parameters."""

    def place(self, name: str, *parts: object) -> None:
        """The outcomes of which a site has log densities, in the order of these."""

    def factor(self, name: str, value: Value) -> None:
        """`target += value`."""

    def factor_terms(self, name: str, *parts: object) -> None:
        """All increments of one statement."""

    def deterministic(self, name: str, value: Value) -> None:
        """Record a transformed parameter."""

    def transformed(self, name: str, value: Value) -> None:
        """The same in generated quantities, which it stays outside of where Stan throws in them."""

    def discrete(self, name: str, drawn: Value) -> Value:
        """The site of a discrete parameter that was drawn: what handlers give it, or the same object."""

    def half(self, distribution: object, lower: Value | None = None, upper: Value | None = None) -> object:
        """One half of a symmetric law."""

    def restrict(
        self, distribution: object, log_normalizer: Value, lower: Value | None = None, upper: Value | None = None
    ) -> object:
        """A parameter's law on its domain, by whose probability Stan does not divide."""

    def truncate(
        self, distribution: object, log_normalizer: Value, lower: Value | None = None, upper: Value | None = None
    ) -> object:
        """`T[lower, upper]`."""

    def truncated_term(
        self, density: object, value: Value, log_normalizer: Value, lower: Value | None = None,
        upper: Value | None = None,
    ) -> Value:  # fmt: skip
        """The log density of a truncated law of the program."""

    def terms(self, function: object, y: Value, *arguments: Value) -> Value:
        """A distribution function, one term per observation."""

    def total(self, term: Value) -> Value:
        """The sum of an increment's terms."""

    def join(self, parts: Sequence[Value]) -> Value:
        """The increments of the iterations of a loop in Python, as one."""

    def require(self, name: str, value: Value, kind: str | None = None, **bounds: object) -> None:
        """The declared constraint of a transformed parameter must hold, else the draw is rejected."""

    def verify(self, name: str, value: Value, kind: str | None = None, **bounds: object) -> None:
        """The same of transformed data or a generated quantity, else an error."""

    def message(self, *parts: object) -> None:
        """`print`."""

    def reject(self, *parts: object) -> None:
        """`reject`."""

    def fatal_error(self, *parts: object) -> object:
        """`fatal_error`."""

    def random(self) -> object:
        """A source of random numbers."""


class Lanes(Protocol):
    """Loops whose iterations run at once, and recurrences."""

    def lanes(
        self, lower: Value, upper: Value, most: int | None = None, dense: bool = False, leading: bool = False
    ) -> AbstractContextManager[Index | None]:  # fmt: skip
        """A loop, whose index stands for all iterations; it is None if there are none."""

    def alike(self, *numbers: Value) -> Iterator[None]:
        """One round for each choice of the numbers that decide shapes."""

    def when(self, condition: Value) -> AbstractContextManager[bool]:
        """The lanes in which a condition holds, and whether there are any."""

    def unless(self, condition: Value) -> AbstractContextManager[bool]:
        """Those in which it does not, likewise."""

    def merge(self, condition: Value, then: Value, otherwise: Value) -> Value:
        """In each lane the value of the side that it took."""

    def each(self, function: Callable[..., object], *arguments: Value) -> Value:
        """A function of the program in every lane."""

    def each_random(self, random: object, function: Callable[..., object], *arguments: Value) -> Value:
        """The same of one that draws random numbers."""

    def spread(self, term: Value) -> Value:
        """An increment with an entry for every lane."""

    def add_to(self, total: Value, value: Value, loop: Index) -> Value:
        """`total += value` of all lanes."""

    def add_at(self, x: Value, value: Value, *indices: Value, loop: Index, over: Index | None = None) -> Value:
        """`x[indices] += value` of all lanes."""

    def padded(self, x: Value, lower: Value, upper: Value, fill: float) -> Value:
        """A range of varying length, filled up to the longest."""

    def widest(self, size: Value) -> int:
        """The largest of the sizes that an array has in all lanes."""

    def last(self, value: Value, loop: Index) -> Value:
        """The value that the last lane has."""

    def running_sum(self, first: Value, value: Value, loop: Index) -> Value:
        """In each lane the sum up to its own value."""

    def unbroken(self, value: Value, loop: Index) -> Value:
        """In each lane its value, NaN where that of a lane before is negative."""

    def at_any(self, x: Value, *indices: Value) -> Value:
        """A part of a container as an iteration of a recurrence finds it, any other one where that lies outside."""

    def previous(self, x: Value, *indices: Value) -> Value:
        """A part of a container as a recurrence finds it before its first iteration."""

    def recur(
        self, loop: Index, step: Callable[..., tuple[State, State]], carry: State, inputs: State, adds: bool = False,
        known: bool = False,
    ) -> Value:  # fmt: skip
        """A recurrence over the lanes of a loop, whose steps add to the target or not; `known`, of data alone."""


class Backend(Values, Sites, Lanes, Protocol):
    """What every backend has. stanlib.program calls the methods here."""

    TRAINED: str  # what to do about a network without trained weights, by its name

    def choose(self, condition: Value, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """`condition ? then : otherwise`."""

    def logical_and(self, left: Value, right: Callable[[], Value]) -> Value:
        """`left && right`."""

    def logical_or(self, left: Value, right: Callable[[], Value]) -> Value:
        """`left || right`."""

    def run(self, program: Program, once: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What a model or guide returns, whose run is `once`."""

    def given_names(self, without_sites: Sequence[str] = ()) -> set[str]:
        """The names to whose sites handlers around give values, or would give some that have none."""

    def run_quantities(self, program: Program, once: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What generated quantities return."""

    def draw(self, value: object) -> Any:
        """A parameter's value as generated quantities compute with it."""

    def reject_draws(self, flag: object) -> None:
        """The log density is -inf if the flag is true."""

    def make_distribution(self, record: Distribution, arguments: Sequence[Value]) -> object:
        """The backend's distribution of a law of the library."""

    def call_network(
        self, network: Any, module: object, inputs: Sequence[Value], lifted: Mapping[str, object]
    ) -> Value:
        """The output of a network."""


class Traces(Backend, Protocol):
    """A backend that traces control flow over dynamic values."""

    def cond(
        self, condition: Value, then: Callable[..., State], otherwise: Callable[..., State], state: State = ()
    ) -> State:
        """A branch, as two functions of explicit state."""

    def for_loop(
        self, lower: Value, upper: Value, body: Callable[..., State], state: State = (), outputs: int = 0,
        most: int | None = None,
    ) -> State:  # fmt: skip
        """A loop over a range, whose body is a function of the index and the state."""

    def while_loop(self, condition: Callable[..., object], body: Callable[..., State], state: State) -> State:
        """A loop of unknown length."""

    def most(self, counts: Iterable[Callable[[], Value]]) -> int:
        """The largest number of iterations that an inner loop can have, of those that can be told."""

    def counted(self, indices: Callable[[], range]) -> range:
        """The indices of a loop inside another one, none where they can't be told."""

    def predictor(self, coefficients: Sequence[Value], columns: Sequence[Value], *rest: object) -> Value:
        """A sum of columns of data times coefficients, as one product."""


class Runs(Backend, Protocol):
    """A backend whose control flow is Python's, on tensors that are known while it runs."""

    def tensor(self, value: Value) -> Value:
        """Data as a tensor, where a variable will depend on parameters."""

    def bound(self, function: Callable[..., object], parameters: Mapping[str, object]) -> object:
        """A bound of a parameter that depends on other parameters."""

    def decided(self, condition: Value) -> Value:
        """A condition that Python branches on."""
