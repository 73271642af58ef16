"""Laws of columns, ranges and flattened matrices as laws of elements: `M[, j] ~ normal(m, s);` is a loop over rows.

What is sampled has a law for every element, so that a guide may give a parameter's in pieces of any form. Arguments
are computed once, as long as the slice is, and their elements taken one by one.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stanlib.registry import Function
from stanlib.types import INT, MATRIX, REAL, dimensions, is_scalar, scalar_of

from ..ir import gprob, traversal
from ..ir.calls import call
from ..ir.fresh import Fresh, stem
from ..ir.uses import mentions
from . import priors
from .sites import container
from .stepped import refused

Stmts = tuple[gprob.Stmt, ...]
Loop = tuple[gprob.Var, gprob.Expr, gprob.Expr]  # the index, and from where to where it counts


def by_elements(body: Sequence[gprob.Stmt], parameters: Mapping[str, gprob.Sample], names: Fresh) -> Stmts:
    """The statements with loops over elements for the univariate laws of slices of parameters."""
    out: list[gprob.Stmt] = []
    for s in body:
        loops = _loops(s, parameters, names) if isinstance(s, gprob.Observe) else None
        if isinstance(s, gprob.Observe) and loops is not None:
            out += _written(s, *loops, names)
        else:
            out.append(traversal.with_bodies(s, lambda b: by_elements(b, parameters, names)))
    return tuple(out)


def _loops(
    s: gprob.Observe, parameters: Mapping[str, gprob.Sample], names: Fresh
) -> tuple[list[Loop], gprob.Expr] | None:  # fmt: skip
    """The loops over a slice's elements, in the order that they have in it, and one of them; None for what is none."""
    law = s.distribution.lpdf
    record = law.distribution if isinstance(law, Function) else None
    if record is None or record.event_dims or dimensions(s.value.type) != 1 or scalar_of(s.value.type) != REAL:
        return None
    if isinstance(s.value, gprob.Apply):
        return _of_flattened(s, s.value, parameters, names)
    parameter = parameters.get(container(s.value) or "")
    return None if parameter is None else _of_range(s.value, parameter, names)


def _of_range(value: gprob.Expr, parameter: gprob.Sample, names: Fresh) -> tuple[list[Loop], gprob.Expr] | None:
    """Of a part with one range among its indices, which single ones precede and follow."""
    indices = _indices(value)
    ranges = [n for n, i in enumerate(indices) if isinstance(i, gprob.Range)]
    plain = all(isinstance(i, (gprob.Single, gprob.Range)) for i in indices)
    if not plain or len(ranges) != 1 or len(indices) != len(parameter.sized.shape) or parameter.sized.items:
        return None
    (axis,) = ranges
    at, span = indices[axis], value.span
    assert isinstance(at, gprob.Range)
    index = gprob.Var(INT, span, names.helper("i"))
    upper = parameter.sized.shape[axis] if at.upper is None else at.upper
    chosen = [gprob.Single(index) if n == axis else i for n, i in enumerate(indices)]
    whole = gprob.Var(parameter.sized.type, span, parameter.name)
    loop = index, gprob.int_const(1, span) if at.lower is None else at.lower, upper
    return [loop], gprob.Index(REAL, span, whole, tuple(chosen))


def _indices(value: gprob.Expr) -> list[gprob.IndexExpr]:
    """All indices of a part of a variable; those behind a range are of what it has selected, and stand for nothing."""
    if not isinstance(value, gprob.Index):
        return []
    before = _indices(value.base)
    return [*before, *value.indices] if all(isinstance(i, gprob.Single) for i in before) else []


def _of_flattened(
    s: gprob.Observe, value: gprob.Apply, parameters: Mapping[str, gprob.Sample], names: Fresh
) -> tuple[list[Loop], gprob.Expr] | None:  # fmt: skip
    """Of `to_vector(M)` and its like, unless the law's arguments are flattened as well: then it is one of M."""
    inner = value.arguments[0] if value.arguments else None
    if not isinstance(inner, gprob.Var) or value.function.name not in ("to_vector", "to_row_vector", "to_array_1d"):
        return None
    parameter = parameters.get(inner.name)
    if parameter is None or parameter.sized.items or priors.subject(value, s.distribution) is not None:
        return None
    loops: list[Loop] = [
        (gprob.Var(INT, value.span, names.helper("i")), gprob.int_const(1, value.span), size)
        for size in parameter.sized.shape
    ]
    element = gprob.Index(REAL, value.span, inner, tuple(gprob.Single(i) for i, _, _ in loops))
    return loops[::-1] if inner.type == MATRIX else loops, element


# --- the loops -------------------------------------------------------------------------------------------------------


def _written(s: gprob.Observe, loops: Sequence[Loop], element: gprob.Expr, names: Fresh) -> Iterator[gprob.Stmt]:
    """Arguments that are containers, of the slice's length, and the loops around the law of an element.

    Raises:
        StanSemanticError: for an argument with elements of the parameter, which are not all known when it is computed.
    """
    number, length, name = _number(loops), _length(loops), container(element) or ""
    arguments: list[gprob.Expr] = []
    for a in s.distribution.arguments:
        if not is_scalar(a.type):
            if mentions(a, {name}):
                message = f"this reads more than one element of {stem(name)} while they are drawn"
                raise refused(message, a, "write a loop over its elements")
            held = gprob.Var(a.type, a.span, names.helper("each"))
            yield gprob.Declare(s.span, held.name, gprob.Sized(a.type, (length,)), None, a)
            a = gprob.Index(scalar_of(a.type), a.span, held, (gprob.Single(number),))
        arguments.append(a)
    made: gprob.Stmt = replace(s, value=element, distribution=replace(s.distribution, arguments=tuple(arguments)))
    for index, lower, upper in reversed(loops):
        made = gprob.For(s.span, index.name, lower, upper, (made,))
    yield made


def _length(loops: Sequence[Loop]) -> gprob.Expr:
    """How many elements there are."""
    (_, lower, upper), *rest = loops
    own = upper if _is_one(lower) else _of("add", _of("subtract", upper, lower), gprob.int_const(1, upper.span))
    return _of("multiply", own, _length(rest)) if rest else own


def _number(loops: Sequence[Loop]) -> gprob.Expr:
    """Which element of the slice one is, from 1."""
    *before, (index, lower, upper) = loops
    one = gprob.int_const(1, index.span)
    own = index if _is_one(lower) else _of("add", _of("subtract", index, lower), one)
    if not before:
        return own
    return _of("add", _of("multiply", _of("subtract", _number(before), one), upper), own)


def _is_one(e: gprob.Expr) -> bool:
    return isinstance(e, gprob.Const) and e.value == 1


def _of(name: str, left: gprob.Expr, right: gprob.Expr) -> gprob.Expr:
    return call(name, left.span, left, right)
