"""Integer expressions as linear forms, and expressions compared without their place in the text."""
from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import fields

from stanlib.dataclass import dataclass
from stanlib.registry import Function

from ...ir import gprob, traversal


@dataclass(frozen=True)
class Linear:
    """`sum of coefficient * term, + constant`. A term is a variable's name, or the key of an expression."""

    terms: Mapping[Hashable, int]
    constant: int

    def coefficient(self, name: str) -> int:
        return self.terms.get(name, 0)

    def without(self, name: str) -> "Linear":
        return Linear({t: c for t, c in self.terms.items() if t != name}, self.constant)

    def plus(self, other: "Linear", factor: int = 1) -> "Linear":
        terms = dict(self.terms)
        for t, c in other.terms.items():
            terms[t] = terms.get(t, 0) + factor * c
        return Linear({t: c for t, c in terms.items() if c}, self.constant + factor * other.constant)

    def times(self, factor: int) -> "Linear":
        return Linear({t: factor * c for t, c in self.terms.items() if factor}, factor * self.constant)

    def at(self, name: str, value: "Linear") -> "Linear":
        """The form with another one in the place of a variable."""
        return self.without(name).plus(value, self.coefficient(name))

    def mentions(self, names: Collection[str]) -> bool:
        """Whether any of some variables is a term, or in one."""
        return any(_mentioned(t, names) for t in self.terms)

    @property
    def is_constant(self) -> bool:
        return not self.terms


def _mentioned(term: object, names: Collection[str]) -> bool:
    if isinstance(term, tuple):
        return any(_mentioned(t, names) for t in term)
    return isinstance(term, str) and term in names


Ranges = Mapping[str, tuple[Linear, Linear]]  # of the indices of loops, the outermost first


def with_loop(ranges: Ranges, s: gprob.For) -> Ranges:
    """The ranges of the loops around and of one inside of them."""
    return {**{n: r for n, r in ranges.items() if n != s.name}, s.name: (linear(s.lower), linear(s.upper))}


def is_nonnegative(form: Linear, ranges: Ranges) -> bool:
    """Whether a form is zero or more for all indices of the loops around."""
    for name, (lower, upper) in reversed(list(ranges.items())):
        form = form.at(name, lower if form.coefficient(name) > 0 else upper)
    return form.is_constant and form.constant >= 0


def linear(e: gprob.Expr) -> Linear:
    """The linear form of an integer expression; what is not linear is a term of its own."""
    if isinstance(e, gprob.Const) and isinstance(e.value, int):
        return Linear({}, e.value)
    if isinstance(e, gprob.Var):
        return Linear({e.name: 1}, 0)
    if isinstance(e, gprob.Apply):
        made = _of_operator(e)
        if made is not None:
            return made
    return Linear({key(e): 1}, 0)


def _of_operator(e: gprob.Apply) -> Linear | None:
    """The linear form of a negative, a sum, a difference or a product with a constant; None for other calls."""
    name, parts = e.function.name, e.arguments
    if name == "minus" and len(parts) == 1:
        return linear(parts[0]).times(-1)
    if len(parts) != 2:
        return None
    if name in ("add", "subtract"):
        return linear(parts[0]).plus(linear(parts[1]), 1 if name == "add" else -1)
    if name == "multiply":
        a, b = map(linear, parts)
        if a.is_constant or b.is_constant:
            return b.times(a.constant) if a.is_constant else a.times(b.constant)
    return None


def difference(a: Linear, b: Linear) -> int | None:
    """a - b where that is a number."""
    d = a.plus(b, -1)
    return d.constant if d.is_constant else None


def key(node: object) -> Hashable:
    """What two expressions have in common exactly if they are written alike, wherever they stand."""
    if isinstance(node, tuple):
        return tuple(map(key, node))
    if isinstance(node, Function):
        return node.symbol
    if not isinstance(node, traversal.NODES):
        return node if isinstance(node, Hashable) else repr(node)
    return (type(node).__name__, *(key(getattr(node, f.name)) for f in fields(node) if f.name != "span"))


def mentions_values(node: object, names: set[str] | frozenset[str]) -> bool:
    """Whether an expression depends on the values of any of some variables, not only on their shapes."""
    if isinstance(node, gprob.Var):
        return node.name in names
    if isinstance(node, gprob.Apply) and node.function.shape_only:
        return False
    return any(mentions_values(c, names) for c in traversal.children(node))
