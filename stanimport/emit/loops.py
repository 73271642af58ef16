"""Loops one iteration after the other: Python's own, or functions of explicit state where the backend traces them."""
from __future__ import annotations

import ast

from ..ir import gprob
from .asty import Builder
from .context import Context


def for_(st: Context, s: gprob.For, b: Builder) -> list[ast.stmt]:
    if s.runs == gprob.Loop.TRACED:
        return st.before_loops(lambda: _traced_for(st, s, b))
    low, high = st.expr(s.lower), b.plus_one(st.expr(s.upper))
    before = st.effects.open_list()
    loop = b.for_(st.names[s.name], b.call("range", low, high), st.block(s.body))
    return [*st.effects.lists_before(before, b), loop, *st.effects.close_list(before, st, b)]


def _traced_for(st: Context, s: gprob.For, b: Builder) -> list[ast.stmt]:
    """`ppl.for_loop` over a function of the index and of all that the body assigns, which gives its terms as well."""
    limit, state = st.limit(s.most, b), [st.names[n] for n in st.state(s.body)]
    name, index = st.names.temporary("loop"), st.names[s.name]
    frame = st.effects.open_lifted()
    split, body = st.with_random(s.body, b.name(index), lambda: st.block(s.body), b)
    terms = st.effects.close_lifted(frame)
    body = [*st.effects.initial(frame, s.body, b), *body]
    body.append(b.return_(b.tuple_([b.name(n) for n in (*state, *terms.values())])))
    function = b.function(name, [index, *state], body)
    arguments = [st.expr(s.lower), st.expr(s.upper), b.name(name), b.tuple_([b.name(n) for n in state])]
    if terms or limit:
        arguments.append(b.const(len(terms)))
    call = b.call("ppl.for_loop", *arguments, *limit)
    return [*split, function, *st.results(call, [*state, *terms.values()], b), *st.passed_on(terms, b)]


def while_(st: Context, s: gprob.While, b: Builder) -> list[ast.stmt]:
    """A while loop: Python's own, or where it is traced `ppl.while_loop` over functions of its condition and body."""
    if not s.traced:
        before = st.effects.open_list()
        loop = b.while_(st.expr.condition(s.condition), st.block(s.body))
        return [*st.effects.lists_before(before, b), loop, *st.effects.close_list(before, st, b)]
    state = [st.names[n] for n in st.state(s.body)]
    totals = st.effects.open_sums(s.body, st)
    state += totals
    start = [b.assign(n, b.const(0.0)) for n in totals]
    count = st.names.temporary("count") if st.uses_random((s.condition, s.body)) else ""
    if count:
        state.append(count)
        start.append(b.assign(count, b.const(0)))
    made, body = _while_functions(st, s, state, count, b)
    after = st.effects.close_sums(st, b)
    call = b.call("ppl.while_loop", *map(b.name, made), b.tuple_([b.name(n) for n in state]))
    return [*start, *body, *st.results(call, state, b), *after]


def _while_functions(
    st: Context, s: gprob.While, state: list[str], count: str, b: Builder
) -> tuple[list[str], list[ast.stmt]]:
    """The names of the condition's and the body's functions, and their definitions; `count` counts iterations."""
    made, out = [], []
    next_ = [b.assign(count, b.binary(b.name(count), "+", b.const(1)))] if count else []
    index = b.name(count) if count else b.const(0)
    for label, nodes, make in (
        ("condition", s.condition, lambda: [b.return_(st.expr.condition(s.condition))]),
        ("body", s.body, lambda: [*st.block(s.body), *next_, b.return_(b.tuple_([b.name(n) for n in state]))]),
    ):
        split, body = st.with_random(nodes, index, make, b)
        made.append(st.names.temporary(label))
        out += [*split, b.function(made[-1], state, body)]
    return made, out
