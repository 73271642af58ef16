"""Laws of a container's elements, one after the other in a loop, as one law of the container.

`for (i in 1:N) c[i] ~ normal(m[i], 1);` becomes `for (i in 1:N) means[i] = m[i]; c ~ normal(means, 1);`: what samples a
parameter samples all of it. Nested loops over the elements of matrices and arrays become the same.
"""
from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from stanlib.registry import Function
from stanlib.types import INT, REAL, array, is_scalar

from ..ir import gprob, traversal
from ..ir.fresh import Fresh
from ..ir.likeness import same_value
from ..ir.uses import mentions, walk_statements

Stmts = tuple[gprob.Stmt, ...]


Sizes = Mapping[str, tuple[gprob.Expr, ...]]


def gather(body: Sequence[gprob.Stmt], parameters: Collection[str], names: Fresh, sizes: Sizes | None = None) -> Stmts:
    """The statements with loops that hold nothing but laws of elements of parameters as laws of these.

    Where `sizes` of parameters are given, only loops that are known to count all elements are taken, and laws without
    varying arguments keep them as they are.
    """
    out: list[gprob.Stmt] = []
    single = with_one_law(body, parameters)
    for s in body:
        loops = _nest(s)
        if loops and all(is_taken(law, loops, single, sizes) for law in loops[-1].body):
            out += _gathered(loops, names, sizes or {})
        else:
            out.append(s)
    return tuple(out)


def with_one_law(body: Sequence[gprob.Stmt], parameters: Collection[str]) -> set[str]:
    """The parameters of which one statement is a law."""
    laws = [_base(s.value) for s in walk_statements(body) if isinstance(s, gprob.Observe)]
    known = [v.name for v in laws if isinstance(v, gprob.Var)]
    return {name for name in parameters if known.count(name) == 1}


def _nest(s: gprob.Stmt) -> list[gprob.For]:
    """Loops that count from 1, each the only statement of the one before; none if a bound depends on their indices."""
    loops: list[gprob.For] = []
    inner: gprob.Stmt | None = s
    while isinstance(inner, gprob.For) and inner.body:
        if not _is_from_one(inner) or mentions(inner.upper, {loop.name for loop in loops}):
            return []
        loops.append(inner)
        inner = inner.body[0] if len(inner.body) == 1 else None
    return loops


def _is_from_one(loop: gprob.For) -> bool:
    return isinstance(loop.lower, gprob.Const) and loop.lower.value == 1


def is_of_element(s: gprob.Stmt, loops: Sequence[gprob.For], parameters: Collection[str]) -> bool:
    """Whether a statement is the law of the element of a parameter that loops count."""
    if not isinstance(s, gprob.Observe) or not isinstance(s.value, gprob.Index):
        return False
    base, indices = _base(s.value), {loop.name for loop in loops}
    if not isinstance(base, gprob.Var) or base.name not in parameters or s.value.type != REAL:
        return False
    selected = _selected(s.value)
    every = len(selected) == len(indices) == len(loops) and set(selected) == indices
    return every and _is_of_number(s.distribution, indices) and not mentions(s.distribution, {base.name})


def is_taken(
    s: gprob.Stmt, loops: Sequence[gprob.For], parameters: Collection[str], sizes: Sizes | None
) -> bool:
    """Whether a statement is a law of elements that becomes one of the container."""
    if not is_of_element(s, loops, parameters) or not all(map(_is_from_one, loops)):
        return False
    assert isinstance(s, gprob.Observe)
    base, uppers = _base(s.value), {loop.name: loop.upper for loop in loops}
    if sizes is None or not isinstance(base, gprob.Var):
        return True
    return _covers(_selected(s.value), uppers, sizes.get(base.name, ()))


def _selected(value: gprob.Expr) -> list[str]:
    """The variables that index an element, one after the other; "" stands for anything else."""
    if not isinstance(value, gprob.Index):
        return []
    singles = [i.value if isinstance(i, gprob.Single) else None for i in value.indices]
    return [*_selected(value.base), *(v.name if isinstance(v, gprob.Var) else "" for v in singles)]


def _base(value: gprob.Expr) -> gprob.Expr:
    """The container of an element."""
    return _base(value.base) if isinstance(value, gprob.Index) else value


def _is_of_number(d: gprob.Distribution, indices: set[str]) -> bool:
    """Whether a law of the library is that of one number, whose parameters are numbers, and its bounds one pair."""
    record = d.lpdf.distribution if isinstance(d.lpdf, Function) else None
    bounds = [b for b in (d.lower, d.upper) if b is not None]
    whole = record is not None and record.event_dims == 0 and not any(mentions(b, indices) for b in bounds)
    return whole and bool(d.arguments) and all(is_scalar(a.type) for a in d.arguments)


def _covers(order: Sequence[str], uppers: Mapping[str, gprob.Expr], size: tuple[gprob.Expr, ...]) -> bool:
    """Whether loops are known to count all elements of a container of a size."""
    return len(order) == len(size) and all(same_value(uppers[n], one) for n, one in zip(order, size))


def _gathered(loops: Sequence[gprob.For], names: Fresh, sizes: Sizes) -> Iterator[gprob.Stmt]:
    """For each law in the loops: arrays for its arguments that vary, loops that fill them, the container's law."""
    uppers, kind = {loop.name: loop.upper for loop in loops}, array(REAL, len(loops))
    for s in loops[-1].body:
        assert isinstance(s, gprob.Observe) and isinstance(s.value, gprob.Index)
        arguments = list(s.distribution.arguments)
        order, base = _selected(s.value), _base(s.value)
        varying = [i for i, a in enumerate(arguments) if mentions(a, set(uppers))]
        if not varying and _covers(order, uppers, sizes.get(base.name, ()) if isinstance(base, gprob.Var) else ()):
            yield replace(s, value=base)
            continue
        varying = varying or [0]  # one tells the sizes
        assigned: list[gprob.Stmt] = []
        for i in varying:
            name = names.helper("each")
            yield gprob.Declare(s.span, name, gprob.Sized(kind, tuple(uppers[n] for n in order)))
            assigned.append(_element(arguments[i], name, order, s))
            arguments[i] = gprob.Var(kind, s.span, name)
        yield _filled(loops, assigned, names)
        yield replace(s, value=base, distribution=replace(s.distribution, arguments=tuple(arguments)))


def _filled(loops: Sequence[gprob.For], assigned: Sequence[gprob.Stmt], names: Fresh) -> gprob.Stmt:
    """The loops around assignments, with indices of their own."""
    indices = {loop.name: names.helper(loop.name) for loop in loops}

    def renamed(node: object) -> object:
        return replace(node, name=indices[node.name]) if isinstance(node, gprob.Var) and node.name in indices else node

    body: Stmts = tuple(traversal.rewrite(a, renamed) for a in assigned)
    for loop in reversed(loops):
        body = (replace(loop, name=indices[loop.name], body=body),)
    return body[0]


def _element(value: gprob.Expr, name: str, order: Sequence[str], s: gprob.Observe) -> gprob.Assign:
    """The assignment of a parameter of the law to its place in the container of all."""
    value = gprob.Promote(REAL, value.span, value) if value.type == INT else value
    at = gprob.Step(REAL, tuple(gprob.Single(gprob.Var(INT, s.span, n)) for n in order))
    return gprob.Assign(s.span, gprob.Place(name, array(REAL, len(order)), s.span, (at,)), value)
