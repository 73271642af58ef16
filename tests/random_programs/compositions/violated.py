"""Constraints of transformed parameters and generated quantities that hold at some points and not at others."""

from __future__ import annotations

from .scope import Program

KINDS = ["real<lower=0>", "real<upper=0.8>", "real<lower={r}, upper={r} + 2>", "vector<lower=-1.2>[2]", "simplex[2]",
         "ordered[2]", "positive_ordered[2]", "unit_vector[2]", "sum_to_zero_vector[2]", "cov_matrix[2]",
         "corr_matrix[2]",
         "cholesky_factor_corr[2]", "cholesky_factor_cov[2]", "row_stochastic_matrix[2, 2]",
         "column_stochastic_matrix[2, 2]", "sum_to_zero_matrix[2, 2]", "row_vector<lower={r} - 1>[2]",
         "matrix<upper=1.5>[2, 2]", "int<lower=0, upper=2>", "vector<offset={r}, multiplier=2>[2]"]  # fmt: skip


def violated(p: Program) -> None:
    """One or two variables that are as declared at some points."""
    p.reals += ["u", "w"]
    p.add("parameters", "real u;", "real w;")
    p.add("model", "u ~ normal(0, 1);", "w ~ normal(0, 1);")
    for _ in range(p.choices.pick([1, 2])):
        with p.choices.span():
            _one(p)


def _value(p: Program, kind: str) -> str:
    """A value that may satisfy a constraint."""
    c, r, s = p.choices, p.real(), p.real()
    holds = f"{r} > {c.pick(['-0.6', '0.1', '0.4'])}"
    good, bad = {
        "real": (f"0.3 + 0.2 * tanh({s})", f"{s}"), "vector": (f"[0.1, 0.2 * tanh({s})]'", f"[{s}, {r}]'"),
        "row_vector": (f"[0.1, 0.2 * tanh({s})]", f"[{s}, {r}]"),
        "simplex": (f"[inv_logit({s}), 1 - inv_logit({s})]'", f"[{s}, 1 - {s}]'"),
        "ordered": (f"[{s}, {s} + 0.1]'", f"[{s}, {r}]'"), "positive_ordered": (f"[0.1, 0.2 + exp({s})]'",
        f"[{s}, {r}]'"),
        "unit_vector": (f"[sin({s}), cos({s})]'", f"[sin({s}), {c.pick(['0.5', f'cos({r})'])}]'"),
        "sum_to_zero_vector": (f"[{s}, -{s}]'", f"[{s}, {r}]'"),
        "cov_matrix": (f"[[1.2, 0.3 * tanh({s})], [0.3 * tanh({s}), 1]]", f"[[{s}, 0.1], [0.1, 1]]"),
        "corr_matrix": (f"[[1, tanh({s})], [tanh({s}), 1]]", f"[[1, {s}], [{c.pick([s, '0.1'])}, 1]]"),
        "cholesky_factor_corr": (f"[[1, 0], [tanh({s}), sqrt(1 - square(tanh({s})))]]",
        f"[[1, 0], [tanh({s}), {c.pick(['1', r])}]]"),
        "cholesky_factor_cov": (f"[[1.1, 0], [{s}, 0.4]]", f"[[{s}, {c.pick(['0', '0.1'])}], [0.2, 1]]"),
        "row_stochastic_matrix": (f"[[0.2, 0.8], [inv_logit({s}), 1 - inv_logit({s})]]",
        f"[[0.2, 0.8], [{s}, 1 - {s}]]"),
        "column_stochastic_matrix": (f"[[0.2, inv_logit({s})], [0.8, 1 - inv_logit({s})]]",
        f"[[0.2, {s}], [0.8, 1 - {s}]]"),
        "sum_to_zero_matrix": (f"[[{s}, -{s}], [-{s}, {s}]]", f"[[{s}, -{s}], [-{s}, {r}]]"),
        "matrix": (f"[[{s}, 0.1], [0.3, -{s}]] - 1", f"[[{s}, 0.1], [0.3, 1 - {s}]]"),
    }[kind]  # fmt: skip
    return c.pick([f"{holds} ? {good} : {bad}", bad, good])


def _one(p: Program) -> None:
    c = p.choices
    form = c.pick(KINDS)
    kind = form.partition("[")[0].partition("<")[0]
    block = c.pick(["transformed parameters", "generated quantities"])
    name, count = p.fresh("v"), c.pick(["", "2", "2", "0"])
    if kind == "int":
        block = "generated quantities"
        p.add(
            block,
            f"array[2] {form} {name};",
            f"for (i in 1:2) {name}[i] = i + ({p.real()} > 0.3) - ({p.real()} > 0.2);",
        )
        return
    form = form.format(r=f"tanh({p.real()})")
    declared = f"array[{count}] {form} {name}" if count else f"{form} {name}"
    p.add(block, f"{declared};")
    if not count:
        _assign(p, block, name, kind)
    else:
        i = p.fresh("i")
        body = [f"{name}[{i}] = {_value(p, kind)};"]
        if c.chance(30):
            body += [f"if ({i} == 2) {name}[{i}] = {_value(p, kind)};"]
        p.add(block, f"for ({i} in 1:{count}) {{ {' '.join(body)} }}")
    seen = {"real": "{}"}.get(kind, "sum({})").format(f"{name}[1]" if count else name)
    if block == "transformed parameters" and count != "0" and c.chance(60):
        p.add("model", f"target += 0.1 * {seen};")


def _assign(p: Program, block: str, name: str, kind: str) -> None:
    """As a whole, or spoilt and mended, or by a function, or under a condition."""
    c, value = p.choices, _value(p, kind)
    way = c.pick(["whole", "mended", "branches", "loop"])
    if way == "whole":
        p.add(block, f"{name} = {value};")
    elif way == "mended":
        p.add(block, f"{name} = {_value(p, kind)};", f"{name} = {value};")
    elif way == "branches":
        p.add(block, f"if ({p.real()} > 0.2) {{ {name} = {value}; }} else {{ {name} = {_value(p, kind)}; }}")
    else:
        p.add(
            block,
            f"{name} = {_value(p, kind)};",
            f"for (k in 1:3) {{ if (k > 1 && {p.real()} > k - 2.2) {name} = {value}; }}",
        )
