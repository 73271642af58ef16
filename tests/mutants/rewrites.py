"""Mutations that leave the density as it is: other loops, conditions that always hold, statements in functions."""

from __future__ import annotations

import random
import re
from typing import Any

from stanimport.frontend import ast

from . import pieces
from .expressions import defined, names_for
from .mutation import a_site, before, in_braces, mutation, put, renamed_in
from .view import Edit, Site, View

LOOPS = (ast.For, ast.ForEach, ast.While)
LEAVING = re.compile(r"\b(break|continue|return)\b")


# --- loops -----------------------------------------------------------------------------------------------------------


def a_loop(v: View, draw: random.Random, leaving: bool = False) -> Any:
    s = a_site(v, draw, ast.For)
    return None if s is None or not leaving and LEAVING.search(v.of(s.node)) else s.node


@mutation
def loop_in_strips(v: View, draw: random.Random) -> list[Edit] | None:
    """Two or three iterations at a time, in an inner loop."""
    f = a_loop(v, draw)
    if f is None:
        return None
    low, high, by = v.of(f.lower), v.of(f.upper), draw.choice((2, 3))
    k, last = pieces.fresh(draw, v.text, "strip"), f"(({high}) - ({low})) %/% {by}"
    first = f"({low}) + {by} * {k}"
    inner = f"for ({f.variable.text} in {first} : min({high}, {first} + {by - 1})) {v.of(f.body)}"
    return [put(f, f"if (({high}) >= ({low})) for ({k} in 0 : {last}) {{ {inner} }}")]


@mutation
def loop_peeled(v: View, draw: random.Random) -> list[Edit] | None:
    """The first or last iteration by itself, under the condition that it is there."""
    f = a_loop(v, draw)
    if f is None:
        return None
    i, low, high, body = f.variable.text, v.of(f.lower), v.of(f.upper), in_braces(v, f.body)
    alone = f"if (({high}) >= ({low})) {{ int {i} = {{}}; {body} }}"
    if draw.random() < 0.5:
        return [put(f, f"{alone.replace('{}', low, 1)} for ({i} in ({low}) + 1 : {high}) {body}")]
    return [put(f, f"for ({i} in {low} : ({high}) - 1) {body} {alone.replace('{}', high, 1)}")]


def _nest(v: View, draw: random.Random) -> tuple[Any, Any]:
    """A loop, and the one that is all of its body; None for that if there is none."""
    s = a_site(v, draw, ast.For)
    inner = None if s is None else s.node.body
    if isinstance(inner, ast.Block) and len(inner.body) == 1:
        inner = inner.body[0]
    return (None, None) if s is None else (s.node, inner if isinstance(inner, ast.For) else None)


@mutation
def loops_interchanged(v: View, draw: random.Random) -> list[Edit] | None:
    outer, inner = _nest(v, draw)
    if inner is None:
        return None
    heads = [f"for ({f.variable.text} in {v.of(f.lower)} : {v.of(f.upper)}) " for f in (inner, outer)]
    return [put(outer, f"{heads[0]}{{ {heads[1]}{{ {v.of(inner.body)} }} }}")]


@mutation
def loops_flattened(v: View, draw: random.Random) -> list[Edit] | None:
    """Two nested loops as one, whose index is taken apart."""
    outer, inner = _nest(v, draw)
    if inner is None or LEAVING.search(v.of(outer)):
        return None
    (i, a, b), (j, c, d) = ((f.variable.text, v.of(f.lower), v.of(f.upper)) for f in (outer, inner))
    k, width = pieces.fresh(draw, v.text, "flat"), f"max(1, ({d}) - ({c}) + 1)"
    indices = f"int {i} = ({a}) + ({k} - 1) %/% {width}; int {j} = ({c}) + ({k} - 1) % {width};"
    count = f"max(0, ({b}) - ({a}) + 1) * max(0, ({d}) - ({c}) + 1)"
    return [put(outer, f"for ({k} in 1 : {count}) {{ {indices} {v.of(inner.body)} }}")]


@mutation
def loop_with_flag(v: View, draw: random.Random) -> list[Edit] | None:
    """More iterations than there are, which a variable or the index ends."""
    f = a_loop(v, draw)
    if f is None:
        return None
    i, low, high, body = f.variable.text, v.of(f.lower), v.of(f.upper), in_braces(v, f.body)
    done = pieces.fresh(draw, v.text, "done")
    head, begun = f"for ({i} in ({low}) : ({high}) + {draw.choice((1, 2))}) ", f"int {done} = ({high}) < ({low});"
    forms = [f"{head}{{ if ({i} > ({high})) break; {body} }}", f"{head}{{ if ({i} <= ({high})) {body} }}",
             f"{head}{{ if ({i} > ({high})) continue; {body} }}",
             f"{{ {begun} {head}{{ if ({done}) continue; {body} {done} = {i} == ({high}); }} }}",
             f"{{ {begun} {head}{{ if (!{done}) {body} {done} = {i} >= ({high}); }} }}",
             f"{{ int {i} = ({low}) - 1; while (1) {{ {i} += 1; if ({i} > ({high})) break; {body} }} }}",
             f"{{ int {i} = {low}; while ({i} <= ({high})) {{ {body} {i} += 1; }} }}"]  # fmt: skip
    return [put(f, draw.choice(forms))]


@mutation
def loop_over_items(v: View, draw: random.Random) -> list[Edit] | None:
    """Over an array of numbers made in the program, by itself or by its places."""
    f = a_loop(v, draw)
    if f is None:
        return None
    i, low, high, body = f.variable.text, v.of(f.lower), v.of(f.upper), v.of(f.body)
    n, all_, k = f"max(0, ({high}) - ({low}) + 1)", pieces.fresh(draw, v.text, "all"), pieces.fresh(draw, v.text, "k")
    made = f"array[{n}] int {all_}; for ({k} in 1 : {n}) {all_}[{k}] = ({low}) + {k} - 1;"
    forms = [f"for ({i} in {all_}) {body}", f"for ({k} in 1 : {n}) {{ int {i} = {all_}[{k}]; {body} }}",
             f"for ({k} in 1 : {n}) {renamed_in(v, f.body, i, f'{all_}[{k}]')}"]  # fmt: skip
    return [put(f, f"{{ {made} {draw.choice(forms)} }}")]


@mutation
def once_in_while(v: View, draw: random.Random) -> list[Edit] | None:
    """A statement in a loop that ends behind it."""
    s = a_site(v, draw)
    if s is None or LEAVING.search(v.of(s.node)):
        return None
    t, k, c = v.of(s.node), pieces.fresh(draw, v.text, "once"), always(draw, s)
    forms = [f"while (1) {{ {t} break; }}", f"for ({k} in 1 : 3) {{ if ({k} == 2) break; {t} }}",
             f"for ({k} in 1 : 2) {{ {t} if ({c}) break; }}", f"for ({k} in 1 : 2) {{ if ({k} == 1) continue; {t} }}",
             f"{{ int {k} = 0; while ({k} < 1) {{ {k} += 1; {t} }} }}"]  # fmt: skip
    return [put(s.node, draw.choice(forms))]


# --- conditions that always hold, statements that do nothing ---------------------------------------------------------


def always(draw: random.Random, s: Site) -> str:
    """A condition that holds for all numbers, some of which depend on parameters."""
    x = pieces.scalar(draw, s.scope, draw.choice((True, False, False)))
    return draw.choice((f"square({x}) >= 0", f"{x} > negative_infinity()", f"exp({x}) > -1", "1", f"{x} == {x}",
                        f"!({x} > 1e300)", f"{x} < 1e300 || {x} > 0"))  # fmt: skip


@mutation
def always_done(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw)
    if s is None:
        return None
    c, body = always(draw, s), in_braces(v, s.node)
    forms = [f"if ({c}) {body}", f"if (!({c})) {{ }} else {body}", f'if ({c}) {body} else reject("never");',
             f"if ({c}) {{ if ({always(draw, s)}) {body} }}", f"if (!({c})) {body} else {body}"]  # fmt: skip
    return [put(s.node, draw.choice(forms))]


@mutation
def never_done(v: View, draw: random.Random) -> list[Edit] | None:
    """Before a statement one that is never reached, or that nothing needs."""
    s = a_site(v, draw)
    if s is None:
        return None
    c, body, k = always(draw, s), in_braces(v, s.node), pieces.fresh(draw, v.text, "never")
    x = pieces.scalar(draw, s.scope)
    forms = [f'if (!({c})) reject("never", {x});', f"for ({k} in 1 : 0) {body}", f"while (!({c})) {body}",
             f"{{ real {k} = log(-1 - square({x})); }}", f"for ({k} in 2 : 1) {{ if ({c}) {body} else break; }}",
             f"{{ vector[2] {k} = [{x}, {x} / 0]'; {k}[2] = 1; }}", f"if (!({c})) {body}"]  # fmt: skip
    return [put(s.node, f"{{ {draw.choice(forms)} {v.of(s.node)} }}")]


@mutation
def spoilt_and_mended(v: View, draw: random.Random) -> list[Edit] | None:
    """A variable is kept, overwritten, and put back."""
    fit = [s for s in v.sites if s.is_local and s.block in ("model", "transformed parameters", "generated quantities")]
    draw.shuffle(fit)
    for s in fit:
        own = _assignable(v, s)
        if not own:
            continue
        name = draw.choice(sorted(own))
        kept, type_ = pieces.fresh(draw, v.text, "kept"), s.scope[name].type
        made = pieces.declared(kept, type_, name)
        place = f"{name}[1]" if type_ in ("vector", "row_vector", "array[] real") and draw.random() < 0.5 else name
        guard = "" if place == name else f"if (size({name}) > 0) "
        spoil = f"{place} = {place} * 2;" if "array" not in type_ or place != name else f"{name} = reverse({name});"
        if made is not None and type_ != "int":
            mended = draw.choice((f"{name} = {kept};", f"{name} = {kept};", f"{{ {name} = {kept}; }}"))
            return [before(s.node, f"{{ {made} {guard}{spoil} {mended} }} ")]
    return None


def _assignable(v: View, s: Site) -> set[str]:
    """Local variables, or those of the block, that have values of their own before a statement, declared beside it."""
    out = set()
    for d in s.siblings:
        if d is s.node:
            break
        if isinstance(d, ast.Declaration):
            out |= {x.name.text for x in d.declarators if x.value is not None}
    return {n for n in out if n in s.scope}


# --- functions -------------------------------------------------------------------------------------------------------


def _run(draw: random.Random, v: View, block: str) -> list[Any] | None:
    """Some statements of a list that follow each other, none of which declares what the ones behind them need."""
    fit = [s for s in v.sites if s.block == block and s.is_local]
    if not fit:
        return None
    s = draw.choice(fit)
    at = s.siblings.index(s.node)
    run = list(s.siblings[at : at + draw.choice((1, 2, 3, 5))])
    stop = next((k for k, d in enumerate(run) if isinstance(d, (ast.Declaration, ast.FunctionDefinition))), len(run))
    return [s, *run[:stop]] if stop else None


@mutation
def statements_into_lp_function(v: View, draw: random.Random) -> list[Edit] | None:
    """Statements that add to the target in a function without a result, or one that gives back a local variable."""
    found = _run(draw, v, "model")
    if found is None:
        return None
    s, *run = found
    text = " ".join(map(v.of, run))
    names = sorted(set().union(*(names_for(s, d) for d in run)))
    if any("tuple" in s.scope[n].type for n in names) or LEAVING.search(text):
        return None
    name = f"{pieces.fresh(draw, v.text, 'several')}_lp"
    given = ", ".join(pieces.argument(n, s.scope[n]) for n in names)
    call, edits = ", ".join(names), [put(d, "") for d in run[1:]]
    if draw.random() < 0.5:
        return [defined(v, f"void {name}({given})", f"{{ {text} }}"), put(run[0], f"{name}({call});"), *edits]
    k = pieces.fresh(draw, v.text, "none")
    early = f"if (!({always(draw, s)})) return 0; " if draw.random() < 0.5 else ""
    body = f"{early}{text} return {draw.choice(('target()', '1'))};"
    return [defined(v, f"real {name}({given})", body), put(run[0], f"{{ real {k} = {name}({call}); }}"), *edits]


@mutation
def assignment_into_function(v: View, draw: random.Random) -> list[Edit] | None:
    """A statement that assigns to one local variable, as a function that takes it and gives it back."""
    blocks = ("model", "transformed parameters", "generated quantities")
    kinds = (*LOOPS, ast.If, ast.Assignment)
    fit = [s for s in v.sites if s.is_local and s.block in blocks and isinstance(s.node, kinds)]
    draw.shuffle(fit)
    for s in fit:
        text, assigned = v.of(s.node), _assigned(v, s.node)
        if len(assigned) != 1 or re.search(r"~|target|_lp\(|_rng|_jacobian|reject|\breturn\b", text):
            continue
        (name,) = assigned
        if name not in s.scope or "tuple" in s.scope[name].type or "complex" in s.scope[name].type:
            continue
        names = [n for n in names_for(s, s.node) if n != name]
        if any("tuple" in s.scope[n].type for n in names) or (
                isinstance(s.node, ast.Assignment) and LEAVING.search(text)):
            continue
        if LEAVING.search(text) and not isinstance(s.node, LOOPS):
            continue
        made, held = pieces.fresh(draw, v.text, "assigned"), pieces.fresh(draw, v.text, "held")
        type_ = s.scope[name].type
        given = ", ".join([f"{type_} {held}", *(pieces.argument(n, s.scope[n]) for n in names)])
        local = _copied(name, type_, held)
        if local is None:
            continue
        early = f"if (!({always(draw, s)})) return {held}; ".replace(name, held) if draw.random() < 0.4 else ""
        body = f"{early}{local} {text} return {name};"
        call = f"{name} = {made}({', '.join([name, *names])});"
        return [defined(v, f"{type_} {made}({given})", body), put(s.node, call)]
    return None


def _assigned(v: View, node: Any) -> set[str]:
    stack, out = [node], set()
    while stack:
        n = stack.pop()
        if isinstance(n, ast.Assignment):
            t = n.target
            while isinstance(t, ast.Indexed):
                t = t.base
            out.add(v.of(t))
        if isinstance(n, ast.Declaration):
            return set()
        stack.extend(ast.children(n))
    return out


def _copied(name: str, type_: str, value: str) -> str | None:
    if type_ == "array[] vector":
        return f"array[size({value})] vector[size({value}[1])] {name} = {value};"
    if type_ == "array[,] real":
        return f"array[size({value}), size({value}[1])] real {name} = {value};"
    return pieces.declared(name, type_, value)
