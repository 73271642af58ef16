"""What the type checker knows at a place of the program: variables, functions, block, enclosing function and loops.

Source: Stan Reference Manual, "Program Blocks" and "Scope"; stanc's rules for what may be used where.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from stanlib import registry
from stanlib.dataclass import dataclass
from stanlib.types import VOID, Function, Level, Parameter, Tuple, Type, is_discrete, unwind

from ...errors import nearest
from ...ir.fresh import Fresh
from ...source import Span

# Blocks in which values may depend on parameters.
_AUTODIFF = {
    "parameters", "transformed parameters", "model", "functions", "guide parameters", "guide", "networks",
}  # fmt: skip


@dataclass(frozen=True)
class Variable:
    """A variable in scope. `block` is where it was declared; arguments of functions are of block "functions"."""

    name: str
    symbol: str
    type: Type
    block: str
    span: Span
    is_global: bool = False
    read_only: bool = False
    data_only: bool = False


@dataclass(frozen=True)
class UserFunction:
    """A user's function (or network), one per overload. `key` is unique; not yet defined if only declared.

    `adds`: whether its text increments the Jacobian.
    """

    name: str
    key: str
    type: Function
    span: Span
    defined: bool
    network: bool = False
    adds: bool = False


@dataclass(frozen=True)
class Place:
    """Where the checker is: block, enclosing function, loops, and whether in the sizes of a program variable."""

    block: str
    function: UserFunction | None = None
    loops: int = 0
    in_sizes: bool = False

    @property
    def suffix(self) -> str:
        return self.function.type.suffix if self.function is not None else ""

    def in_loop(self) -> "Place":
        return replace(self, loops=self.loops + 1)


@dataclass
class Scope:
    """The names of one block, and those of the blocks around it."""

    parent: "Scope | None" = None
    variables: dict[str, Variable] = field(default_factory=dict)

    def find(self, name: str) -> Variable | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.parent
        return None

    def names(self) -> Iterator[str]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.variables
            scope = scope.parent

    def add(self, v: Variable) -> None:
        self.variables[v.name] = v

    def child(self) -> "Scope":
        return Scope(self)


class Functions:
    """The user's functions, by Stan name."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[UserFunction]] = {}
        self.library_names = registry.is_known
        self.keys = Fresh()  # of functions: one name for each overload

    def find(self, name: str) -> list[UserFunction]:
        return self.by_name.get(name, [])

    def add(self, f: UserFunction) -> None:
        """Enter a function; a definition takes the place of its forward declaration."""
        same = [g for g in self.find(f.name) if g.type == f.type and not g.defined]
        if same and f.defined:
            self.by_name[f.name] = [f if g is same[0] else g for g in self.find(f.name)]
        else:
            self.by_name.setdefault(f.name, []).append(f)

    def nearest(self, name: str, variables: Iterator[str]) -> str | None:
        """A name in scope that resembles one that is not."""
        return nearest(name, {*variables, *self.by_name}) or nearest(name, registry.names(False), 0.8)


def level_of(v: Variable, place: Place) -> Level:
    """Whether a variable may depend on parameters, by stanc's rule: its block, its type, and the current block."""
    return _level(v.type, v.block in _AUTODIFF and not v.data_only, place)


def _level(t: Type, autodiff: bool, place: Place) -> Level:
    element, _ = unwind(t)
    if isinstance(element, Tuple):
        return tuple(_level(i, autodiff, place) for i in element.items)
    return autodiff and not is_discrete(t) and place.block != "generated quantities"


_SUFFIXES = ("lpdf", "lupdf", "lpmf", "lupmf", "lp", "rng", "jacobian")


def suffix_of(name: str) -> str:
    """What the end of a function's name says of it: "lpdf", "lpmf", "lp", "rng", "jacobian" or ""."""
    _, _, end = name.rpartition("_")
    if end not in _SUFFIXES or end == name:
        return ""
    return {"lupdf": "lpdf", "lupmf": "lpmf"}.get(end, end)


def normalized(name: str) -> str:
    """The name of the normalised density that an unnormalised one refers to."""
    for short, full in (("_lupdf", "_lpdf"), ("_lupmf", "_lpmf")):
        if name.endswith(short):
            return name[: -len(short)] + full
    return name


def is_unnormalized(name: str) -> bool:
    return name.endswith(("_lupdf", "_lupmf"))


def returns(f: Function) -> bool:
    return f.result != VOID


def function_type(parameters: list[Parameter], result: Type, name: str) -> Function:
    return Function(tuple(parameters), result, suffix_of(name))
