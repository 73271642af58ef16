"""Equations of a traced function, as the rules look at them."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, Union

import numpy as np

from ..steps import Arrays, Input, Step


class Primitive(Protocol):
    """What an equation computes."""

    name: str
    multiple_results: bool

    def bind(self, *values: Any, **parameters: Any) -> Any: ...


class Equation(Protocol):
    """An equation of a traced function, as JAX has them: its primitive, parameters and results."""

    primitive: Primitive
    params: Mapping[str, Any]
    outvars: Sequence[Any]


Rule = Callable[[Equation, Sequence[Input], Collection[int]], Union[Step, None]]


def function_of(e: Equation, **changed: object) -> Callable[..., Arrays]:
    """The function of an equation, with some of its parameters changed."""
    def run(*given: object) -> Arrays:
        out = e.primitive.bind(*given, **{**e.params, **changed})
        return list(out) if e.primitive.multiple_results else [out]

    return run


def shape_of(e: Equation) -> tuple[int, ...]:
    shape: tuple[int, ...] = e.outvars[0].aval.shape
    return shape


def kind_of(e: Equation) -> str:
    kind: str = np.dtype(e.outvars[0].aval.dtype).kind
    return kind


def with_size(shape: Sequence[int], axis: int, n: int) -> tuple[int, ...]:
    return (*shape[:axis], n, *shape[axis + 1 :])
