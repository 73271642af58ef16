"""Sites: parameters, laws that are observed, increments of the target, records and tests of variables."""
from __future__ import annotations

import ast
from collections.abc import Mapping

from stanlib.constraints import AFFINE
from stanlib.types import COMPLEX, Tuple, scalar_of, unwind

from ..ir import gprob
from . import laws
from .asty import Builder
from .context import Context
from .effects import Effect
from .tuples import in_array


def sample(st: Context, s: gprob.Sample, b: Builder) -> list[ast.stmt]:
    """A parameter: from its law, or from the uniform or improper law on its domain."""
    if s.distribution is not None:
        return [b.assign(st.names[s.name], _prior(st, s, s.distribution, b))]
    function = "ppl.approximate" if s.learned else "ppl.parameter"
    made = _parameter(st, s.bounding, s.site, s.sized, s.constraint, b, function, _event(s, b))
    if s.drawn is not None:
        _add(made, b, drawn=st.expr(s.drawn), laws=b.tuple_([b.const(n) for n in s.laws]))
    if s.undrawn is not None:
        _add(made, b, undrawn=b.const(s.undrawn))
    return [b.assign(st.names[s.name], made)]


def _add(call: ast.expr, b: Builder, **keywords: ast.expr) -> None:
    """Further keywords of a call; the items of a tuple have none."""
    if isinstance(call, ast.Call):
        call.keywords += [b.make(ast.keyword, arg=k, value=v) for k, v in keywords.items()]


def param(st: Context, s: gprob.Param, b: Builder) -> list[ast.stmt]:
    """A parameter of a guide; those of its items for a tuple."""
    made = _parameter(st, None, s.site, s.sized, s.constraint, b, "ppl.param", {})
    if s.value is not None:
        _start(made, st.expr(s.value), not isinstance(s.value, (gprob.Const, gprob.Var)), b)
    return [b.assign(st.names[s.name], made)]


def _start(made: ast.expr, value: ast.expr, is_computed: bool, b: Builder) -> None:
    """Where parameters of guides start, as a keyword of their calls: what is computed is so when it is asked for."""
    if isinstance(made, ast.Tuple):
        for i, item in enumerate(made.elts):
            _start(item, b.subscript(value, b.const(i)), is_computed, b)
    else:
        _add(made, b, init=b.lambda_((), value) if is_computed else value)


def _prior(st: Context, s: gprob.Sample, d: gprob.Distribution, b: Builder) -> ast.expr:
    """A parameter from its law."""
    law = laws.distribution(st.expr, d, b) if d.drawn_by is None else _by_elements(st, s, d, b)
    arguments = [b.const(s.site), law]
    if s.sized.shape:
        arguments.append(st.shape(s.sized, b))
    function = "ppl.sample_unconstrained" if s.free else "ppl.sample"
    return b.call(function, *arguments, **_domain(st, s.bounding, s.constraint, b), **_event(s, b))


def _event(s: gprob.Sample, b: Builder) -> dict[str, ast.expr]:
    """How the model counts observations of a parameter, where a guide's law does not do so itself."""
    return {} if s.event is None else {"event": b.const(s.event)}


def _by_elements(st: Context, s: gprob.Sample, d: gprob.Distribution, b: Builder) -> ast.expr:
    """The law of a parameter that is given by its elements: two functions and their arguments."""
    assert isinstance(d.lpdf, str) and d.drawn_by is not None
    functions = [b.name(st.expr.functions.identifier(f)) for f in (d.lpdf, d.drawn_by)]
    return b.call("ppl.by_elements", *functions, st.shape(s.sized, b), *map(st.expr, d.arguments))


def _domain(st: Context, bounding: bool | None, c: gprob.Constraint | None, b: Builder) -> dict[str, ast.expr]:
    """The domain of a parameter, as keywords of its site."""
    kind, named = st.constraint(c, b)
    if bounding:
        named = {"bounding": b.const(True), **named}
    return named if kind is None else {"kind": b.const(kind), **named}


def _parameter(
    st: Context, bounding: bool | None, site: str, sized: gprob.Sized, constraint: gprob.Constraint | None, b: Builder,
    function: str, more: Mapping[str, ast.expr],
) -> ast.expr:  # fmt: skip
    """The site of a parameter without a law, as a call of `function`; those of its items for a tuple."""
    element, dims = unwind(sized.type)
    if isinstance(element, Tuple):
        kinds = constraint.items if constraint is not None else (None,) * len(sized.items)
        parts = enumerate(zip((in_array(sized, i, dims) for i in sized.items), kinds), start=1)
        return b.tuple_([_parameter(st, bounding, f"{site}.{i}", p, k, b, function, more) for i, (p, k) in parts])
    arguments = [b.const(site)]
    if sized.shape:
        arguments.append(st.shape(sized, b))
    named = _domain(st, bounding, constraint, b)
    if scalar_of(sized.type) == COMPLEX:
        named["complex"] = b.const(True)
    return b.call(function, *arguments, **named, **more)


def observe(st: Context, s: gprob.Observe, b: Builder) -> list[ast.stmt]:
    return st.effects.add(Effect(s.site, bool(s.of_data), s), st, b)


def factor(st: Context, s: gprob.Factor, b: Builder) -> list[ast.stmt]:
    return st.effects.add(Effect(s.site, bool(s.of_data), s), st, b)


def bind(st: Context, s: gprob.Bind, b: Builder) -> list[ast.stmt]:
    """A call that returns a value and what it adds to the target."""
    value = b.target(st.names[s.name]) if s.name is not None else b.target(st.names.temporary("_"))
    term = st.names.temporary("term") if s.term is None else st.names[s.term]
    pair = b.make(ast.Tuple, elts=[value, b.target(term)], ctx=ast.Store())
    call = b.assign(pair, st.expr(s.call))
    return [call, *st.effects.add(Effect(s.site, False, s, b.name(term)), st, b)]


def deterministic(st: Context, s: gprob.Deterministic, b: Builder) -> list[ast.stmt]:
    return [b.run(b.call(st.effects.record_function, b.const(s.site), b.name(st.names[s.name])))]


def check(st: Context, s: gprob.Check, b: Builder) -> list[ast.stmt]:
    return _check(st, s.site, s.constraint, b.name(st.names[s.name]), b)


def _check(st: Context, site: str, constraint: gprob.Constraint, value: ast.expr, b: Builder) -> list[ast.stmt]:
    """The test of a value against its constraint; for a tuple those of its items, but for offsets and multipliers."""
    if constraint.kind == "tuple":
        out: list[ast.stmt] = []
        for i, c in enumerate(constraint.items):
            if c is not None and c.kind != AFFINE:
                out += _check(st, f"{site}.{i + 1}", c, b.subscript(value, b.const(i)), b)
        return out
    kind, named = st.constraint(constraint, b)
    arguments = [b.const(site), value, *([b.const(kind)] if kind is not None else [])]
    return [b.run(b.call(st.effects.check_function, *arguments, **named))]
