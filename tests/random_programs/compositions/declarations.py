"""Parameters with constraints: every one, in arrays and tuples, with bounds of all shapes; their laws and uses."""

from __future__ import annotations

from typing import Any

from .scope import Lines, Program, Shape

INFINITE = ("inf", "-inf")


def declarations(p: Program) -> None:
    """Two or three parameters, of which later ones may be bounded by earlier ones."""
    for _ in range(p.choices.pick([1, 2, 3])):
        with p.choices.span():
            p.choices.weighted([(5, bounded), (4, structured), (1, in_tuples)])(p)


def shape(p: Program) -> Shape:
    c = p.choices
    base = c.pick(["real", "vector", "row_vector", "matrix"])
    arrays = [p.size() for _ in range(c.weighted([(4, 0), (5, 1), (2, 2)]))]
    own = [p.size() for _ in range({"real": 0, "matrix": 2}.get(base, 1))]
    return Shape(base, tuple(t for t, _ in arrays), tuple(t for t, _ in own),
                 tuple(v for _, v in [*arrays, *own]))  # fmt: skip


def bounded(p: Program) -> None:
    s, name = shape(p), p.fresh("p")
    form, domain = bounds(p, s)
    p.add("parameters", s.declared(name, form) + ";")
    laws(p, name, s, domain)
    used(p, name, s)


def bounds(p: Program, s: Shape) -> tuple[str, str]:
    """A constraint, and the domain that it makes: "real", "positive", "unit" or "interval"."""
    c = p.choices
    kind = c.pick(["lower", "upper", "both", "positive", "unit", "offset", "multiplier", "affine"])
    if kind == "positive":
        return "<lower=0>", "positive"
    if kind == "unit":
        return "<lower=0, upper=1>", "unit"
    if kind in ("offset", "multiplier", "affine"):
        parts = [f"offset={bound(p, s, '{}')}"] * (kind != "multiplier")
        parts += [f"multiplier={bound(p, s, '0.3 + exp(0.5 * {})', spread='exp(0.5 * {})')}"] * (kind != "offset")
        return f"<{', '.join(parts if c.chance(70) else parts[::-1])}>", "real"
    low, high = bound(p, s, "-1 + {}", infinite="-inf"), bound(p, s, "3 + {}", infinite="inf")
    parts = [f"lower={low}"] * (kind != "upper") + [f"upper={high}"] * (kind != "lower")
    return f"<{', '.join(parts)}>", "interval"


def bound(p: Program, s: Shape, form: str, infinite: str = "", spread: str = "") -> str:
    """A bound: one real for all components, or one number for each."""
    c = p.choices
    level = c.pick(["real", "all"])
    of = {"real": Shape(), "all": s}[level]
    if of.base == "real" and not of.arrays:
        return form.format(f"tanh({p.real()})") if c.chance(60) else form.format("0.2")
    if c.chance(40) and not of.is_empty:
        return _function(p, of, form)
    return p.datum(of, _bounds(p, of.values, form, infinite))


def _bounds(p: Program, sizes: tuple[int, ...], form: str, infinite: str) -> Any:
    if sizes:
        return [_bounds(p, sizes[1:], form, infinite) for _ in range(sizes[0])]
    if infinite and p.choices.chance(20):
        return float(infinite)
    x = (p.choices.below(21) - 10) / 10
    return {"{}": x, "-1 + {}": -1 + x, "3 + {}": 3 + x}.get(form, 0.4 + abs(x))


def _function(p: Program, s: Shape, form: str) -> str:
    """A container of parameters, made by a function of the program."""
    name = p.fresh("bounds")
    own = [f"int n{i}" for i in range(len(s.values))]
    sized = Shape(s.base, tuple(f"n{i}" for i in range(len(s.arrays))),
                  tuple(f"n{i + len(s.arrays)}" for i in range(len(s.sizes))))  # fmt: skip
    loops = " ".join(f"for (i{i} in 1:n{i})" for i in range(len(s.values)))
    at = ", ".join(f"i{i}" for i in range(len(s.values)))
    number = " + ".join(f"{0.3 + 0.1 * i} * i{i}" for i in range(len(s.values)))
    p.add("functions", f"{s.unsized} {name}({', '.join(['real x', *own])}) {{", f"  {sized.declared('out')};",
          f"  {loops} out[{at}] = {form.format(f'tanh(x + {number})')};", "  return out;", "}")  # fmt: skip
    return f"{name}({', '.join([p.real(), *s.arrays, *s.sizes])})"


LAWS = {
    "real": ["normal({r}, 1.5)", "student_t(4, {r}, 1.2)", "cauchy({r}, 2)", "logistic({r}, 1)", "std_normal()",
             "double_exponential({r}, 2)", "gumbel({r}, 1)", "skew_normal({r}, 1, 0.5)"],
    "positive": ["exponential(1.5)", "gamma(2, exp({r}))", "normal({r}, 1.5)", "lognormal({r}, 1)", "inv_gamma(2, 3)",
                 "weibull(2, 1.5)", "cauchy(0, 2)", "student_t(4, 0, 1)", "chi_square(3)", "rayleigh(1.2)",
                 "pareto_type_2(0, 1, 2)", "frechet(2, 1)", "inv_chi_square(3)", "scaled_inv_chi_square(3, 1)",
                 "loglogistic(1, 2)", "normal(0, exp({r}))", "std_normal()"],
    "unit": ["beta(2, exp({r}))", "uniform(0, 1)", "normal({r}, 1)", "beta_proportion(0.4, 3)", "exponential(1)",
             "gamma(2, 2)"],
    "interval": ["normal({r}, 1.5)", "student_t(4, {r}, 1.2)", "cauchy({r}, 2)", "logistic({r}, 1)"],
}  # fmt: skip


def laws(p: Program, name: str, s: Shape, domain: str) -> None:
    """A law of a parameter: of all, of parts, of elements one by one, under conditions, truncated, or none."""
    c = p.choices
    law = c.pick(LAWS[domain]).format(r=f"tanh({p.real()})")
    if domain == "interval" and c.chance(20):
        law += " T[-30, 30]" if s == Shape() else ""
    text, loops = _part(p, name, s)
    if not text or c.chance(10):
        return
    line = f"{text} ~ {law};"
    if loops and c.chance(25):
        i = loops[-1].split()[1][1:]
        loops.append(c.pick([f"if ({i} % 2 == 1)", f"if ({i} > 1)", f"if ({p.real()} > 0.1)"]))
        if "0.1" in loops[-1]:  # where Stan's `~` lacks constants on one side
            kind, _, arguments = law.partition("(")
            line = f"target += {kind}_lpdf({text} | {arguments};"
    for loop in reversed(loops):
        line = f"{loop} {line}" if c.chance(60) else f"{loop} {{ {line} }}"
    p.add("model", line)


def _part(p: Program, name: str, s: Shape) -> tuple[str, Lines]:
    """What a law is of, and the loops around: numbers, or containers of one dimension; nothing for arrays of others."""
    c, text = p.choices, name
    loops: Lines = []

    def over(size: str) -> None:
        nonlocal text
        i = p.fresh("i")
        loops.append(f"for ({i} in 1:{size})")
        text = f"{text}[{i}]"

    for k, n in enumerate(s.arrays):
        if s.base == "vector" or s.base == "row_vector" or k + 1 < len(s.arrays) or c.chance(40):
            over(n)
    if s.base == "matrix" and len(loops) < len(s.arrays):
        return "", []
    if s.base == "matrix" and c.chance(50):
        over(s.sizes[0])
        if c.chance(40):
            over(s.sizes[1])
    elif s.base == "matrix":
        text = f"to_vector({text})"
    elif s.base != "real" and c.chance(30):
        over(s.sizes[0])
    return text, loops


def summed(text: str, s: Shape) -> str:
    """The sum of a container's tanh as one real."""
    if not s.arrays:
        return f"tanh({text})" if s.base == "real" else f"sum(tanh({text}))"
    return f"total({text})"


def used(p: Program, name: str, s: Shape) -> None:
    """The parameter in transformed parameters, the model or generated quantities: whole, in loops, by slices."""
    c = p.choices
    if s == Shape():
        p.reals.append(name)
    if not s.is_empty and s.values:
        first = f"{name}[{', '.join('1' for _ in s.values)}]"
        last = f"{name}[{', '.join([*s.arrays, *s.sizes])}]"
        p.reals += [first, last]
    for _ in range(c.pick([1, 2])):
        block = c.pick(["model", "transformed parameters", "generated quantities"])
        with c.span():
            lines, value = c.weighted([(3, whole), (4, in_loops), (3, by_slices)])(p, name, s)
        if block == "model":
            p.add("model", "{", *("  " + x for x in lines), f"  target += 0.3 * ({value});", "}")
        else:
            out = p.fresh("t")
            p.add(block, f"real {out};", "{", *("  " + x for x in lines), f"  {out} = {value};", "}")


def whole(p: Program, name: str, s: Shape) -> tuple[Lines, str]:
    copy = p.fresh("v")
    total, lines = in_total(p, copy, s)
    return [f"{s.declared(copy)} = {name};", *lines], total


def in_total(p: Program, name: str, s: Shape) -> tuple[str, Lines]:
    if not s.arrays:
        return summed(name, s), []
    acc, index = p.fresh("s"), [p.fresh("i") for _ in s.arrays]
    loops = " ".join(f"for ({i} in 1:{n})" for i, n in zip(index, s.arrays))
    return acc, [f"real {acc} = 0;", f"{loops} {acc} += {summed(f'{name}[' + ', '.join(index) + ']', s.element)};"]


def in_loops(p: Program, name: str, s: Shape) -> tuple[Lines, str]:
    """A recurrence over the components, or sums of them under conditions."""
    c = p.choices
    acc = p.fresh("s")
    if not s.values:
        return [f"real {acc} = 0;", f"for (k in 1:3) {acc} = tanh({acc} + k * {name});"], acc
    index = [p.fresh("i") for _ in s.values]
    sizes = [*s.arrays, *s.sizes]
    loops = [f"for ({i} in 1:{n})" for i, n in zip(index, sizes)]
    order = range(len(loops)) if c.chance(60) else range(len(loops))[::-1]
    x = f"{name}[{', '.join(index)}]"
    body = c.pick([f"{acc} += tanh({x});", f"{acc} = tanh(0.7 * {acc} + {x});",
                   f"if ({x} > 0.4) {acc} += {x}; else {acc} -= 0.1;",
                   f"if ({index[-1]} == 1) continue; else {acc} += 0.5 * tanh({x});"])  # fmt: skip
    return [f"real {acc} = 0;", " ".join(loops[k] for k in order) + f" {{ {body} }}"], acc


def by_slices(p: Program, name: str, s: Shape) -> tuple[Lines, str]:
    """Parts by ranges and lists of indices."""
    c = p.choices
    at, left, values = [], [], list(s.values)
    for k, n in enumerate([*s.arrays, *s.sizes]):
        size = values[k]
        how = c.pick([":", "range", "list", "one", "from"]) if size else ":"
        text, many = {":": (":", n), "range": (f"1:{n}", n), "list": (f"{{{n}, 1, {n}}}", "3"), "one": (n, ""),
                      "from": (f"{n}:", "1")}[how]  # fmt: skip
        at.append(text)
        left.append(many)
    count = len(s.arrays)
    base = s.base
    arrays = tuple(m for m in left[:count] if m)
    own = left[count:]
    if base == "matrix":
        base = {(True, True): "matrix", (False, True): "row_vector", (True, False): "vector",
                (False, False): "real"}[bool(own[0]), bool(own[1])]  # fmt: skip
    elif base != "real" and not own[0]:
        base = "real"
    made = Shape(base, arrays, tuple(m for m in own if m), ())
    part = p.fresh("v")
    value, lines = in_total(p, part, made)
    source = f"{name}[{', '.join(at)}]" if at else name
    return [f"{made.declared(part)} = {source};", *lines], value


STRUCTURED = {
    "simplex": ("vector", 1, ["dirichlet({ones})"]), "ordered": ("vector", 1, ["normal({r}, 1.5)", "cauchy(0, 2)"]),
    "positive_ordered": ("vector", 1, ["normal({r}, 1)", "exponential(1)", "gamma(2, 2)", "lognormal(0, 1)"]),
    "unit_vector": ("vector", 2, ["normal({r}, 1)"]), "sum_to_zero_vector": ("vector", 1, ["normal(0, 1.5)",
    "normal({r}, 1)"]),
    "cholesky_factor_corr": ("square", 1, ["lkj_corr_cholesky(exp({r}))", "lkj_corr_cholesky(2)"]),
    "corr_matrix": ("square", 1, ["lkj_corr(exp({r}))"]),
    "cov_matrix": ("square", 1, ["wishart({size} + 1.5, {eye})", "inv_wishart({size} + 2, {eye})"]),
    "cholesky_factor_cov": ("square", 1, ["wishart_cholesky({size} + 1.5, {eye})",
    "inv_wishart_cholesky({size} + 2, {eye})"]),
    "sum_to_zero_matrix": ("matrix", 1, []), "row_stochastic_matrix": ("matrix", 1, []),
    "column_stochastic_matrix": ("matrix", 1, []),
}  # fmt: skip


def structured(p: Program) -> None:
    """Simplexes, factors and their like, in arrays, with laws of each element."""
    c = p.choices
    word = c.pick(list(STRUCTURED))
    form, least, known = STRUCTURED[word]
    n, value = p.size(least)
    m, other = p.size(1) if form == "matrix" else (n, value)
    sizes, values = ((n,), (value,)) if form in ("vector", "square") else ((n, m), (value, other))
    arrays = [p.size() for _ in range(c.weighted([(4, 0), (5, 1), (2, 2)]))]
    name = p.fresh("p")
    of = Shape(word, tuple(t for t, _ in arrays), sizes)
    p.add("parameters", of.declared(name) + ";")
    full = (sizes * 2, values * 2) if form == "square" else (sizes, values)
    s = Shape("vector" if form == "vector" else "matrix", of.arrays, full[0], (*(v for _, v in arrays), *full[1]))
    with c.span():
        if known and c.chance(75):
            structured_law(p, name, s, c.pick(known))
    used(p, name, s)


def structured_law(p: Program, name: str, s: Shape, law: str) -> None:
    c, text, loops = p.choices, name, []
    size = s.sizes[0]
    law = law.format(r=f"tanh({p.real()})", size=size, eye=f"identity_matrix({size})",
                     ones=c.pick([f"rep_vector(1.5, {size})",
                         f"rep_vector(exp(tanh({p.real()})), {size})"]))  # fmt: skip
    keeps = 1 if law.startswith("dirichlet") and c.chance(50) else 0
    for n in s.arrays[: len(s.arrays) - keeps]:
        i = p.fresh("i")
        loops.append(f"for ({i} in 1:{n})")
        text = f"{text}[{i}]"
    p.add("model", " ".join([*loops, f"{text} ~ {law};"]))


def in_tuples(p: Program) -> None:
    """A tuple of constrained items, perhaps of tuples, perhaps in an array."""
    c, name = p.choices, p.fresh("p")
    items = [_item(p) for _ in range(2)]
    n, _ = p.size(1) if c.chance(40) else ("", 0)
    head = f"array[{n}] " if n else ""
    p.add("parameters", f"{head}tuple({', '.join(t for t, _ in items)}) {name};")
    for k, (_, s) in enumerate(items, 1):
        text = f"{name}[{c.pick(['1', n])}].{k}" if n else f"{name}.{k}"
        used(p, text, s)


def _item(p: Program) -> tuple[str, Shape]:
    c = p.choices
    n, value = p.size(1)
    r = f"tanh({p.real()})"
    return c.pick([
        ("real", Shape()), (f"real<lower={r}>", Shape()), (f"vector<lower={r}, upper=2>[{n}]", Shape("vector", (),
        (n,), (value,))),
        (f"simplex[{n}]", Shape("vector", (), (n,), (value,))), (f"array[2] ordered[{n}]", Shape("vector", ("2",),
        (n,), (2, value))),
        (f"array[2, {n}] real<upper={r}>", Shape("real", ("2", n), (), (2, value))),
        (f"cov_matrix[{n}]", Shape("matrix", (), (n, n), (value, value))),
        (f"array[{n}] sum_to_zero_vector[2]", Shape("vector", (n,), ("2",), (value, 2))),
        (f"array[2] cholesky_factor_corr[{n}]", Shape("matrix", ("2",), (n, n), (2, value, value))),
        (f"matrix<offset={r}, multiplier=2>[2, {n}]", Shape("matrix", (), ("2", n), (2, value))),
        (f"column_stochastic_matrix[2, {n}]", Shape("matrix", (), ("2", n), (2, value))),
        (f"row_vector<multiplier=exp({r})>[{n}]", Shape("row_vector", (), (n,), (value,))),
    ])  # fmt: skip
