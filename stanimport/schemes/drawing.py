"""The law of one element of a parameter: whether it can be drawn from so that draws have derivatives, and its draw.

Draws are functions of the law's parameters and of noise, the "reparameterisation" of variational inference, on which
the gradient of an ELBO rests. Source: Kingma and Welling (2014), "Auto-Encoding Variational Bayes", section 2.4.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stanlib import registry
from stanlib.distribution import Distribution as Record
from stanlib.registry import Function
from stanlib.signatures import parse
from stanlib.types import INT, REAL, Type, array, is_scalar, unwind

from ..ir import gprob
from ..ir.fresh import Fresh
from .priors import NoPrior, prior


def verify(parameter: gprob.Sample, o: gprob.Observe) -> None:
    """Test the law of an element.

    Raises:
        NoPrior: where it is none of all values that the element may have, or has no draws with derivatives.
    """
    bounds = [] if parameter.constraint is None else [e for _, e in parameter.constraint.arguments]
    if not all(is_scalar(e.type) for e in bounds):
        raise NoPrior("is one of elements whose bounds differ")
    depth = len(parameter.sized.shape) - _rank(o.value.type)
    sized = gprob.Sized(o.value.type, parameter.sized.shape[depth:])
    element = replace(parameter, name=f"{parameter.name} ", sized=sized)
    value = gprob.Var(o.value.type, o.span, element.name)
    made = prior(element, value, o.distribution, lambda e: False)
    if made.lower is not None or made.upper is not None:
        raise NoPrior("is truncated", "in a loop that counts all elements from 1, a law that reads none may be")
    record = record_of(o)
    named = [parse(t).argument_names for t in record.rng_texts[:1]]
    if not record.is_pathwise or named != [record.argument_names]:
        raise NoPrior("is one from which no element can be drawn")


def _rank(t: Type) -> int:
    element, dims = unwind(t)
    return dims + {"vector": 1, "row_vector": 1, "matrix": 2}.get(str(element), 0)


def record_of(o: gprob.Observe) -> Record:
    """The library's record of a law."""
    assert isinstance(o.distribution.lpdf, Function) and o.distribution.lpdf.distribution is not None
    record: Record = o.distribution.lpdf.distribution
    return record


def drawn(
    parameter: gprob.Sample, o: gprob.Observe, indices: Sequence[gprob.Expr], names: Fresh
) -> list[gprob.Stmt]:  # fmt: skip
    """`z[t] ~ normal(m, s);` as `z[t] = normal_rng(m, s);`, for a vector component by component."""
    kind, record = o.value.type, record_of(o)
    if record.event_dims == 0 and not is_scalar(kind):
        return _components(parameter, o, indices, names)
    return [_assigned(parameter, o, indices, kind, o.distribution.arguments)]


def _components(
    parameter: gprob.Sample, o: gprob.Observe, indices: Sequence[gprob.Expr], names: Fresh
) -> list[gprob.Stmt]:
    """The draw of every component of a vector from the law of a number, whose parameters are computed once."""
    out: list[gprob.Stmt] = []
    size, i = parameter.sized.shape[-1], gprob.Var(INT, o.span, names.helper("i"))
    arguments: list[gprob.Expr] = []
    for a in o.distribution.arguments:
        if not is_scalar(a.type):
            held = gprob.Var(a.type, a.span, names.helper("each"))
            out.append(gprob.Declare(o.span, held.name, gprob.Sized(a.type, (size,)), None, a))
            a = gprob.Index(REAL, a.span, held, (gprob.Single(i),))
        arguments.append(a)
    one = _assigned(parameter, o, (*indices, i), REAL, tuple(arguments))
    return [*out, gprob.For(o.span, i.name, gprob.int_const(1, o.span), size, (one,))]


def _assigned(
    parameter: gprob.Sample, o: gprob.Observe, indices: Sequence[gprob.Expr], kind: Type,
    arguments: tuple[gprob.Expr, ...],
) -> gprob.Stmt:  # fmt: skip
    at = gprob.Step(kind, tuple(map(gprob.Single, indices)))
    place = gprob.Place(parameter.name, parameter.sized.type, o.span, (at,))
    rng = registry.by_symbol(f"{record_of(o).name}_rng")
    return gprob.Assign(o.span, place, gprob.Apply(kind, o.span, rng, arguments))


def counter(depth: int) -> Type:
    """The type of an array that tells for every element whether it has been drawn."""
    return array(INT, depth)
