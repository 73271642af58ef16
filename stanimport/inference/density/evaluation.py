"""Value and gradient of a posterior at a point, outside of any compiled program."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..programs import Program

Evaluator = Callable[[np.ndarray], tuple[Any, Any]]


class Evaluated:
    """What a posterior evaluates its density by: a program of its own, or one that a sampler has compiled anyway.

    Attributes:
        unconstraining: the programs that unconstrain values of parameters, by the names of those given.
    """

    unconstraining: dict[Any, Program]
    _evaluator: Evaluator | None = None

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
        raise NotImplementedError
