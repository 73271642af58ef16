"""Branches: Python's own, or functions of explicit state where the condition is traced."""
from __future__ import annotations

import ast
from functools import partial

from ..ir import gprob
from ..ir.uses import always_returns, walk_statements
from .asty import Builder
from .context import Context


def if_(st: Context, s: gprob.If, b: Builder) -> list[ast.stmt]:
    """A branch: Python's own, or where the condition is traced a choice between functions of its sides."""
    if not s.traced:  # in lanes it is the same in all of them
        return [b.if_(st.expr.condition(s.condition), st.block(s.then), st.block(s.otherwise))]
    if always_returns(s.then) and always_returns(s.otherwise):
        return _tail_if(st, s, b)
    state = [st.names[n] for n in st.state(s.then, s.otherwise)]
    if s.sums:
        return _summing_if(st, s, state, b)
    frame = st.effects.open_lifted()
    bodies, functions, references = [], [], []
    for body in (s.then, s.otherwise):
        split, written = st.with_random(body, b.const(0), partial(st.block, body), b)
        functions += split
        bodies.append(written)
    terms = st.effects.close_lifted(frame)
    result = b.tuple_([b.name(n) for n in (*state, *terms.values())])
    for label, written in zip(("then", "otherwise"), bodies):
        start = [b.assign(n, b.dotted("ppl.UNSET")) for n in terms.values()]
        name = st.names.temporary(label)
        functions.append(b.function(name, state, [*start, *written, b.return_(result)]))
        references.append(b.name(name))
    condition = st.expr.condition(s.condition)
    call = b.call("ppl.cond", condition, *references, b.tuple_([b.name(n) for n in state]))
    return [*functions, *st.results(call, [*state, *terms.values()], b), *st.passed_on(terms, b)]


def _summing_if(st: Context, s: gprob.If, state: list[str], b: Builder) -> list[ast.stmt]:
    """A branch whose increments of the target are one term: their number does not multiply that of the branches."""
    totals = st.effects.open_sum("branch", list(walk_statements((s,))), st)
    state = [*state, *totals]
    out: list[ast.stmt] = [b.assign(n, b.const(0.0)) for n in totals]
    references = []
    for label, body in (("then", s.then), ("otherwise", s.otherwise)):
        split, made = st.with_random(body, b.const(0), partial(st.block, body), b)
        references.append(st.names.temporary(label))
        out += [*split, b.function(references[-1], state, [*made, b.return_(b.tuple_(list(map(b.name, state))))])]
    after = st.effects.close_sums(st, b)
    condition, carried = st.expr.condition(s.condition), b.tuple_(list(map(b.name, state)))
    call = b.call("ppl.cond", condition, *map(b.name, references), carried)
    return [*out, *st.results(call, state, b), *after]


def _tail_if(st: Context, s: gprob.If, b: Builder) -> list[ast.stmt]:
    """Both sides return: so does the choice between them. What a side assigns is a parameter of its function."""
    functions, references = [], []
    given = [*(st.names[n] for n in st.state(s.then, s.otherwise)), *st.effects.running]
    for label, body in (("then", s.then), ("otherwise", s.otherwise)):
        name = st.names.temporary(label)
        split, made = st.with_random(body, b.const(0), partial(st.block, body), b)
        if not isinstance(made[-1], ast.Return):  # it rejects
            made.append(b.return_(st.effects.returned(b.call("fn.not_a_number"), b)))
        functions += [*split, b.function(name, given, made)]
        references.append(b.lambda_((), b.call(name, *map(b.name, given))) if given else b.name(name))
    call = b.call("ppl.choose", st.expr.condition(s.condition), *references)
    return [*functions, b.return_(call)]
