"""Mutations that leave the density as it is: variables of other types, values by other ways."""

from __future__ import annotations

import random
import re
from typing import Any

from stanimport.frontend import ast

from . import pieces
from .mutation import mutation, put
from .rewrites import always
from .view import Edit, Site, View


@mutation
def real_as_item(v: View, draw: random.Random) -> list[Edit] | None:
    """A local number as the only element of a container, or the item of a tuple."""
    fit = [(s, d) for s in v.sites if isinstance(s.node, ast.Declaration) and s.parents for d in s.node.declarators
           if _written_plainly(v, s) == "real"]  # fmt: skip
    if not fit:
        return None
    s, d = draw.choice(fit)
    name, value = d.name.text, "" if d.value is None else v.of(d.value)
    heads = [(f"array[1] real {name}", f"{name}[1]", "{{{}}}"), (f"vector[1] {name}", f"{name}[1]", "[{}]'"),
             (f"matrix[2, 2] {name}", f"{name}[2, 1]", "[[1, 2], [{}, 3]]"),
             (f"tuple(real, real) {name}", f"{name}.2", "(1, {})"),
             (f"vector[3] {name}", f"{name}[3]", "[0, 1, {}]'"),
             (f"array[2] vector[2] {name}", f"{name}[1][2]", "{{[0, {}]', [1, 1]'}}")]  # fmt: skip
    head, use, form = draw.choice(heads)
    return _retyped(v, s, name, f"{head}{' = ' + form.format(value) if value else ''};", use)


def _written_plainly(v: View, s: Site) -> str:
    """The type that a declaration of one variable without a constraint is written with."""
    d = s.node.declarators
    if len(d) != 1 or not isinstance(d[0].type, ast.SizedPrimitive) or d[0].type.constraint is not None:
        return ""
    return str(d[0].type.base)


def _retyped(v: View, s: Site, name: str, declared: str, use: str, element: Any = None) -> list[Edit] | None:
    """Another declaration, and another text at each use behind it in its list; None if the name means others there."""
    after = s.siblings[s.siblings.index(s.node) + 1 :]
    if any(re.search(rf"\b(real|int|in|vector(\[[^\]]*\])?) {name}\b|\b{name} in\b", v.of(d)) for d in after):
        return None
    change = element or (lambda text: re.sub(rf"(?<![\w.]){name}\b", use, text))
    return [put(s.node, declared), *(put(d, change(v.of(d))) for d in after)]


@mutation
def vector_shifted(v: View, draw: random.Random) -> list[Edit] | None:
    """A local vector with an unused element before its own ones."""
    declared = [s for s in v.sites if isinstance(s.node, ast.Declaration) and s.parents]
    fit = [s for s in declared if _written_plainly(v, s) == "vector"]
    if not fit:
        return None
    s = draw.choice(fit)
    d = s.node.declarators[0]
    name, n = d.name.text, v.of(d.type.sizes[0])
    value = "" if d.value is None else f" = append_row(0, {v.of(d.value)})"

    def changed(text: str) -> str:
        text = re.sub(rf"\b{name}\[([^\[\]:]+)\]", rf"{name}@[(\1) + 1]", text)
        text = re.sub(rf"\b{name}\[([^\[\]:]+):([^\[\]:]+)\]", rf"{name}@[(\1) + 1 : (\2) + 1]", text)
        text = re.sub(rf"(?<![\w.]){name}\b(?!@)", f"{name}@[2 : ({n}) + 1]", text)
        return text.replace("@", "")

    return _retyped(v, s, name, f"vector[({n}) + 1] {name}{value};", "", changed)


@mutation
def ternary_as_branches(v: View, draw: random.Random) -> list[Edit] | None:
    fit = [s for s in v.sites if isinstance(s.node, ast.Assignment) and isinstance(s.node.value, ast.Conditional)]
    if fit and draw.random() < 0.5:
        s = draw.choice(fit)
        t, op = v.of(s.node.target), s.node.operator
        parts = [v.of(e) for e in ast.children(s.node.value)]
        return [put(s.node, f"if ({parts[0]}) {t} {op} {parts[1]}; else {t} {op} {parts[2]};")]
    fit = [s for s in v.sites if isinstance(s.node, ast.Assignment) and v.type(s.node.value)]
    if not fit:
        return None
    s = draw.choice(fit)
    c, value = always(draw, s), v.of(s.node.value)
    return [put(s.node.value, draw.choice((f"({c} ? {value} : {value})", f"(!({c}) ? {value} : {value})")))]


@mutation
def element_by_slice(v: View, draw: random.Random) -> list[Edit] | None:
    """An assigned element as a range, or a list of places, of one."""
    fit = [s for s in v.sites if isinstance(s.node, ast.Assignment) and isinstance(s.node.target, ast.Indexed)
           and len(s.node.target.indices) == 1 and s.node.operator == "=" and v.type(s.node.value) in pieces.SCALARS
           and v.of(s.node.target.base) in s.scope]  # fmt: skip
    if not fit:
        return None
    s = draw.choice(fit)
    base, i, value = v.of(s.node.target.base), v.of(s.node.target.indices[0]), v.of(s.node.value)
    kind = s.scope[base].type
    made = {"vector": f"[{value}]'", "row_vector": f"[{value}]", "array[] real": f"{{1.0 * ({value})}}",
            "array[] int": f"{{{value}}}"}.get(kind)  # fmt: skip
    if made is None:
        return None
    twice = f"{base}[{{{i}, {i}}}] = {made.replace(value, f'{value}, {value}')};"
    forms = [f"{base}[{i} : {i}] = {made};", f"{base}[{{{i}}}] = {made};", twice, f"{base}[{i} : ][1 : 1] = {made};"]
    return [put(s.node, draw.choice(forms))]


@mutation
def data_computed(v: View, draw: random.Random) -> list[Edit] | None:
    """Transformed data become transformed parameters."""
    block, other = v.tree.block("transformed data"), v.tree.block("transformed parameters")
    parameters = v.tree.block("parameters")
    if block is None or parameters is None or not block.body or re.search(r"\bint\b", v.of(block)):
        return None
    body = v.text[block.body[0].span.start : block.body[-1].span.end]
    emptied = (block.body[0].span.start, block.body[-1].span.end, "")
    if other is None:
        return [emptied, (parameters.span.end, parameters.span.end, f" transformed parameters {{ {body} }} ")]
    opening = v.text.index("{", other.span.start) + 1
    return [emptied, (opening, opening, f" {body} ")]


@mutation
def reals_in_tuple(v: View, draw: random.Random) -> list[Edit] | None:
    """An assigned value by way of a tuple, an array or a function's result that is taken apart."""
    fit = [s for s in v.sites if isinstance(s.node, ast.Assignment) and s.node.operator == "="
           and v.type(s.node.value) == "real" and v.type(s.node.target) != "int"]  # fmt: skip
    if not fit:
        return None
    s = draw.choice(fit)
    t, value, k = v.of(s.node.target), v.of(s.node.value), pieces.fresh(draw, v.text, "pair")
    forms = [f"{{ tuple(real, real) {k} = (1, {value}); {t} = {k}.2; }}",
             f"{{ real {k}; ({k}, {t}) = (0, {value}); }}",
             f"{{ array[2] tuple(real, vector[1]) {k} = {{(1, [2]'), (3, [{value}]')}}; {t} = {k}[2].2[1]; }}",
             f"{{ array[2, 2] real {k} = rep_array(0.0, 2, 2); {k}[2, 1] = {value}; {t} = {k}[2, 1]; }}"]  # fmt: skip
    return [put(s.node, draw.choice(forms))]
