"""Variables that every iteration writes before it reads them: each can have its own. And sums over iterations."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stanlib.types import INT, Type, is_scalar

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.uses import escapes, mentions, walk_statements, written
from . import regions
from .accesses import Access, of_statement, reads
from .affine import key

Stmts = Sequence[gprob.Stmt]
Sizes = Mapping[str, gprob.Sized]


def is_private(body: Stmts, name: str, sizes: Sizes, lasting: str | None) -> bool:
    """Whether no iteration reads what another one has written to a variable.

    Where the value of the last iteration matters every iteration must also write the whole variable, or none of them
    any of it. `lasting` is the index of the loop then.
    """
    body = substituted(body)
    exposed, killed = regions.scan(body, name, sizes)
    return not exposed and (lasting is None or killed or _all_or_none(body, name, sizes, {lasting}))


def _all_or_none(body: Stmts, name: str, sizes: Sizes, indices: set[str]) -> bool:
    """Whether all writes are those of one loop, which runs in every iteration or in none, as its bounds don't vary."""
    writing = [s for s in body if name in written((s,))]
    if len(writing) != 1 or not isinstance(writing[0], gprob.For):
        return False
    loop = writing[0]
    ends_early = escapes(loop.body)
    if ends_early or mentions((loop.lower, loop.upper), indices | written(body)):
        return False
    exposed, killed = regions.scan(loop.body, name, sizes)
    return not exposed and (killed or _all_or_none(loop.body, name, sizes, indices | {loop.name}))


# --- sums ------------------------------------------------------------------------------------------------------------


def added(s: gprob.Stmt) -> tuple[gprob.Place, gprob.Expr] | None:
    """The place and the term of a statement `place = place + term`, with either sign and order."""
    if not isinstance(s, gprob.Assign) or not is_scalar(s.place.type):
        return None
    own = key(s.place.read())
    terms = list(summands(s.value)) if s.value.type == s.place.type or s.place.type != INT else []
    rest = [(sign, e) for sign, e in terms if key(_unpromoted(e)) != own]
    if len(rest) != len(terms) - 1 or not rest or (1, own) not in [(sign, key(_unpromoted(e))) for sign, e in terms]:
        return None
    return s.place, as_sum(rest)


def _unpromoted(e: gprob.Expr) -> gprob.Expr:
    while isinstance(e, gprob.Promote):
        e = e.value
    return e


def summands(e: gprob.Expr, sign: int = 1) -> Iterator[tuple[int, gprob.Expr]]:
    """The terms of a sum of numbers with their signs, in order."""
    inner = _unpromoted(e)
    if isinstance(inner, gprob.Apply) and inner.function.name in ("add", "subtract") and is_scalar(inner.type):
        yield from summands(inner.arguments[0], sign)
        yield from summands(inner.arguments[1], -sign if inner.function.name == "subtract" else sign)
    else:
        yield sign, e


def as_sum(terms: Sequence[tuple[int, gprob.Expr]]) -> gprob.Expr:
    """The sum of terms with signs."""
    terms = sorted(terms, key=lambda t: -t[0])
    sign, value = terms[0]
    value = value if sign == 1 else _negated(value)
    for sign, term in terms[1:]:
        value = _typed("add" if sign == 1 else "subtract", value, term)
    return value


def _typed(name: str, a: gprob.Expr, b: gprob.Expr) -> gprob.Expr:
    result = a.type if a.type != INT else b.type
    return apply(name, _promoted(a, result), _promoted(b, result))


def _promoted(e: gprob.Expr, t: Type) -> gprob.Expr:
    return e if e.type == t else gprob.Promote(t, e.span, e)


def _negated(e: gprob.Expr) -> gprob.Expr:
    return apply("minus", e)


def is_sum(body: Stmts, name: str) -> bool:
    """Whether the body does nothing with a variable but add to it what does not depend on it."""
    found = False
    for s in walk_statements(body):
        term = added(s) if isinstance(s, gprob.Assign) and s.place.name == name else None
        if term is not None:
            found = True
            if mentions(term[1], {name}) or any(mentions(i, {name}) for i in term[0].steps):
                return False
        elif any(a.name == name for a in _own(s)):
            return False
    return found


def _own(s: gprob.Stmt) -> list[Access]:
    """The accesses of a statement without those of nested statements."""
    if isinstance(s, gprob.For):
        return [a for e in (s.lower, s.upper) for a in reads(e)]
    if isinstance(s, gprob.While):
        return list(reads(s.condition))
    if isinstance(s, gprob.If):
        return list(reads(s.condition))
    return of_statement(s)


# --- helper variables ------------------------------------------------------------------------------------------------


def substituted(body: Stmts) -> tuple[gprob.Stmt, ...]:
    """The body with integer variables that only stand for an expression of what does not change replaced by it."""
    values = _definitions(body)
    if not values:
        return tuple(body)

    def change(node: object) -> object:
        if isinstance(node, gprob.Var) and node.name in values:
            return replace(values[node.name], span=node.span)
        return node

    out: tuple[gprob.Stmt, ...] = traversal.rewrite(tuple(body), change)
    return out


def _definitions(body: Stmts) -> dict[str, gprob.Expr]:
    """Integers that are set once and read behind that alone, from loop indices, constants and what does not change."""
    assigned: Counter[str] = Counter()
    for s in walk_statements(body):
        if not (isinstance(s, gprob.Declare) and s.value is None):
            assigned.update(a.name for a in _own(s) if a.writes)
    read = Counter(_names_read(body))
    out: dict[str, gprob.Expr] = {}
    for block in _blocks(body):
        for k, s in enumerate(block):
            name, value = _defined(s)
            if name is None or value is None or value.type != INT or assigned[name] != 1:
                continue
            if _is_fixed(value, assigned, out) and _names_read(block[k + 1 :]).count(name) == read[name]:
                out[name] = traversal.rewrite(value, lambda n: out.get(n.name, n) if isinstance(n, gprob.Var) else n)
    return out


def _names_read(body: Stmts) -> list[str]:
    return [n.name for n in traversal.walk(tuple(body)) if isinstance(n, gprob.Var)]


def _blocks(body: Stmts) -> list[Stmts]:
    out = [body]
    for s in walk_statements(body):
        out += traversal.bodies(s)
    return out


def _defined(s: gprob.Stmt) -> tuple[str | None, gprob.Expr | None]:
    if isinstance(s, gprob.Declare):
        return s.name, s.value
    if isinstance(s, gprob.Assign) and not s.place.steps:
        return s.place.name, s.value
    return None, None


def _is_fixed(e: gprob.Expr, assigned: Mapping[str, int], known: Mapping[str, gprob.Expr]) -> bool:
    """Whether a value is made of constants, variables that don't change in the body, and their elements."""
    if isinstance(e, gprob.Var):
        return e.name not in assigned or e.name in known
    if isinstance(e, gprob.Index):
        values = [i.value for i in e.indices if isinstance(i, gprob.Single)]
        return len(values) == len(e.indices) and all(_is_fixed(x, assigned, known) for x in (e.base, *values))
    if isinstance(e, gprob.Apply) and e.function.name in ("add", "subtract", "multiply", "minus"):
        return all(_is_fixed(a, assigned, known) for a in e.arguments)
    return isinstance(e, gprob.Const)
