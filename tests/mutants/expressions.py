"""Mutations of expressions: variables and functions for them, other indices, operators, laws."""

from __future__ import annotations

import random
import re
from typing import Any

from stanimport.frontend import ast

from . import pieces
from .mutation import a_site, an_expression, before, mutation, put
from .view import Edit, Site, View, names_in


@mutation
def into_local(v: View, draw: random.Random) -> list[Edit] | None:
    found = an_expression(v, draw, {*pieces.SCALARS, *pieces.CONTAINERS, "matrix"})
    if found is None or isinstance(found[0].node, ast.While) or not pieces.is_simple(found[1]):
        return None
    s, e = found
    name = pieces.fresh(draw, v.text, "local")
    made = pieces.declared(name, v.type(e), v.of(e))
    if made is None:
        return None
    if not s.is_local:
        return [before(s.node, f"{made} "), put(e, name)]
    return [before(s.node, f"{{ {made} "), put(e, name), (s.node.span.end, s.node.span.end, " }")]


@mutation
def inlined(v: View, draw: random.Random) -> list[Edit] | None:
    """The initial value of a variable in its place, at all uses."""
    fit = [s for s in v.sites if isinstance(s.node, ast.Declaration) and s.node.declarators[0].value is not None]
    if not fit:
        return None
    s = draw.choice(fit)
    d = s.node.declarators[0]
    value, edits = f"({v.of(d.value)})", []
    for other in v.sites:
        if isinstance(other.node, (ast.Block, ast.FunctionDefinition)) or other.node is s.node:
            continue
        for e in v.expressions(other.node):
            if isinstance(e, ast.Variable) and e.name.text == d.name.text:
                edits.append(put(e, value))
    return edits[: draw.choice((1, 100))] or None


def defined(v: View, head: str, body: str) -> Edit:
    block = v.tree.block("functions")
    text = f"{head} {{ {body} }}"
    if block is None:
        return (0, 0, f"functions {{ {text} }} ")
    at = block.span.end - 1
    return (at, at, f" {text} ")


def names_for(s: Site, e: Any) -> list[str]:
    return sorted(n for n in names_in(e) if n in s.scope)


@mutation
def into_function(v: View, draw: random.Random) -> list[Edit] | None:
    found = an_expression(v, draw)
    if found is None or not pieces.is_simple(found[1]) or v.type(found[1]) == "void":
        return None
    s, e = found
    names = names_for(s, e)
    if any("tuple" in s.scope[n].type for n in names):
        return None
    name = pieces.fresh(draw, v.text, "made")
    given = ", ".join(pieces.argument(n, s.scope[n]) for n in names)
    scope = {n: s.scope[n] for n in names}
    early = f"if ({pieces.condition(draw, scope)}) return {v.of(e)}; " if draw.random() < 0.5 else ""
    held = f"{v.type(e)} r; " if v.type(e) in pieces.SCALARS and draw.random() < 0.3 else ""
    rest = f"{held}r = {v.of(e)}; return r;" if held else f"return {v.of(e)};"
    return [defined(v, f"{v.type(e)} {name}({given})", early + rest), put(e, f"{name}({', '.join(names)})")]


@mutation
def into_lp_function(v: View, draw: random.Random) -> list[Edit] | None:
    fit = [s for s in v.sites if s.block == "model" and s.is_local]
    if not fit:
        return None
    s = draw.choice(fit)
    names, name = names_for(s, s.node), f"{pieces.fresh(draw, v.text, 'adds')}_lp"
    if any("tuple" in s.scope[n].type for n in names):
        return None
    given = ", ".join(pieces.argument(n, s.scope[n]) for n in names)
    scope = {n: s.scope[n] for n in names}
    early = f"if ({pieces.condition(draw, scope)}) return; " if draw.random() < 0.5 else ""
    return [defined(v, f"void {name}({given})", early + v.of(s.node)), put(s.node, f"{name}({', '.join(names)});")]


@mutation
def same_container(v: View, draw: random.Random) -> list[Edit] | None:
    """A container by way of slices and lists of indices."""
    found = an_expression(v, draw, pieces.CONTAINERS)
    if found is None:
        return None
    e, x = found[1], f"({v.of(found[1])})"
    n = f"size({x})"
    forms = [f"{x}[1 : {n}]", f"{x}[ : ]", f"{x}[linspaced_int_array({n}, 1, {n})]", f"head({x}, {n})",
             f"reverse(reverse({x}))", f"append_row({x}[1 : 1], {x}[2 : ])", f"segment({x}, 1, {n})",
             f"{x}[sort_indices_asc({x})]", f"{x}[1 : {n}][1 : {n}]", f"reverse({x})",
             f"append_array({x}[1 : 1], {x}[2 : ])", f"to_vector({x})", f"{x} + 0", f"sort_asc({x})",
             f"cumulative_sum({x})", f"exp(log(abs({x}) + 1)) - 1", f"{x}[rep_array(1, {n})]"]  # fmt: skip
    return [put(e, draw.choice(forms))]


@mutation
def same_element(v: View, draw: random.Random) -> list[Edit] | None:
    found = an_expression(v, draw, pieces.SCALARS, ast.Indexed)
    if found is None:
        return None
    e, base, indices = found[1], v.of(found[1].base), [v.of(i) for i in found[1].indices]
    forms = []
    if len(indices) == 1:
        i = indices[0]
        forms = [f"{base}[{i} : {i}][1]", f"{base}[{{{i}}}][1]", f"segment({base}, {i}, 1)[1]",
                 f"tail(head({base}, {i}), 1)[1]", f"reverse({base})[size({base}) - ({i}) + 1]",
                 f"sum({base}[{i} : {i}])", f"{base}[min({i}, size({base}))]"]  # fmt: skip
    if len(indices) == 2:
        i, j = indices
        forms = [f"{base}[{i}][{j}]", f"{base}[{i}, {j} : {j}][1]", f"{base}[{i} : {i}, {j}][1]",
                 f"{base}'[{j}, {i}]", f"col({base}, {j})[{i}]", f"row({base}, {i})[{j}]"]  # fmt: skip
    return [put(e, draw.choice(forms))] if forms else None


@mutation
def other_index(v: View, draw: random.Random) -> list[Edit] | None:
    found = an_expression(v, draw, None, ast.Indexed)
    singles = [] if found is None else [i for i in found[1].indices if isinstance(i, ast.SingleIndex)]
    if found is None or not singles:
        return None
    i = draw.choice(singles)
    ints = [n for n, x in found[0].scope.items() if x.type == "int"] or ["1"]
    t = v.of(i)
    forms = ["1", f"max({t} - 1, 1)", f"min({t} + 1, 2)", f"({t} > 1 ? {t} - 1 : {t})", draw.choice(ints),
             f"({t} - 1) %/% 2 + 1", f"({t}) % 2 + 1"]  # fmt: skip
    return [put(i, draw.choice(forms))]


@mutation
def same_number(v: View, draw: random.Random) -> list[Edit] | None:
    found = an_expression(v, draw, pieces.SCALARS)
    if found is None:
        return None
    s, e = found
    x = f"({v.of(e)})"
    if v.type(e) == "int":
        forms = [f"({x} + 0)", f"max({x}, {x})", f"({x} * 1)", f"sum({{{x}}})", f"({x} > 0 ? {x} : {x})"]
    else:
        c = pieces.condition(draw, s.scope)
        forms = [f"sum({{{x}, 0}})", f"({c} ? {x} : {x} + 0.1)", f"fmax({x}, {x} - 1)", f"dot_product([{x}], [1])",
                 f"[{x}, 1][1]", f"log(exp({x}))", f"(-{x})", f"fmin({x}, 0.7)", f"square({x})", f"({x} / 2)",
                 f"log_sum_exp({x}, {pieces.scalar(draw, s.scope)})", f"({x} * {pieces.scalar(draw, s.scope)})",
                 f"inv_logit({x})", f"fma({x}, 2, 1)", f"max({{{x}, {pieces.scalar(draw, s.scope)}}})",
                 f"[[{x}]][1, 1]", f"({{{x}, 2 * {x}}})[{pieces.scalar(draw, {}, True) and 2}]"]  # fmt: skip
    return [put(e, draw.choice(forms))]


OPERATORS = ("+", "-", "*", "/", ".*", "./", "<", ">=", "==", "&&", "||", "%", "%/%")


@mutation
def other_operator(v: View, draw: random.Random) -> list[Edit] | None:
    found = an_expression(v, draw, None, ast.Binary)
    if found is None:
        return None
    e = found[1]
    sides = [v.of(e.left), v.of(e.right)]
    if draw.random() < 0.3:
        sides.reverse()
    return [put(e, f"({sides[0]} {draw.choice(OPERATORS)} {sides[1]})")]


LAWS = (("normal", "cauchy", "logistic", "double_exponential", "gumbel", "lognormal", "gamma", "weibull", "beta",
         "inv_gamma", "uniform", "neg_binomial_2", "beta_binomial", "skew_double_exponential", "von_mises"),
        ("poisson", "exponential", "bernoulli", "bernoulli_logit", "poisson_log", "chi_square", "rayleigh", "geometric",
         "inv_chi_square"),
        ("multi_normal", "multi_normal_cholesky", "multi_normal_prec"),
        ("categorical", "categorical_logit", "dirichlet"))  # fmt: skip


@mutation
def other_law(v: View, draw: random.Random) -> list[Edit] | None:
    s = a_site(v, draw, ast.Tilde)
    if s is None:
        return None
    name = s.node.distribution
    others = [law for group in LAWS if name.text in group for law in group if law != name.text]
    return [put(name, draw.choice(others))] if others else None


@mutation
def other_argument(v: View, draw: random.Random) -> list[Edit] | None:
    """Arguments of a call or law in another order, or one by another expression."""
    found = an_expression(v, draw, None, ast.Call)
    s = a_site(v, draw, ast.Tilde)
    node = s.node if s is not None and (found is None or draw.random() < 0.5) else found[1] if found else None
    if node is None or len(node.arguments) < 2:
        return None
    a, b = draw.sample(sorted(node.arguments, key=lambda x: x.span.start), 2)
    if draw.random() < 0.5:
        return [put(a, v.of(b))]
    return [put(a, v.of(b)), put(b, v.of(a))]


@mutation
def literal(v: View, draw: random.Random) -> list[Edit] | None:
    found = an_expression(v, draw, None, (ast.IntLiteral, ast.RealLiteral))
    if found is None:
        return None
    reals = isinstance(found[1], ast.RealLiteral)
    return [put(found[1], draw.choice(("0.5", "1.0", "0.0", "3.7") if reals else ("0", "1", "2", "3")))]


@mutation
def other_variable(v: View, draw: random.Random) -> list[Edit] | None:
    found = an_expression(v, draw, None, ast.Variable)
    if found is None:
        return None
    s, e = found
    own = s.scope.get(e.name.text)
    fit = [n for n, x in s.scope.items() if own and x.type == own.type and n != e.name.text]
    return [put(e, draw.choice(fit))] if fit else None


@mutation
def array_as_matrix(v: View, draw: random.Random) -> list[Edit] | None:
    """`array[N] vector[K] x`, a parameter or local, as a matrix whose rows are taken."""
    found = re.search(r"array\[([^\[\],]+)\] vector\[([^\[\]]+)\] (\w+);", v.text)
    if found is None or re.search(rf"~ .*\b{found[3]}\b(?!\[)|\b{found[3]}\b(?!\[)[^;\n]*~", v.text):
        return None
    n, k, name = found.groups()
    text = re.sub(rf"\b{name}\[([\w ]+)\](?! *=)", rf"({name}[\1]')", v.text.replace(found[0], ""))
    at = v.text.index(found[0])
    text = text[:at] + f"matrix[{n}, {k}] {name};" + text[at:]
    return [(0, len(v.text), text)]


@mutation
def constraint(v: View, draw: random.Random) -> list[Edit] | None:
    block = v.tree.block("parameters")
    fit = [] if block is None else [m for m in re.finditer(r"\b(real|vector)(<[^<>]*>)?(?=[ \[])", v.of(block))]
    if not fit:
        return None
    m = draw.choice(fit)
    start = block.span.start + m.start()
    forms = ("<lower=0>", "<lower=0, upper=5>", "<upper=1>", "", "<offset=0.5, multiplier=2>", "<lower=-2>")
    return [(start, start + len(m[0]), m[1] + draw.choice(forms))]
