"""Types with sizes, constraints, distributions."""
from __future__ import annotations

from typing import Union

from stanlib.dataclass import dataclass
from stanlib.registry import Function
from stanlib.types import Type

from .expressions import Expr


@dataclass(frozen=True, slots=True)
class Sized:
    """A type and its sizes: one for each axis of the array that holds it; for tuples, the items' instead.

    An array of tuples has the array's own sizes in `shape` and the items in `items`.
    """

    type: Type
    shape: tuple[Expr, ...] = ()
    items: tuple["Sized", ...] = ()


@dataclass(frozen=True, slots=True)
class Unset(Expr):
    """What a variable of these sizes holds before its first value."""

    sized: Sized


@dataclass(frozen=True, slots=True)
class Fitted(Expr):
    """A value, checked against the sizes that a variable, or an item of one, was declared with.

    A local variable without elements takes a value of any size; one that is `in_results` of its block does not.
    """

    value: Expr
    sized: Sized
    in_results: bool = False


@dataclass(frozen=True, slots=True)
class Constraint:
    """`kind` is one of stanlib.constraints.PLAIN, or the name of the constrained type ("simplex", ...); "tuple" holds
    one constraint per item."""

    kind: str
    arguments: tuple[tuple[str, Expr], ...] = ()
    items: tuple["Constraint | None", ...] = ()

    def argument(self, name: str) -> Expr | None:
        return dict(self.arguments).get(name)


@dataclass(frozen=True, slots=True)
class Distribution:
    """The right side of `~`: a family of the library, or a user's density by unique name.

    `lpdf` is the record or unique name of the density; `lower` and `upper` truncate it, `lcdf` and `lccdf` are the
    functions that normalise the truncated density. With `on_domain` it is the domain of a parameter that truncates its
    law, by whose probability Stan does not divide. Where the translation made the density, `drawn_by` is what draws.
    """

    family: str
    lpdf: Union[Function, str]
    arguments: tuple[Expr, ...]
    lower: Expr | None = None
    upper: Expr | None = None
    lcdf: Union[Function, str, None] = None
    lccdf: Union[Function, str, None] = None
    on_domain: bool = False
    drawn_by: str | None = None

    @property
    def is_half(self) -> bool:
        """Whether the domain leaves one half of a symmetric law, so that no function need normalise it."""
        return self.on_domain and self.lcdf is None and self.lccdf is None
