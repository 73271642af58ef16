"""The scheme for draws from the prior: the mixed one, where increments of the target are laws, too.

`target += normal_lpdf(m | 0, 1)` says of m what `m ~ normal(0, 1)` does. So do the terms of a sum, and those of a
variable that adds up the density first (`lprior += ...; target += lprior;`), as programs made by brms have them. Laws
of single elements in loops over all of them are one law of the container, and other laws of parts draw these one after
the other. Items of tuples are parameters of their own. One law of all elements of an ordered vector is that of sorted
draws.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from typing import TypeGuard

from stanlib.dataclass import dataclass
from stanlib.discrete import WEIGHT
from stanlib.types import REAL

from ..ir import gprob, typed
from ..ir.fresh import Fresh
from ..ir.uses import breaks, declared, is_tail, mentions, walk_statements, writes, written
from . import comprehensive, elementwise, mixed
from .items import taken_apart
from .mixed import Stmts
from .parts import draw_parts
from .pointwise import without_calls
from .priors import subject
from .sites import container, root


def compile(program: typed.TypedProgram, names: Fresh) -> gprob.Program:
    """The GProb program: what censored outcomes add, and those that conditions tell, is of these, and no prior."""
    made = comprehensive.compile(without_calls(program, names), names, censored=True)
    if mixed.reads_target(made):
        return made
    model = taken_apart(made.model, names)
    sizes = {s.name: s.sized.shape for s in model if isinstance(s, gprob.Sample)}
    model = elementwise.gather(tuple(_split(model, sizes)), sizes, names, sizes)
    data = {v.symbol for v in (*made.data, *made.transformed_data_variables)}
    model = mixed.merge(tuple(with_laws(model, names, data)), made.functions, sorting=True)
    return replace(made, model=draw_parts(model, names, mixed.is_static(model)))


def _split(model: Stmts, sizes: elementwise.Sizes) -> Iterator[gprob.Stmt]:
    """The model with loops that hold laws of all elements beside other statements as two loops, those of laws first."""
    single = elementwise.with_one_law(model, sizes)
    for s in model:
        if not isinstance(s, gprob.For) or breaks(s.body):
            yield s
            continue
        own = declared(s.body) | written(s.body)
        laws = [n for n in s.body if elementwise.is_taken(n, [s], single, sizes) and not mentions(n, own)]
        others = [n for n in s.body if n not in laws]
        yield from (replace(s, body=tuple(part)) for part in (laws, others) if part)


def with_laws(model: Stmts, names: Fresh, data: Set[str]) -> Iterator[gprob.Stmt]:
    """The model with densities of parameters, where they are added to the target, as statements of their own.

    What is added of data alone is left out: nothing is drawn by it. What censored data add stays as it is.
    """
    parameters = {s.name: s.site for s in model if isinstance(s, gprob.Sample)}
    sums, static = _sums(model), mixed.is_static(model)
    for i, s in enumerate(model):
        if not isinstance(s, gprob.Factor) or s.jacobian or s.value.type != REAL or _is_censored(s.value, data):
            yield s
            continue
        for term in _terms(s.value, sums, i):
            law = _law(term)
            about = None if law is None else subject(*law) or container(law[0])
            if law is not None and about is not None and about in parameters:
                yield gprob.Observe(s.span, names.site(f"{parameters[about]}__prior"), law[1], law[0])
            elif not static(term):
                yield gprob.Factor(s.span, WEIGHT if _is_weight(term) else names.site("target__term"), term)


def _is_censored(e: gprob.Expr, data: Set[str]) -> bool:
    return is_tail(e) and root(e.arguments[0]) in data


def _is_weight(term: gprob.Expr) -> bool:
    """Whether it is what the laws of discrete parameters add up to within their bounds."""
    return isinstance(term, gprob.Apply) and term.function.name == "discrete_log_sum__"


def _law(term: gprob.Expr) -> tuple[gprob.Expr, gprob.Distribution] | None:
    """What a density is of, and the law that it says of it; None for other terms."""
    if not gprob.is_density(term):
        return None
    return term.arguments[0], gprob.Distribution(term.function.distribution.name, term.function, term.arguments[1:])


@dataclass
class _Sum:
    """A variable that adds up terms, and the position of the last statement that adds one."""

    terms: list[gprob.Expr]
    last: int


def _terms(e: gprob.Expr, sums: Mapping[str, _Sum], at: int) -> Iterator[gprob.Expr]:
    """The terms of a sum at a position of the model, those of variables that add up terms among them."""
    if isinstance(e, gprob.Var) and e.name in sums and sums[e.name].last < at:
        for term in sums[e.name].terms:
            yield from _terms(term, {}, at)
    elif _is_call(e, "add"):
        for term in e.arguments:
            yield from _terms(term, sums, at)
    elif _is_call(e, "subtract"):
        yield from _terms(e.arguments[0], sums, at)
        yield replace(e, arguments=(gprob.Const(REAL, e.span, 0.0), e.arguments[1]))
    else:
        yield e


def _is_call(e: gprob.Expr, name: str) -> TypeGuard[gprob.Apply]:
    return isinstance(e, gprob.Apply) and e.function.name == name and [a.type for a in e.arguments] == [REAL, REAL]


def _sums(model: Stmts) -> dict[str, _Sum]:
    """Variables that only grow, by terms that depend on parameters and data alone: what they hold, once they do."""
    changing = written(model) - {s.name for s in model if isinstance(s, gprob.Sample)}
    found: dict[str, _Sum] = {}
    for i, s in enumerate(model):
        if isinstance(s, gprob.Declare) and s.sized.type == REAL and s.value is not None:
            found[s.name] = _Sum([s.value], i)
        elif isinstance(s, gprob.Assign) and s.place.name in found and not s.place.steps and (t := _added(s)):
            found[s.place.name] = _Sum([*found[s.place.name].terms, t], i)
        else:
            for name in {n for inner in walk_statements((s,)) for n in writes(inner)}:
                found.pop(name, None)
    return {n: f for n, f in found.items() if not mentions(tuple(f.terms), changing)}


def _added(s: gprob.Assign) -> gprob.Expr | None:
    """What a statement `v = v + e` adds."""
    e = s.value
    if _is_call(e, "add") and isinstance(e.arguments[0], gprob.Var) and e.arguments[0].name == s.place.name:
        return e.arguments[1]
    return None
