"""The signatures of library functions: parsed from the text that the Stan Functions Reference prints, and expanded.

`real normal_lpdf(reals y | reals mu, reals sigma)` stands for 64 overloads: lower-case plurals (`reals`, `ints`,
`vectors`) are sets whose members combine freely. Capital letters are type variables: each stands for the same type
wherever it occurs in one signature (`R exp(T x)`, `E head(E v, int n)`). families.py holds both tables.
"""
from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from functools import cache, cached_property
from typing import Any, Union

from . import families
from .dataclass import dataclass
from .types import (
    COMPLEX,
    PRIMITIVES,
    REAL,
    VECTOR,
    VOID,
    Function,
    Parameter,
    Tuple,
    Type,
    array,
    ints_to_real,
    is_scalar,
)  # fmt: skip


@dataclass(frozen=True)
class Overload:
    """One concrete signature: argument types, which of them must be data, and the result type."""

    parameters: tuple[Parameter, ...]
    result: Type

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple(p.type for p in self.parameters)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))}) => {self.result}"


# A parsed type term: a type, the name of a set or variable, or a constructor over terms.
@dataclass(frozen=True)
class Name:
    text: str


@dataclass(frozen=True)
class Choice:
    options: tuple["Term", ...]


@dataclass(frozen=True)
class ArrayOf:
    element: "Term"
    dims: int


@dataclass(frozen=True)
class TupleOf:
    items: tuple["Term", ...]


@dataclass(frozen=True)
class FunctionOf:
    parameters: tuple["Argument", ...]
    result: "Term"


Term = Union[Name, Choice, ArrayOf, TupleOf, FunctionOf]


@dataclass(frozen=True)
class Argument:
    """One argument of a signature: its name, its type term, and whether it must be data."""

    name: str
    term: Term
    data_only: bool = False


@dataclass(frozen=True)
class Signature:
    """A signature as printed by the reference, with its expansion into overloads."""

    text: str
    name: str
    arguments: tuple[Argument, ...]
    result: Term = field(repr=False)

    @cached_property
    def overloads(self) -> tuple[Overload, ...]:
        """Every concrete signature that the text stands for, in a fixed order."""
        return tuple(_expand(self))

    @property
    def argument_names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.arguments)

    @property
    def is_scalar(self) -> bool:
        """Whether the text is of numbers alone, complex ones too."""
        return all(is_scalar(t) or t == COMPLEX for o in self.overloads for t in (*o.types, o.result))

    @property
    def is_componentwise(self) -> bool:
        """Whether the text says that containers are taken component by component, as `R exp(T x)` does."""
        result = getattr(self.result, "text", "")
        if result == "real_or_vector" or result in families.RNG_RESULTS:
            return bool(self.arguments) and all(_is_plural(a.term) for a in self.arguments)
        words = [getattr(a.term, "text", "") for a in self.arguments]
        return bool(words) and families.COMPONENTWISE >= {*words} and result in {"R", "Z", "RealOfC", *words}


def _is_plural(term: Term) -> bool:
    """Whether a term stands for a number and for containers of numbers."""
    if isinstance(term, Choice):
        return Name("real") in term.options
    return isinstance(term, Name) and term.text in families.SETS


_TOKEN = re.compile(r"\s*(=>|[A-Za-z_]\w*|[\[\]\(\),|])")


class _Reader:
    """A cursor over the tokens of one signature."""

    def __init__(self, text: str):
        self.text = text
        self.tokens = [m.group(1) for m in _TOKEN.finditer(text)]
        self.at = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.next
        if not token or (expected is not None and token != expected):
            raise ValueError(f"signature {self.text!r}: expected {expected or 'more'}, found {token or 'the end'}")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        if self.next == token:
            self.at += 1
            return True
        return False


@cache
def parse(text: str) -> Signature:
    """Parse one signature; raises ValueError when the text is none."""
    r = _Reader(text)
    result = _term(r)
    name = r.take()
    r.take("(")
    arguments = _arguments(r)
    r.take(")")
    if r.next:
        raise ValueError(f"signature {text!r}: {r.next!r} after its end")
    return Signature(text, name, arguments, result)


_NAME = re.compile(r"(\w+)\(")


def name_in(text: str) -> str:
    """The name of the function, without parsing the rest of the signature."""
    names: list[str] = _NAME.findall(text)
    return next(name for name in names if name != "tuple")


def each(text: str, types: Iterable[str]) -> list[str]:
    """The signature once for each of the types in place of `{t}`."""
    return [text.replace("{t}", t) for t in types]


def _arguments(r: _Reader) -> tuple[Argument, ...]:
    """The arguments up to the closing parenthesis or `=>`, which is not taken; those without names are x1, x2, ..."""
    out: list[Argument] = []
    while r.next not in (")", "=>"):
        data_only = r.accept("data")
        term = _term(r)
        named = r.next not in (",", ")", "|", "=>")
        out.append(Argument(r.take() if named else f"x{len(out) + 1}", term, data_only))
        if not (r.accept(",") or r.accept("|")):
            break
    return tuple(out)


def _term(r: _Reader) -> Term:
    """The type that comes next, with those that it is made of: each kind of term begins with a word of its own."""
    word = r.take()
    if word == "(":  # (vector | row_vector): any one of them
        return Choice(_several(r, "|"))
    if word == "array":
        r.take("[")
        dims = 1
        while r.accept(","):
            dims += 1
        r.take("]")
        return ArrayOf(_term(r), dims)
    if word == "tuple":
        r.take("(")
        return TupleOf(_several(r, ","))
    if word == "function":
        r.take("(")
        parameters = _arguments(r)
        r.take("=>")
        result = _term(r)
        r.take(")")
        return FunctionOf(parameters, result)
    return Name(word)


def _several(r: _Reader, separator: str) -> tuple[Term, ...]:
    """Types up to the closing parenthesis."""
    out = [_term(r)]
    while r.accept(separator):
        out.append(_term(r))
    r.take(")")
    return tuple(out)


def _expand(s: Signature) -> Iterator[Overload]:
    variables = sorted({v for a in s.arguments for v in _variables(a.term)})
    sets = families.RNG_SETS if s.name.endswith("_rng") else families.SETS
    for binding in families.bindings(tuple(variables)):
        options = [list(_options(a.term, binding, sets)) for a in s.arguments]
        for types in itertools.product(*options):
            parameters = tuple(Parameter(t, a.data_only) for t, a in zip(types, s.arguments))
            yield Overload(parameters, _result(s, binding, types))


def _variables(term: Term) -> Iterator[str]:
    if isinstance(term, Name) and term.text in families.VARIABLE_NAMES:
        yield term.text
    elif isinstance(term, ArrayOf):
        yield from _variables(term.element)
    elif isinstance(term, (TupleOf, Choice)):
        for item in term.items if isinstance(term, TupleOf) else term.options:
            yield from _variables(item)


def _options(term: Term, binding: dict[str, Type], sets: dict[str, tuple[Type, ...]]) -> Iterator[Type]:
    """Every type that a term stands for, given the values of the type variables."""
    if isinstance(term, Name):
        if term.text in binding:
            yield binding[term.text]
        elif term.text in sets:
            yield from sets[term.text]
        elif term.text == "void":
            yield VOID
        else:
            yield PRIMITIVES[term.text]
    elif isinstance(term, Choice):
        for option in term.options:
            yield from _options(option, binding, sets)
    elif isinstance(term, ArrayOf):
        for element in _options(term.element, binding, sets):
            yield array(element, term.dims)
    elif isinstance(term, TupleOf):
        for items in itertools.product(*(list(_options(i, binding, sets)) for i in term.items)):
            yield Tuple(items)
    else:
        yield _function_type(term, binding, sets)


def _function_type(term: FunctionOf, binding: dict[str, Type], sets: dict[str, tuple[Type, ...]]) -> Function:
    only: Callable[[Any], Type] = lambda t: next(iter(_options(t, binding, sets)))
    return Function(tuple(Parameter(only(a.term), a.data_only) for a in term.parameters), only(term.result))


def _result(s: Signature, binding: dict[str, Type], types: tuple[Type, ...]) -> Type:
    """The result type; `R` and `Z` are the largest of the arguments' types, `R` with reals in place of ints.

    `real_or_array` and the like depend on whether any argument is a container.
    """
    if not isinstance(s.result, Name):
        return next(iter(_options(s.result, binding, families.SETS)))
    word = s.result.text
    if word == "R":
        return ints_to_real(families.largest(types))
    if word == "Z":
        return families.largest(types)
    if word == "real_or_vector":
        return REAL if all(map(is_scalar, types)) else VECTOR
    if word in families.RNG_RESULTS:
        scalar = families.RNG_RESULTS[word]
        return scalar if all(map(is_scalar, types)) else array(scalar, 1)
    if word in families.DERIVED:
        variable, change = families.DERIVED[word]
        return change(binding[variable])
    return next(iter(_options(s.result, binding, families.SETS)))
