"""Functions that JAX traces once and runs many times."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from ...lifted import lifting
from .liveness import reached


class Traced:
    """A function that is traced now, for arguments of these shapes and types, and never again.

    Loops and branches look at their bodies before they run them. Were these traced anew each time, that would double
    with every loop and branch around them.

    Attributes:
        results: the shapes and types of what it returns.
        jaxpr: its equations.
        given: the values that it refers to, traced ones among them.
    """

    def __init__(self, function: Callable[..., object], *arguments: object):
        with lifting():
            closed, self.results = jax.make_jaxpr(function, return_shape=True)(*arguments)
        self.jaxpr, self.given = closed.jaxpr, list(closed.consts)
        self._tree = jax.tree_util.tree_structure(self.results)

    @property
    def operations(self) -> int:
        """How many operations it has, with those of the functions, branches and loops inside."""
        return _operations(self.jaxpr)

    def __call__(self, *arguments: object) -> Any:
        return self.on(self.given, *arguments)

    def reached(self, outputs: Sequence[bool]) -> tuple[list[bool], list[bool]]:
        """Through which of what it refers to, and of its arguments' leaves, derivatives flow to some results."""
        return reached(self.jaxpr, outputs)

    def on(self, given: Sequence[object], *arguments: object) -> Any:
        """The results where it refers to other values of the same shapes and types."""
        leaves = jax.tree_util.tree_leaves(arguments)
        return self.rebuilt(jax.core.eval_jaxpr(self.jaxpr, given, *leaves))

    def rebuilt(self, leaves: Sequence[object]) -> Any:
        """The results from their arrays."""
        return jax.tree_util.tree_unflatten(self._tree, leaves)


def _operations(jaxpr: Any) -> int:
    return sum(sum(map(_operations, _inside(e))) or 1 for e in jaxpr.eqns)


def _inside(equation: Any) -> Iterator[Any]:
    """What an equation runs: the bodies of functions, branches and loops."""
    for value in equation.params.values():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            body = getattr(part, "jaxpr", part)  # of a closed one
            if hasattr(body, "eqns"):
                yield body
