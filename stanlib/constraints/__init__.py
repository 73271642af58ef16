"""One record per constraint of Stan: transform, its log Jacobian, inverse, and test of membership.

A constrained parameter is sampled as an unconstrained array: `constrain` maps that to the constrained value, with
`log_jacobian` the logarithm of the absolute determinant of its Jacobian. Everything works on the last `event_dims`
axes; axes in front are array dimensions. Source: Stan Reference Manual, "Constraint Transforms", version 2.39.
"""
from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..arrays.base import Array, Namespace
from ..dataclass import dataclass

if TYPE_CHECKING:
    from ..random.base import Random


@dataclass(frozen=True, eq=False)
class Constraint:
    """A constraint that a type declares.

    `constrain(xp, x, *arguments)` gives value and log Jacobian, one per event; `unconstrain(xp, y, *arguments)` the
    inverse; `check(xp, y, *arguments)` whether y satisfies it, one truth value per event; `free_shape(shape,
    *arguments)` the shape of the unconstrained array for a value of shape `shape` (of its last `event_dims` axes).
    `description` is what error messages call it. `value` and `jacobian` give value and log Jacobian each by itself,
    where one costs less than both.

    A constrained type is declared by its `name`: `base` is the type of its values ("vector", "matrix", or "" for
    bounds, which are no types), `sizes` the numbers of sizes that a declaration may have (one size of a matrix is that
    of a square one), `interval` the bounds of the components. `is_sized` where the free values don't tell the size of
    the constrained one: rows and columns are then arguments. Parameters have at least the `least_sizes` (0 if there are
    none), and no more columns than rows where `is_tall`. `within` is the constrained type that has all its values,
    `reasons` says of one value what is wrong with it. `uniform(xp, random, shape)` draws from the uniform law on the
    values of a shape, where they have a finite volume. `start` is what free components of a feasible value are.
    """

    name: str
    description: str
    event_dims: int
    free_dims: int
    constrain: Callable[..., tuple[Array, Array]]
    unconstrain: Callable[..., Array]
    check: Callable[..., Any]
    free_shape: Callable[..., tuple[int, ...]]
    arguments: tuple[str, ...] = ()
    base: str = ""
    sizes: tuple[int, ...] = ()
    interval: tuple[float | None, float | None] = (None, None)
    is_sized: bool = False
    least_sizes: tuple[int, ...] = ()
    is_tall: bool = False
    within: str = ""
    reasons: Callable[[ModuleType, Any], Iterator[str]] | None = None
    uniform: Callable[[Namespace, Random, tuple[int, ...]], Array] | None = None
    start: float = 0.0
    value: Callable[..., Array] | None = None
    jacobian: Callable[..., Array] | None = None

    def sizes_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """What all functions of the record take beside a value of that shape: its rows and columns, or nothing."""
        return tuple(shape[-2:]) if self.arguments == ("rows", "cols") else ()

    @property
    def is_square(self) -> bool:
        """Whether its values are square matrices."""
        return self.base == "matrix" and self.sizes == (1,)

    def has_all_of(self, name: str) -> bool:
        """Whether all values of the constrained type of that name are of this one."""
        return name == self.name or name in CONSTRAINTS and CONSTRAINTS[name].within == self.name

    def constrained(self, xp: Namespace, x: Array, *arguments: Array) -> Array:
        """The value alone."""
        return self.constrain(xp, x, *arguments)[0] if self.value is None else self.value(xp, x, *arguments)

    def log_jacobian(self, xp: Namespace, x: Array, *arguments: Array) -> Array:
        """The log Jacobian alone."""
        return self.constrain(xp, x, *arguments)[1] if self.jacobian is None else self.jacobian(xp, x, *arguments)


CONSTRAINTS: dict[str, Constraint] = {}
BOUNDS, AFFINE = PLAIN = ("bounds", "offset_multiplier")  # of the elements of a type: they are no types themselves


def add(constraint: Constraint) -> Constraint:
    CONSTRAINTS[constraint.name] = constraint
    return constraint


@lru_cache(maxsize=1)
def load() -> None:
    """Import the modules of this package: they define the records."""
    for module in pkgutil.iter_modules(__path__):
        if module.name != "reasons":  # it is about values, and loads NumPy
            importlib.import_module(f"{__name__}.{module.name}")


def get(name: str) -> Constraint:
    """The record of a constraint: "lower", "upper", BOUNDS, AFFINE, "simplex", ..."""
    load()
    return CONSTRAINTS[name]


def types() -> tuple[Constraint, ...]:
    """The records of the constrained types."""
    load()
    return tuple(c for c in CONSTRAINTS.values() if c.base)


@lru_cache(maxsize=1)
def words() -> dict[str, tuple[str, ...]]:
    """What stands in the angle brackets of declarations, in stanc's order, by the kind of constraint that it makes."""
    return {BOUNDS: get("lower_upper").arguments, AFFINE: get(AFFINE).arguments}


def all_words() -> tuple[str, ...]:
    """Those of all kinds."""
    return tuple(word for of_kind in words().values() for word in of_kind)
