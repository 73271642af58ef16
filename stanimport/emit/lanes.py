"""Loops whose iterations run as lanes: Python statements on values of all iterations at once (stanlib.lanes)."""
from __future__ import annotations

import ast

from ..ir import gprob
from .asty import Builder
from .context import Context


def for_(st: Context, s: gprob.For, b: Builder) -> list[ast.stmt]:
    """`with ppl.lanes(lower, upper) as n`: the body runs once, if there is any iteration."""
    most = st.limit(s.most, b)
    kind = {"most": most[0]} if most else {}
    flags = {n: b.const(True) for n, flag in (("dense", s.dense), ("leading", s.leading)) if flag}
    call = b.call("ppl.lanes", st.expr(s.lower), st.expr(s.upper), **kind, **flags)
    st.lanes.append(s.name)
    frame = st.effects.open_list() if s.alike else None
    body = st.block(s.body)
    if s.alike:
        numbers = (b.lambda_((), st.expr(e)) for e in s.alike)  # an iteration that wants one may never get to it
        body = [b.for_("_", b.call("ppl.alike", *numbers), body)]
    st.lanes.pop()
    index = st.names[s.name]
    loop = b.with_(call, index, [b.if_(b.compare(b.name(index), "is not", b.const(None)), body, [])])
    return [*st.effects.lists_before(frame, b), loop, *st.effects.close_list(frame, st, b)]


def if_(st: Context, s: gprob.If, b: Builder) -> list[ast.stmt]:
    """Each side for the lanes in which it is taken, then the variables that either assigns put together."""
    condition = st.expr.condition(s.condition)
    merged = [st.names[n] for n in s.merged]
    if not s.otherwise and not merged:
        return [_taken("ppl.when", condition, st.block(s.then), st, b)]
    chosen = st.names.temporary("chosen")
    saved = [st.names.temporary(f"{n}_before") for n in merged]
    out = [b.assign(chosen, condition), *(b.assign(o, b.name(n)) for o, n in zip(saved, merged))]
    out.append(_taken("ppl.when", b.name(chosen), st.block(s.then), st, b))
    if not s.otherwise:
        return [*out, *(_merge(n, chosen, n, o, b) for n, o in zip(merged, saved))]
    taken = [st.names.temporary(f"{n}_then") for n in merged]
    out += [b.assign(t, b.name(n)) for t, n in zip(taken, merged)]
    out += [b.assign(n, b.name(o)) for n, o in zip(merged, saved)]
    out.append(_taken("ppl.unless", b.name(chosen), st.block(s.otherwise), st, b))
    return [*out, *(_merge(n, chosen, t, n, b) for n, t in zip(merged, taken))]


def _merge(name: str, chosen: str, then: str, otherwise: str, b: Builder) -> ast.stmt:
    return b.assign(name, b.call("ppl.merge", b.name(chosen), b.name(then), b.name(otherwise)))


def _taken(function: str, condition: ast.expr, body: list[ast.stmt], st: Context, b: Builder) -> ast.stmt:
    """A side in the lanes that take it, if any does."""
    some = st.names.temporary("some")
    return b.with_(b.call(function, condition), some, [b.if_(b.name(some), body, [])])


def accumulate(st: Context, s: gprob.Accumulate, b: Builder) -> list[ast.stmt]:
    """`place += value` of all iterations of a loop."""
    name, value, loop = st.names[s.place.name], st.expr(s.value), b.name(st.names[s.loop])
    if not s.place.steps:
        return [b.assign(name, b.call("ppl.add_to", b.name(name), value, loop))]
    indices = [st.expr.one_index(i, b) for step in s.place.steps for i in step.indices]
    shared = {} if s.over is None else {"over": b.name(st.names[s.over])}
    return [b.assign(name, b.call("ppl.add_at", b.name(name), value, *indices, loop=loop, **shared))]


def last(st: Context, s: gprob.Last, b: Builder) -> list[ast.stmt]:
    """A variable as the last iteration leaves it."""
    name = st.names[s.name]
    value = b.call("ppl.last", b.name(name), b.name(st.names[s.loop]))
    return [b.assign(name, b.call("ppl.copy", value) if s.copied else value)]


def recur(st: Context, s: gprob.Recur, b: Builder) -> list[ast.stmt]:
    """A recurrence: a function from what is carried and the inputs of one iteration to both anew."""
    before = [st.names[n] for w in s.windows for n in w.before]
    groups = (s.state, s.inputs, s.given, s.outputs)
    state, inputs, given, outputs = ([st.names[n] for n in group] for group in groups)
    index, step = st.names[s.name], st.names.temporary("step")
    frame = st.effects.open_lifted()
    loop = st.lanes.pop()  # a step is of one iteration
    split, body = st.with_random(s.body, b.name(index), lambda: st.block(s.body), b)
    st.lanes.append(loop)
    terms = st.effects.close_lifted(frame)
    carried = [st.names[n] for w in s.windows if w.before for n in (w.row, *w.before[:-1])]
    results = b.tuple_([b.name(n) for n in (*outputs, *terms.values())])
    returned = b.return_(b.tuple_([b.tuple_([b.name(n) for n in (*carried, *state)]), results]))
    body = [*st.effects.initial(frame, s.body, b), *body, returned]
    function = b.function(step, [index, *before, *state, *given], body)
    firsts = [_previous(st, e, b) for w in s.windows for e in w.first]
    carry = b.tuple_([*firsts, *map(b.name, state)])
    adds = {"adds": b.const(True)} if terms and s.ragged else {}
    known = {} if s.traced else {"known": b.const(True)}
    taken = b.tuple_([b.name(n) for n in inputs])
    call = b.call("ppl.recur", b.name(st.names[loop]), b.name(step), carry, taken, **adds, **known)
    kept = b.make(ast.Tuple, elts=[b.target("_") for _ in before] + [b.target(n) for n in state], ctx=ast.Store())
    target = b.make(ast.Tuple, elts=[kept, b.tuple_target([*outputs, *terms.values()])], ctx=ast.Store())
    return [*split, function, b.assign(target, call), *st.passed_on(terms, b)]


def cumulate(st: Context, s: gprob.Cumulate, b: Builder) -> list[ast.stmt]:
    """A running sum over the iterations of a loop."""
    first, value = _previous(st, s.first, b), st.expr(s.value)
    return [b.assign(st.names[s.name], b.call("ppl.running_sum", first, value, b.name(st.names[s.loop])))]


def _previous(st: Context, e: gprob.Expr, b: Builder) -> ast.expr:
    if isinstance(e, gprob.Apply):
        return b.call(f"fn.{e.function.symbol}", *(_previous(st, a, b) for a in e.arguments))
    assert isinstance(e, gprob.Index)
    return b.call("ppl.previous", st.expr(e.base), *(st.expr.one_index(i, b) for i in e.indices))
