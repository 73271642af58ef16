"""Which `~` statements give a parameter a proper prior: the law's support is the parameter's domain.

Where the domain is smaller the law is truncated to it. Stan leaves the probability of the domain out; the truncated law
divides by it, which changes no posterior as long as that probability depends on data alone.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stanlib import constraints, registry
from stanlib.dataclass import dataclass
from stanlib.distribution import Distribution as Record
from stanlib.registry import Function
from stanlib.supports import INTERVALS
from stanlib.types import REAL, is_scalar, scalar_of, unwind

from ..ir import gprob
from ..ir.likeness import same_value
from ..ir.uses import mentions

Static = Callable[[gprob.Expr], bool]
Bound = gprob.Expr | float | None

_PLAIN = (None, *constraints.PLAIN)


@dataclass(frozen=True)
class NoPrior(Exception):
    """Why a law can't be a parameter's prior, as the end of the sentence "the law ...", and what can be done."""

    reason: str
    hint: str = ""


def subject(value: gprob.Expr, d: gprob.Distribution) -> str | None:
    """The variable that a `~` statement is about as a whole: theta in `theta ~ ...`, z in `to_vector(z) ~ ...`."""
    if _is_flattened(value) and all(_is_scalar(a) or _is_flattened(a, value) for a in d.arguments):
        assert isinstance(value, gprob.Apply)
        value = value.arguments[0]
    return value.name if isinstance(value, gprob.Var) else None


def _is_flattened(e: gprob.Expr, like: gprob.Expr | None = None) -> bool:
    """Whether an expression lists the components of a matrix or array, in the order that another one does."""
    if not isinstance(e, gprob.Apply) or e.function.name not in ("to_vector", "to_array_1d"):
        return False
    inner = e.arguments[0].type
    return scalar_of(inner) == REAL and (not isinstance(like, gprob.Apply) or like.arguments[0].type == inner)


def _unflattened(value: gprob.Expr, d: gprob.Distribution) -> gprob.Distribution:
    """The law of the components where they are, for that of a list of them."""
    if isinstance(value, gprob.Var):
        return d
    inner = (a.arguments[0] if isinstance(a, gprob.Apply) and not _is_scalar(a) else a for a in d.arguments)
    return replace(d, arguments=tuple(inner))


def prior(
    s: gprob.Sample, value: gprob.Expr, d: gprob.Distribution, static: Static, sorting: bool = False
) -> gprob.Distribution:
    """The proper law of a parameter for a `~` statement about it, truncated where its domain asks for that.

    Args:
        s: the parameter.
        value: the left side, of which the parameter is the subject.
        d: the law.
        static: tells whether an expression depends on data alone.
        sorting: whether one law of all elements of an ordered vector is a prior, that of sorted draws.

    Raises:
        NoPrior: where there is none.
    """
    record, d = _record(d), _unflattened(value, d)
    if mentions((*d.arguments, *filter(None, (d.lower, d.upper))), {s.name}):
        raise NoPrior(f"depends on {s.site} itself")
    if s.sized.items or scalar_of(s.sized.type) != REAL:
        raise NoPrior("is not that of a container of real numbers")
    _verify_shape(record, s, d)
    kind = None if s.constraint is None else s.constraint.kind
    if kind in _PLAIN and record.event_dims == 0:
        return _on_interval(record, s, d, static)
    is_sorted = kind is not None and constraints.get("ordered").has_all_of(kind)
    if sorting and is_sorted and record.event_dims == 0 and all(map(_is_scalar, d.arguments)):
        return _on_interval(record, s, d, static)
    supports = {"vector": (constraints.AFFINE, None)}.get(str(record.support), (record.support,))
    if kind not in supports or d.lower is not None or d.upper is not None:
        raise NoPrior(f"has another support than the domain of {s.site}")
    return d


def _record(d: gprob.Distribution) -> Record:
    record: Record | None = d.lpdf.distribution if isinstance(d.lpdf, Function) else None
    if record is None:
        raise NoPrior("is a density of the program, from which nothing can be drawn")
    if record.density == "lpmf":
        raise NoPrior("is discrete")
    if "rng" not in record.methods or record.circular:
        raise NoPrior("is one from which nothing can be drawn")
    return record


def _is_scalar(e: gprob.Expr) -> bool:
    return is_scalar(e.type)


def _verify_shape(record: Record, s: gprob.Sample, d: gprob.Distribution) -> None:
    """The law must not be that of more values than the parameter has."""
    element, dims = unwind(s.sized.type)
    if record.event_dims == 0:
        fits = not is_scalar(s.sized.type) or all(map(_is_scalar, d.arguments))
    else:
        vectors = [unwind(a.type)[1] for a, v in zip(d.arguments, record.vectorized) if not v]
        fits = all(n <= dims for n in vectors) and _event_dims(element) == record.event_dims
    if not fits:
        raise NoPrior(f"is that of more values than {s.site} has")


def _event_dims(element: object) -> int:
    return {"vector": 1, "row_vector": 1, "matrix": 2}.get(str(element), 0)


# --- univariate laws on intervals ------------------------------------------------------------------------------------


def _on_interval(record: Record, s: gprob.Sample, d: gprob.Distribution, static: Static) -> gprob.Distribution:
    """The law of a number as a prior, truncated to the parameter's domain where its own support is larger.

    Raises:
        NoPrior: for another truncation, and for a support that is smaller than the domain or may be.
    """
    domain = _domain(s)
    own = _support(record, d)
    if d.lower is not None or d.upper is not None:
        truncated = (own[0] if d.lower is None else d.lower, own[1] if d.upper is None else d.upper)
        if not all(map(_same, truncated, domain)):
            raise NoPrior(f"is truncated to other bounds than those of {s.site}")
        return d
    lower, upper = (None if _same(o, b) else b for o, b in zip(own, domain))
    for bound, mine, sign in ((domain[0], own[0], 1), (domain[1], own[1], -1)):
        if not _same(bound, mine) and not _is_inside(bound, mine, sign):
            raise NoPrior(f"has a smaller support than {s.site}, or one that is not known to be its own")
    if lower is None and upper is None:
        return d
    return _truncated(record, d, lower, upper, static)


def _domain(s: gprob.Sample) -> tuple[gprob.Expr | None, gprob.Expr | None]:
    """The bounds of a parameter's elements."""
    c = s.constraint
    if c is None or c.kind == constraints.AFFINE:
        return None, None
    if c.kind != constraints.BOUNDS:
        own = constraints.get(c.kind).interval
        lower, upper = (None if b is None else gprob.Const(REAL, s.span, b) for b in own)
        return lower, upper
    return c.argument("lower"), c.argument("upper")


def _support(record: Record, d: gprob.Distribution) -> tuple[Bound, Bound]:
    if isinstance(record.support, str):
        own = INTERVALS[record.support]
        return own.lower, own.upper
    kind, *bounds = record.support(*d.arguments)
    return (bounds[0], bounds[1]) if kind == "interval" else (bounds[0], None)


def _truncated(
    record: Record, d: gprob.Distribution, lower: gprob.Expr | None, upper: gprob.Expr | None, static: Static
) -> gprob.Distribution:
    """The law between bounds, with the functions that normalise it unless one half of a symmetric law is left.

    Raises:
        NoPrior: where the constant depends on parameters, or the law has no distribution function.
    """
    cut = replace(d, lower=lower, upper=upper, on_domain=True)
    if lower is None or upper is None:
        bound = lower if upper is None else upper
        if _is_centre(record, d, bound):
            return cut  # one half of it, whatever the scale: no function needs to normalise it
    if not all(map(static, filter(None, (lower, upper, *d.arguments)))):
        hint = "truncate it to the domain with T[lower, upper], which divides by that constant"
        raise NoPrior("would be truncated by a constant that depends on parameters", hint)
    if not {"cdf", "lcdf", "lccdf"} <= record.methods.keys():
        raise NoPrior("has no distribution function, and so can't be truncated")
    names = (f"{record.name}_lcdf", f"{record.name}_lccdf")
    return replace(cut, lcdf=registry.by_symbol(names[0]), lccdf=registry.by_symbol(names[1]))


def _is_centre(record: Record, d: gprob.Distribution, bound: Bound) -> bool:
    centre = record.symmetric_about
    if isinstance(centre, str):
        return _same(bound, d.arguments[record.argument_names.index(centre)])
    return centre is not None and _same(bound, centre)


# --- bounds ----------------------------------------------------------------------------------------------------------


def _same(a: Bound, b: Bound) -> bool:
    """Whether two bounds are known to be the same."""
    if a is None or b is None:
        return a is None and b is None
    left, right = _literal(a), _literal(b)
    if left is not None or right is not None:
        return left == right
    return isinstance(a, gprob.Expr) and isinstance(b, gprob.Expr) and same_value(a, b)


def _is_inside(bound: Bound, own: Bound, sign: int) -> bool:
    """Whether a bound of the domain is known to lie within the support."""
    if own is None:
        return True
    left, right = _literal(bound), _literal(own)
    return left is not None and right is not None and sign * (left - right) > 0


def _bare(e: object) -> Any:
    return e.value if isinstance(e, gprob.Promote) else e


def _literal(e: Bound) -> float | None:
    """The value of a number as it is written, with its sign."""
    e = _bare(e)
    if isinstance(e, float):
        return e
    if isinstance(e, gprob.Const) and isinstance(e.value, (int, float)):
        return float(e.value)
    if isinstance(e, gprob.Apply) and len(e.arguments) == 1 and e.function.operator == "-":
        value = _literal(e.arguments[0])
        return None if value is None else -value
    return None
