"""How calls of higher-order functions are checked that pass further arguments on to the function they are given.

Source: Stan Functions Reference, "Higher-Order Functions". Each is called as `name(f, control..., further...)`, and
calls `f(required..., further...)`.
"""
from __future__ import annotations

from .dataclass import dataclass
from .types import Parameter, Type


@dataclass(frozen=True)
class Variadic:
    """What a variadic function takes behind the function, what it calls it with, and both results.

    `kind` says by which rules: "" for these, "reduce_sum" (the first argument is an array of anything, of which the
    function gets slices), "laplace" (likelihood and covariance have tuples of arguments, `control` is a tuple;
    `likelihood` holds the arguments of one that is built in). A function that is `data_only` has no derivatives.
    """

    result: Type
    control: tuple[Parameter, ...]
    required: tuple[Parameter, ...]
    function_result: Type
    kind: str = ""
    likelihood: tuple[Parameter, ...] | None = None
    data_only: bool = False


def data(*types: Type) -> tuple[Parameter, ...]:
    return tuple(Parameter(t, True) for t in types)


def values(*types: Type) -> tuple[Parameter, ...]:
    return tuple(Parameter(t) for t in types)
