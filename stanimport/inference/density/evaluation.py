"""What methods of inference ask of a posterior: its compiled programs, by their roles, and its gradient among them."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from stanlib.errors import StanDataError

from .. import tuples

if TYPE_CHECKING:
    from ..executables import Executable
    from ..programs import Program

Evaluator = Callable[[np.ndarray], tuple[Any, Any]]
Role = tuple[object, ...]  # what a program computes of its posterior: with the data it tells the program
Ready = tuple["Program | Executable", Any]  # a program, and what its user has to know beside it


class Traceable(Protocol):
    """A posterior whose model can be traced, and the programs that were made of it."""

    made: dict[Role, Ready]

    def compiled_gradient(self, jacobian: bool) -> Program:
        """The program of `Evaluated.gradient`, whose compilation begins."""


P = TypeVar("P", bound=Traceable)


class Evaluated(Generic[P]):
    """A posterior by its compiled programs: those that it has made, or that another process has left.

    Attributes:
        key: by what it is remembered; None if it is not.
        names, constrained_shapes: as they are of `Posterior`.
    """

    names: list[str]
    constrained_shapes: dict[str, tuple[int, ...]]

    key: bytes | None = None
    _evaluator: Evaluator | None = None

    def entry(self, role: Role) -> Ready | None:
        """The program of a role, if it is there."""
        raise NotImplementedError

    def traced(self) -> P:
        """The posterior whose model can be traced."""
        raise NotImplementedError

    def prepared(self, role: Role, make: Callable[[P], Program]) -> Program | Executable:
        """The program of a role; made of the posterior whose model can be traced, if it is not there."""
        found = self.entry(role)
        if found is None:
            traced = self.traced()
            found = traced.made[role] = make(traced), None
        return found[0]

    def of_draws(self, draws: Mapping[str, object], lead: int = 2) -> dict[str, Any]:
        """The arrays of the parameters' sites from draws of the program's variables.

        Parameters of no entries, of which files of draws say nothing, need none.

        Args:
            lead: the number of axes of draws, which come first.

        Raises:
            StanDataError: if there are none of a parameter.
        """
        found = tuples.parted(draws, self.names)
        count = next((np.shape(v)[:lead] for v in found.values()), (0,) * lead)
        empty = {n: np.zeros(count + s) for n, s in self.constrained_shapes.items() if 0 in s and n not in found}
        values = {**found, **empty}
        lacking = next((n for n in self.names if n not in values), None)
        if lacking is not None:
            raise StanDataError(f"the draws lack parameter {lacking.removesuffix('.real')}", lacking)
        return {n: values[n] for n in self.names}

    def gradient(self, jacobian: bool) -> Program | Executable:
        """The program of the log density of a point and of its gradient."""
        return self.prepared(("gradient", jacobian), lambda posterior: posterior.compiled_gradient(jacobian))

    def value_and_grad(self, point: np.ndarray) -> tuple[Any, Any]:
        """The log density of a point with the Jacobian, and its gradient."""
        return (self._evaluator or self.compile_gradient())(point)

    def compile_gradient(self) -> Evaluator:
        """Begin to compile the program for `value_and_grad`, unless there is one."""
        if self._evaluator is None:
            self._evaluator = self._own_evaluator()
        return self._evaluator

    def evaluate_by(self, evaluator: Evaluator | None) -> None:
        """Let another program do it that computes both: one less to compile. None for one of its own again."""
        self._evaluator = evaluator

    def _own_evaluator(self) -> Evaluator:
        return self.gradient(jacobian=True)
