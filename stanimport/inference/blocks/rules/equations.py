"""Equations of a traced function, as the rules look at them."""
from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Union

import numpy as np

from ..steps import Arrays, Input, Step

Rule = Callable[[Any, Sequence[Input], Collection[int]], Union[Step, None]]


def function_of(e: Any, **changed: Any) -> Callable[..., Arrays]:
    """The function of an equation, with some of its parameters changed."""
    def run(*given: Any) -> Arrays:
        out = e.primitive.bind(*given, **{**e.params, **changed})
        return list(out) if e.primitive.multiple_results else [out]

    return run


def shape_of(e: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = e.outvars[0].aval.shape
    return shape


def kind_of(e: Any) -> str:
    return np.dtype(e.outvars[0].aval.dtype).kind


def with_size(shape: Sequence[int], axis: int, n: int) -> tuple[int, ...]:
    return (*shape[:axis], n, *shape[axis + 1 :])
