"""Mutations of loops."""

from __future__ import annotations

import random
import re

from stanimport.frontend import ast

from . import pieces
from .mutation import a_site, in_braces, mutation, put, renamed_in
from .view import Edit, View


@mutation
def loop_reversed(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, ast.For)
    if s is None:
        return None
    f, i = s.node, s.node.variable.text
    k = pieces.fresh(draw, v.text, "back")
    low, high = v.of(f.lower), v.of(f.upper)
    at = f"({low} + ({high}) - {k})"
    if draw.random() < 0.5:
        return [put(f, f"for ({k} in {low} : {high}) {renamed_in(v, f.body, i, at)}")]
    return [put(f, f"for ({k} in {low} : {high}) {{ int {i} = {at}; {v.of(f.body)} }}")]


@mutation
def loop_shifted(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, ast.For)
    if s is None:
        return None
    f, i, by = s.node, s.node.variable.text, draw.choice((1, 2, -1))
    k = pieces.fresh(draw, v.text, "at")
    head = f"for ({k} in ({v.of(f.lower)}) + {by} : ({v.of(f.upper)}) + {by}) "
    if draw.random() < 0.6:
        return [put(f, head + renamed_in(v, f.body, i, f"({k} - {by})"))]
    return [put(f, f"{head}{{ int {i} = {k} - {by}; {v.of(f.body)} }}")]


@mutation
def loop_split_in_two(v: View, draw: random.Random) -> list[Edit] | None:
    """The first half of the iterations, then the others."""
    s = a_site(v, draw, ast.For)
    if s is None:
        return None
    f = s.node
    low, high, i = v.of(f.lower), v.of(f.upper), f.variable.text
    middle = draw.choice(("2", f"(({low}) + ({high})) %/% 2", f"({high}) - 1"))
    body = v.of(f.body)
    first, second = f"{low} : min({middle}, {high})", f"max({middle} + 1, {low}) : {high}"
    return [put(f, f"for ({i} in {first}) {body} for ({i} in {second}) {body}")]


@mutation
def loop_distributed(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, ast.For)
    if s is None or not isinstance(s.node.body, ast.Block) or len(s.node.body.body) < 2:
        return None
    f, body = s.node, s.node.body.body
    head = f"for ({f.variable.text} in {v.of(f.lower)} : {v.of(f.upper)}) "
    kept = " ".join(v.of(d) for d in body if isinstance(d, ast.Declaration))
    rest = [d for d in body if not isinstance(d, ast.Declaration)]
    if len(rest) < 2:
        return None
    at = draw.randrange(1, len(rest))
    parts = [" ".join(map(v.of, part)) for part in (rest[:at], rest[at:])]
    return [put(f, " ".join(f"{head}{{ {kept} {p} }}" for p in parts))]


@mutation
def loops_fused(v: View, draw: random.Random) -> list[Edit] | None:
    for s in draw.sample(v.sites, len(v.sites)):
        after = [t for t in s.siblings if t.span.start > s.node.span.start][:1]
        if not isinstance(s.node, ast.For) or not after or not isinstance(after[0], ast.For):
            continue
        a, b = s.node, after[0]
        if (v.of(a.lower), v.of(a.upper)) == (v.of(b.lower), v.of(b.upper)):
            second = renamed_in(v, b.body, b.variable.text, a.variable.text)
            return [put(a.body, f"{{ {v.of(a.body)} {second} }}"), put(b, "")]
    return None


@mutation
def loop_by_while(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, ast.For)
    if s is None or "continue" in v.of(s.node):
        return None
    f, i = s.node, s.node.variable.text
    return [put(f, f"{{ int {i} = {v.of(f.lower)}; while ({i} <= {v.of(f.upper)}) {{ {v.of(f.body)} {i} += 1; }} }}")]


@mutation
def loop_over_array(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, ast.For)
    if s is None:
        return None
    f, low, high = s.node, v.of(s.node.lower), v.of(s.node.upper)
    numbers = f"linspaced_int_array(({high}) - ({low}) + 1, {low}, {high})"
    if draw.random() < 0.3:
        numbers = f"reverse({numbers})"
    return [put(f, f"for ({f.variable.text} in {numbers}) {v.of(f.body)}")]


@mutation
def loop_left(v: View, draw: random.Random) -> list[Edit] | None:
    """A `break` or `continue` under a condition."""
    inside = [s for s in v.sites if s.in_loop and s.is_local and len(s.parents) > 0]
    if not inside:
        return None
    s = draw.choice(inside)
    innermost = [p for p in s.parents if isinstance(p, (ast.For, ast.ForEach, ast.While))][-1]
    word = "break" if isinstance(innermost, ast.While) else draw.choice(("break", "continue"))  # it would never end
    return [put(s.node, f"{{ if ({pieces.condition(draw, s.scope)}) {word}; {v.of(s.node)} }}")]


@mutation
def once_more(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw)
    if s is None:
        return None
    k = pieces.fresh(draw, v.text, "turn")
    return [put(s.node, f"for ({k} in 1 : {draw.choice((1, 2, 3))}) {in_braces(v, s.node)}")]


@mutation
def loop_vectorised(v: View, draw: random.Random) -> list[Edit] | None:
    """One statement for all iterations, where the index stands alone."""
    s = a_site(v, draw, ast.For)
    if s is None:
        return None
    f, i = s.node, s.node.variable.text
    part = f"{v.of(f.lower)} : {v.of(f.upper)}"
    every = re.sub(rf"\b{i}\b(?=[,\]])", part, v.of(f.body))
    return [put(f, every)]


@mutation
def law_by_elements(v: View, draw: random.Random) -> list[Edit] | None:
    """One observation for each element of a container."""
    s = a_site(v, draw, ast.Tilde)
    containers = {*pieces.CONTAINERS, "array[] vector"}
    if s is None or v.type(s.node.value) not in containers:
        return None
    t, k = s.node, pieces.fresh(draw, v.text, "each")
    part = [f"({v.of(a)})[{k}]" if v.type(a) in containers else v.of(a) for a in t.arguments]
    cut = "" if t.truncation is None else v.of(t.truncation)
    law = f"({v.of(t.value)})[{k}] ~ {t.distribution.text}({', '.join(part)}) {cut};"
    return [put(t, f"for ({k} in 1 : size({v.of(t.value)})) {law}")]
