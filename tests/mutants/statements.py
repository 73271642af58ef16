"""Mutations of statements: conditions, order, laws as increments."""

from __future__ import annotations

import random
import re
from typing import Any

from stanimport.frontend import ast

from . import pieces
from .mutation import a_site, before, in_braces, mutation, put
from .view import Edit, View


@mutation
def under_condition(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw)
    if s is None:
        return None
    condition, body = pieces.condition(draw, s.scope), in_braces(v, s.node)
    other = draw.choice(("", "", f" else {body}", " else if (1 > 0) { }"))
    return [put(s.node, f"if ({condition}) {body}{other}")]


@mutation
def other_condition(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, ast.If)
    if s is None:
        return None
    c = v.of(s.node.condition)
    extra = pieces.condition(draw, s.scope)
    return [put(s.node.condition, draw.choice((f"!({c})", f"({c}) && {extra}", f"({c}) || {extra}", extra)))]


@mutation
def nested(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw)
    if s is None:
        return None
    inside = f"{{ {v.of(s.node)} }}"
    return [put(s.node, draw.choice((inside, f'profile("part") {inside}', f"{{ {inside} }}")))]


@mutation
def swapped(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, local=False)
    after = [] if s is None else [t for t in s.siblings if t.span.start > s.node.span.start]
    if s is None or not after:
        return None
    t = draw.choice(after)
    return [put(s.node, v.of(t)), put(t, v.of(s.node))]


@mutation
def twice(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw)
    return None if s is None else [put(s.node, f"{{ {v.of(s.node)} {v.of(s.node)} }}")]


@mutation
def left_out(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw)
    return None if s is None else [put(s.node, "{ }")]


@mutation
def moved_to_model(v: View, draw: random.Random) -> list[Edit] | None:
    """Transformed parameters, or data, become local variables of the model."""
    name = draw.choice(("transformed parameters", "transformed data"))
    block, model = v.tree.block(name), v.tree.block("model")
    if block is None or model is None or not block.body:
        return None
    body = v.text[block.body[0].span.start : block.body[-1].span.end]
    local = re.sub(r"<(?:lower|upper)[^<>=]*=[^<>]*>", "", body)
    opening = v.text.index("{", model.span.start) + 1
    return [(block.body[0].span.start, block.body[-1].span.end, ""), (opening, opening, f" {local} ")]


@mutation
def moved_to_front(v: View, draw: random.Random) -> list[Edit] | None:
    """A statement of the model becomes the first of its block."""
    s = a_site(v, draw)
    if s is None or s.siblings[0] is s.node:
        return None
    return [before(s.siblings[0], f"{v.of(s.node)} "), put(s.node, "{ }" if len(s.siblings) == 1 else "")]


def density(t: Any, v: View, kind: str) -> str:
    arguments = ", ".join(map(v.of, t.arguments))
    return f"{t.distribution.text}_{kind}({v.of(t.value)} | {arguments})"


def kind_of_law(v: View, t: Any) -> str:
    return "lpmf" if "int" in v.type(t.value) else "lpdf"


@mutation
def law_as_increment(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, ast.Tilde)
    if s is None or s.node.truncation is not None:
        return None
    term = density(s.node, v, kind_of_law(v, s.node))
    forms = [f"target += {term};", f"target += sum({{{term}, 0}});", f"{{ real d = {term}; target += d; }}",
             f"target += log_mix(0.3, {term}, {term} - 1);", f"target += log_sum_exp({term}, -1);",
             f"target += {pieces.condition(draw, s.scope)} ? {term} : -1;"]  # fmt: skip
    return [put(s.node, draw.choice(forms))]


@mutation
def increments_collected(v: View, draw: random.Random) -> list[Edit] | None:
    """What a loop adds to the target is added up in a variable, or kept in an array, first."""
    loops = [s for s in v.sites if isinstance(s.node, ast.For) and s.block == "model" and "target +=" in v.of(s.node)]
    if not loops:
        return None
    f = draw.choice(loops).node
    name = pieces.fresh(draw, v.text, "lp")
    if draw.random() < 0.5:
        return [put(f, f"{{ real {name} = 0; {v.of(f).replace('target +=', f'{name} +=')} target += {name}; }}")]
    size = f"max(0, ({v.of(f.upper)}) - ({v.of(f.lower)}) + 1)"
    place = f"{name}[{f.variable.text} - ({v.of(f.lower)}) + 1] +="
    body = v.of(f).replace("target +=", place)
    return [put(f, f"{{ vector[{size}] {name} = zeros_vector({size}); {body} target += sum({name}); }}")]


@mutation
def truncated(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, ast.Tilde)
    if s is None or s.node.truncation is not None or v.type(s.node.value) not in pieces.SCALARS:
        return None
    end = s.node.span.end - 1
    return [(end, end, draw.choice((" T[-30, ]", " T[, 30]", f" T[{pieces.scalar(draw, s.scope)} - 30, ]")))]


@mutation
def compound(v: View, draw: random.Random) -> list[Edit] | None:
    """`x = e` becomes `x += e` or the like, and the other way round."""
    s = a_site(v, draw, ast.Assignment)
    if s is None:
        return None
    target, value = v.of(s.node.target), v.of(s.node.value)
    if s.node.operator == "=":
        return [put(s.node, f"{target} = {value}; {target} {draw.choice(('+=', '*=', '-='))} {value};")]
    return [put(s.node, f"{target} = {target} {s.node.operator[:-1]} ({value});")]
