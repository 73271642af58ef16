"""Laws that an excluded combination of values would make meaningless are not computed for it.

    if (r[t] != r[t - 1] * (1 - z[t - 1])) target += negative_infinity();
    z[t] ~ bernoulli(phi * z[t - 1] + gamma * r[t]);

The first statement excludes that z[t - 1] and r[t] are both 1, for which the law of the second has no probability. Its
combination has a density of 0 whatever the second says, so the second stands only where the first does not exclude.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from stanlib.types import INT

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from ..ir.likeness import same
from .densities import added
from .parameters import Discrete, Stmts
from .terms import LEAVES_THAT_ADD


def without_excluded(body: Stmts, discrete: Mapping[str, Discrete], static: Set[str]) -> Stmts:
    """The body with such statements where the others of their block, which data alone decide, leave them possible.

    Args:
        static: The variables that depend on data alone.
    """
    known = static | discrete.keys()
    excluding = [s for s in body if uses.names_in(s) <= known and _terms(s)]
    return tuple(_possible(s, excluding, discrete, static) for s in body)


def impossible(body: Stmts, known: Set[str]) -> Iterator[gprob.If]:
    """Empty branches on what makes all that the body says impossible, of variables that are known."""
    for s in body:
        if isinstance(s, gprob.If) and uses.names_in(s.condition) <= known:
            if any(map(_is_never, s.then)):
                yield gprob.If(s.span, s.condition, ())
            elif any(map(_is_never, s.otherwise)):
                yield gprob.If(s.span, call("logical_negation", s.span, s.condition), ())


def _terms(s: gprob.Stmt) -> bool:
    return isinstance(s, LEAVES_THAT_ADD) or _is_excluding(s)


def _is_excluding(s: gprob.Stmt) -> bool:
    """Whether a statement is `if (c) target += negative_infinity();`."""
    if not isinstance(s, gprob.If) or s.otherwise or len(s.then) != 1:
        return False
    return _is_never(s.then[0])


def _is_never(s: gprob.Stmt) -> bool:
    """Whether a statement is `target += negative_infinity();`."""
    e = s.value if isinstance(s, typed.Increment) and s.kind == "target" else None
    return isinstance(e, gprob.Apply) and e.function.name == "negative_infinity"


def _possible(
    s: gprob.Stmt, excluding: list[gprob.Stmt], discrete: Mapping[str, Discrete], static: Set[str]
) -> gprob.Stmt:  # fmt: skip
    """A statement where those that exclude leave it possible."""
    if not isinstance(s, LEAVES_THAT_ADD):
        inside = static | {s.name} if isinstance(s, gprob.For) else static
        return traversal.with_bodies(s, lambda b: without_excluded(b, discrete, inside))
    out: gprob.Stmt = s
    for e in excluding:
        if e is not s and any(_shared(a, e, discrete) > 1 for a in _arguments(s)):
            out = gprob.If(s.span, _excludes(e), (), (out,))
    return out


def _arguments(s: object) -> Iterator[gprob.Expr]:
    """The arguments of the laws in a statement."""
    if isinstance(s, typed.Tilde):
        yield from s.distribution.arguments
    for e in traversal.walk(s):
        if gprob.is_density(e):
            yield from e.arguments[1:]


def _shared(a: gprob.Expr, s: gprob.Stmt, discrete: Mapping[str, Discrete]) -> int:
    """How many elements both an expression and a statement depend on."""
    others = list(_elements(s, discrete))
    found: list[gprob.Expr] = []
    for e in _elements(a, discrete):
        if any(same(e, o) for o in others) and not any(same(e, f) for f in found):
            found.append(e)
    return len(found)


def _elements(node: object, discrete: Mapping[str, Discrete]) -> Iterator[gprob.Expr]:
    for e in traversal.walk(node):
        if not isinstance(e, gprob.Expr):
            continue
        variable = e.base if isinstance(e, gprob.Index) else e
        if isinstance(variable, gprob.Var) and variable.name in discrete and e.type == INT:
            yield e


def _excludes(s: gprob.Stmt) -> gprob.Expr:
    """Whether a statement makes a combination impossible."""
    if isinstance(s, gprob.If):
        return s.condition
    return call("logical_eq", s.span, added(s), call("negative_infinity", s.span))
