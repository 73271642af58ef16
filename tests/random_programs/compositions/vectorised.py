"""Laws with arguments of all kinds together: in loops over rows, columns and items, of arrays, under conditions."""

from __future__ import annotations

from dataclasses import dataclass

from .scope import Program, Shape

# name: outcome, arguments
UNIVARIATE = {
    "normal": ("real", "real", "positive"), "student_t": ("real", "positive", "real", "positive"),
    "cauchy": ("real", "real", "positive"), "logistic": ("real", "real", "positive"), "std_normal": ("real",),
    "double_exponential": ("real", "real", "positive"), "gumbel": ("real", "real", "positive"),
    "skew_normal": ("real", "real", "positive", "real"), "exp_mod_normal": ("real", "real", "positive", "positive"),
    "skew_double_exponential": ("real", "real", "positive", "unit"), "von_mises": ("real", "real", "positive"),
    "exponential": ("positive", "positive"), "gamma": ("positive", "positive", "positive"),
    "inv_gamma": ("positive", "positive", "positive"), "lognormal": ("positive", "real", "positive"),
    "weibull": ("positive", "positive", "positive"), "frechet": ("positive", "positive", "positive"),
    "rayleigh": ("positive", "positive"), "chi_square": ("positive", "positive"),
    "inv_chi_square": ("positive", "positive"), "scaled_inv_chi_square": ("positive", "positive", "positive"),
    "loglogistic": ("positive", "positive", "positive"), "pareto": ("beyond", "positive", "positive"),
    "pareto_type_2": ("positive", "real_below", "positive", "positive"), "beta": ("unit", "positive", "positive"),
    "beta_proportion": ("unit", "unit", "positive"), 
    "bernoulli": ("bit", "unit"), "bernoulli_logit": ("bit", "real"), "binomial": ("count", "size", "unit"),
    "binomial_logit": ("count", "size", "real"), "beta_binomial": ("count", "size", "positive", "positive"),
    "poisson": ("count", "positive"), "poisson_log": ("count", "real"), "neg_binomial": ("count", "positive",
    "positive"), "neg_binomial_2": ("count", "positive", "positive"),
    "neg_binomial_2_log": ("count", "real", "positive"), "beta_neg_binomial": ("count", "positive", "positive",
    "positive"),
    "normal_sufficient": ("real", "real", "positive"),
}  # fmt: skip
FORMS = {"positive": "exp(tanh({}))", "unit": "inv_logit({})", "real": "{}", "beyond": "exp(3 + tanh({}))",
         "real_below": "tanh({})"}  # fmt: skip
FORMS["real_below"] = "log(inv_logit({}))"
INTS = {"count": (0, 4), "bit": (0, 1), "size": (4, 9)}
WITHOUT_CDF = ("von_mises", "loglogistic", "beta_neg_binomial", "bernoulli_logit", "binomial_logit", "poisson_log",
    "neg_binomial_2_log",
               "normal_sufficient")  # fmt: skip


@dataclass
class Loop:
    """A loop of `count` iterations over `index`, or none; `n` is the size of containers."""

    index: str
    count: tuple[str, int]
    n: tuple[str, int]


def vectorised(p: Program) -> None:
    """A few laws, each in a loop or outside of one."""
    for _ in range(p.choices.pick([1, 2])):
        with p.choices.span():
            loop = Loop(p.fresh("i") if p.choices.chance(75) else "", p.size(0), p.size(0))
            p.choices.weighted([(5, univariate), (4, multivariate)])(p, loop)


def univariate(p: Program, loop: Loop) -> None:
    c = p.choices
    name = c.pick([n for n in UNIVARIATE if n != "normal_sufficient"])
    outcome, *kinds = UNIVARIATE[name]
    y, many = argument(p, loop, outcome)
    given, sizes = [], [many]
    for kind in kinds:
        text, more = argument(p, loop, kind)
        given.append(text)
        sizes.append(more)
    discrete = outcome in INTS
    statement(p, loop, name, y, given, "lpmf" if discrete else "lpdf", not any(sizes))


def argument(p: Program, loop: Loop, kind: str) -> tuple[str, bool]:
    """A number or a container of `loop.n`, of data or parameters; and whether it is a container."""
    c = p.choices
    container, lane = c.chance(50), bool(loop.index) and c.chance(70)
    n, count = loop.n, loop.count
    if kind in INTS:
        low, high = INTS[kind]
        s = Shape("int", (count[0],) * lane + (n[0],) * container, (), (count[1],) * lane + (n[1],) * container)
        return p.datum(s, ints(p, s.values, low, high)) + f"[{loop.index}]" * lane, container
    base = c.pick(["array", "vector", "row_vector"]) if container else "real"
    s, at = source(p, loop, base, lane)
    name = p.datum(s) if c.chance(30) else parameter(p, s)
    return FORMS[kind].format(at.format(name)), container


def ints(p: Program, sizes: tuple[int, ...], low: int, high: int) -> object:
    return [ints(p, sizes[1:], low, high) for _ in range(sizes[0])] if sizes else p.choices.between(low, high)


def parameter(p: Program, s: Shape) -> str:
    """A plain parameter, with a law that is proper."""
    name = p.fresh("q")
    p.add("parameters", s.declared(name) + ";")
    loops, text = "", name
    for k, n in enumerate(s.arrays):
        loops += f"for (k{k} in 1:{n}) "
        text += f"[k{k}]"
    p.add("model", f"{loops}target += -0.5 * sum(square({f'to_vector({text})' if s.base == 'matrix' else text}));"
          if s.base != "real" else f"{loops}target += -0.5 * square({text});")  # fmt: skip
    return name


def source(p: Program, loop: Loop, base: str, lane: bool) -> tuple[Shape, str]:
    """What holds a number or a container for each iteration, or one for all, and how it is read."""
    c, i = p.choices, loop.index
    (n, size), (count, times) = loop.n, loop.count
    if base == "real":
        if not lane:
            return Shape(), "{}"
        return Shape(c.pick(["vector", "row_vector"]), (), (count,), (times,)) if c.chance(60) else (
            Shape("real", (count,), (), (times,))), "{}[" + i + "]"  # fmt: skip
    if not lane:
        own = Shape("real", (n,), (), (size,)) if base == "array" else Shape(base, (), (n,), (size,))
        return own, "{}"
    options: list[tuple[Shape, str]] = {
        "array": [(Shape("real", (count, n), (), (times, size)), "{}[" + i + "]"),
                  (Shape("real", (n, count), (), (size, times)), "{}[:, " + i + "]"),
                  (Shape("matrix", (), (count, n), (times, size)), "to_array_1d({}[" + i + "])")],
        "vector": [(Shape("vector", (count,), (n,), (times, size)), "{}[" + i + "]"),
                   (Shape("matrix", (), (n, count), (size, times)), "{}[:, " + i + "]"),
                   (Shape("matrix", (), (count, n), (times, size)), "{}[" + i + "]'"),
                   (Shape("matrix", (), (n, count), (size, times)), "col({}, " + i + ")")],
        "row_vector": [(Shape("matrix", (), (count, n), (times, size)), "{}[" + i + "]"),
                       (Shape("row_vector", (count,), (n,), (times, size)), "{}[" + i + "]"),
                       (Shape("matrix", (), (n, count), (size, times)), "{}[:, " + i + "]'")],
    }[base]  # fmt: skip
    return c.pick(options)


def statement(p: Program, loop: Loop, name: str, y: str, given: list[str], ending: str, scalar: bool) -> None:
    """A law as a statement, truncated or not, as an increment, or as a variable; conditions around it."""
    c = p.choices
    arguments = ", ".join(given)
    ways = ["~", "target", "lupdf", "variable"]
    if name in UNIVARIATE and name not in WITHOUT_CDF:
        ways += ["cdf", *(["truncated"] * scalar)]
    way = c.pick(ways)
    call = f"{name}_{ending}({' | '.join([y, arguments] if arguments else [y + ' | '])})"
    if name == "hmm":
        ways, call = ["target", "variable"], f"hmm_marginal({y}, {arguments})"
        way = c.pick(ways)
    after = ""
    if way == "~":
        line = f"{y} ~ {name}({arguments});"
    elif way == "truncated":
        low, high = (f"({y}) - {FORMS['positive'].format(p.real())}", f"({y}) + {FORMS['positive'].format(p.real())}")
        if ending == "lpmf":
            low, high = f"{y} - 1", f"{y} + {c.pick(['1', '2', '0'])}"
        elif UNIVARIATE[name][0] != "real":
            low = f"0.5 * ({y})"
        line = f"{y} ~ {name}({arguments}) T[{c.pick([low, ''])}, {c.pick([high, ''])}];"
    else:
        word = {"lupdf": ending.replace("lp", "lup")}.get(way, ending)
        word = c.pick(["cdf", "lcdf", "lccdf"]) if way == "cdf" else word
        value = call.replace(f"_{ending}(", f"_{word}(")
        line = f"target += 0.5 * {value};"
        if way == "variable":
            out = p.fresh("t")
            p.add("transformed parameters", f"real {out} = 0;")
            line, after = f"{out} += {call};", out
    lines = around(p, loop, line, way in ("target", "cdf", "variable"))
    p.add("transformed parameters" if after else "model", *lines)
    if after:
        p.add("model", f"target += 0.3 * {after};")


def around(p: Program, loop: Loop, line: str, has_constants: bool) -> list[str]:
    """A loop, and in it perhaps a condition, on parameters only where Stan keeps all constants."""
    c, i = p.choices, loop.index
    conditions = [f"if ({p.real()} > 0.1) "] * has_constants
    conditions += [f"if ({i} % 2 == 1) ", f"if ({i} > 2) continue; else "] if i else []
    condition = c.pick(["", "", "", *conditions])
    return [f"for ({i} in 1:{loop.count[0]}) {{ {condition}{line} }}"] if i else [f"{condition}{line}"]


def vector(p: Program, loop: Loop, form: str = "{}", rows: bool = True) -> str:
    """A vector of loop.n, or a row vector, of data or parameters."""
    c = p.choices
    lane = bool(loop.index) and c.chance(60)
    s, at = source(p, loop, c.pick(["vector", "row_vector"]) if rows else "vector", lane)
    return form.format(at.format(p.datum(s) if c.chance(25) else parameter(p, s)))


def vectors(p: Program, loop: Loop, form: str = "{}") -> str:
    """A vector or an array of two or none; form is by components."""
    c = p.choices
    if c.chance(55):
        return vector(p, loop, form)
    lane = bool(loop.index) and c.chance(50)
    (n, size), (count, times) = loop.n, loop.count
    s = Shape(c.pick(["vector", "row_vector"]), (count,) * lane + ("2",), (n,), (times,) * lane + (2, size))
    name = p.datum(s) if c.chance(25) else parameter(p, s)
    return name + f"[{loop.index}]" * lane


def matrix(p: Program, loop: Loop, kind: str) -> str:
    """A matrix of loop.n: symmetric and positive definite, a Cholesky factor, one of a correlation matrix."""
    lane = bool(loop.index) and p.choices.chance(40)
    (n, size), (count, times) = loop.n, loop.count
    s = Shape("matrix", (count,) * lane, (n, n), (times,) * lane + (size, size))
    m = parameter(p, s) + f"[{loop.index}]" * lane
    full = f"add_diag(tcrossprod({m}), 1.0)"
    if kind == "covariance":
        return full
    factor = f"cholesky_decompose({full})"
    if kind == "factor":
        return factor
    own = f"diag_pre_multiply(inv_sqrt(diagonal({full})), {factor})"
    return own if kind == "correlation factor" else f"multiply_lower_tri_self_transpose({own})"


def scalar(p: Program, loop: Loop, kind: str) -> str:
    lane = bool(loop.index) and p.choices.chance(50)
    s, at = source(p, loop, "real", lane)
    return FORMS[kind].format(at.format(parameter(p, s)))


def multivariate(p: Program, loop: Loop) -> None:
    c = p.choices
    loop.n = p.size(1)
    n = loop.n[0]
    name = c.pick(list(MULTIVARIATE))
    y, given, ending = MULTIVARIATE[name](p, loop, n)
    statement(p, loop, name, y, given, ending, False)


def data_ints(p: Program, loop: Loop, low: int, high: int, size: tuple[str, int] | None = None) -> str:
    """An array of ints, or one int."""
    lane = bool(loop.index) and p.choices.chance(60)
    own = () if size is None else (size,)
    every = [*([loop.count] if lane else []), *own]
    s = Shape("int", tuple(t for t, _ in every), (), tuple(v for _, v in every))
    return p.datum(s, ints(p, s.values, low, high)) + f"[{loop.index}]" * lane


def _glm(name: str, outcome: str, last: bool) -> object:
    def made(p: Program, loop: Loop, n: str) -> tuple[str, list[str], str]:
        c, rows = p.choices, p.size(0)
        lane = bool(loop.index) and c.chance(40)
        (count, times), (k, width) = loop.count, loop.n
        x = Shape("matrix", (count,) * lane, (rows[0], k), (times,) * lane + (rows[1], width))
        at = f"[{loop.index}]" * lane
        inside = Loop(loop.index, loop.count, rows)
        alpha = scalar(p, loop, "real") if c.chance(50) else vector(p, inside, rows=False)
        y = data_ints(p, loop, *INTS[outcome], rows) if outcome in INTS else vector(p, inside, rows=False)
        sizes = data_ints(p, loop, *INTS["size"], rows) if name.startswith("binomial") else ""
        beta = vector(p, loop, rows=False)
        more = [scalar(p, loop, "positive")] if last else []
        given = [
            *([sizes] if sizes else []),
            (p.datum(x) if c.chance(70) else parameter(p, x)) + at,
            alpha,
            beta,
            *more,
        ]
        return y, given, "lpmf" if outcome in INTS else "lpdf"

    return made


def _ordered(name: str) -> object:
    def made(p: Program, loop: Loop, n: str) -> tuple[str, list[str], str]:
        c, rows, top = p.choices, p.size(0), loop.n[1] + 1
        cut = "cumulative_sum(exp(tanh({})))"
        if c.chance(50):
            return data_ints(p, loop, 1, top), [scalar(p, loop, "real"), vector(p, loop, cut, False)], "lpmf"
        inside = Loop(loop.index, loop.count, rows)
        many = f"{{{vector(p, loop, cut, False)}, {vector(p, loop, cut, False)}}}"
        if c.chance(50):
            two = Loop(loop.index, loop.count, ("2", 2))
            return data_ints(p, loop, 1, top, ("2", 2)), [vector(p, two, rows=False), many], "lpmf"
        return data_ints(p, loop, 1, top, rows), [vector(p, inside, rows=False), vector(p, loop, cut, False)], "lpmf"

    return made


def _categorical(form: str) -> object:
    def made(p: Program, loop: Loop, n: str) -> tuple[str, list[str], str]:
        size = p.size(0) if p.choices.chance(50) else None
        return data_ints(p, loop, 1, loop.n[1], size), [vector(p, loop, form, False)], "lpmf"

    return made


def _multinomial(form: str) -> object:
    return lambda p, loop, n: (data_ints(p, loop, 0, 4, loop.n), [vector(p, loop, form, False)], "lpmf")


def _hmm(p: Program, loop: Loop, n: str) -> tuple[str, list[str], str]:
    c, steps = p.choices, p.size(1)
    lane = bool(loop.index) and c.chance(50)
    (count, times), (k, width) = loop.count, loop.n
    s = Shape("matrix", (count,) * lane, (k, steps[0]), (times,) * lane + (width, steps[1]))
    omega = parameter(p, s) + f"[{loop.index}]" * lane
    rows = f"rep_matrix({vector(p, loop, 'softmax({})', False)}', {k})"
    return omega, [rows, vector(p, loop, "softmax({})", False)], "marginal"


def _dlm(p: Program, loop: Loop, n: str) -> tuple[str, list[str], str]:
    c, steps = p.choices, p.size(1)
    (k, width) = loop.n
    y = p.datum(Shape("matrix", (), ("1", steps[0]), (1, steps[1]))) if c.chance(50) else (
        parameter(p, Shape("matrix", (), ("1", steps[0]), (1, steps[1]))))  # fmt: skip
    f = parameter(p, Shape("matrix", (), (k, "1"), (width, 1)))
    g = parameter(p, Shape("matrix", (), (k, k), (width, width)))
    v = f"[[{scalar(p, loop, 'positive')}]]" if c.chance(50) else f"[{scalar(p, loop, 'positive')}]'"
    return (
        y,
        [f, f"0.3 * {g}", v, matrix(p, loop, "covariance"), vector(p, loop, rows=False), matrix(p, loop, "covariance")],
        "lpdf",
    )


def _gp(kind: str) -> object:
    def made(p: Program, loop: Loop, n: str) -> tuple[str, list[str], str]:
        rows, lane = p.size(1), bool(loop.index) and p.choices.chance(50)
        s = Shape("matrix", (loop.count[0],) * lane, (rows[0], n), (loop.count[1],) * lane + (rows[1], loop.n[1]))
        inside = Loop(loop.index, loop.count, rows)
        y = parameter(p, s) + f"[{loop.index}]" * lane
        return y, [matrix(p, loop, kind), vector(p, inside, FORMS["positive"], False)], "lpdf"

    return made


MULTIVARIATE = {
    "multi_normal": lambda p, loop, n: (vectors(p, loop), [vectors(p, loop), matrix(p, loop, "covariance")], "lpdf"),
    "multi_normal_prec": lambda p, loop, n: (vectors(p, loop), [vectors(p, loop), matrix(p, loop, "covariance")],
    "lpdf"),
    "multi_normal_cholesky": lambda p, loop, n: (vectors(p, loop), [vectors(p, loop), matrix(p, loop, "factor")],
    "lpdf"),
    "multi_student_t": lambda p, loop, n: (
        vectors(p, loop), [scalar(p, loop, "positive"), vectors(p, loop), matrix(p, loop, "covariance")], "lpdf"),
    "multi_student_t_cholesky": lambda p, loop, n: (
        vectors(p, loop), [scalar(p, loop, "positive"), vectors(p, loop), matrix(p, loop, "factor")], "lpdf"),
    "multi_gp": _gp("covariance"), "multi_gp_cholesky": _gp("factor"),
    "wishart": lambda p, loop, n: (matrix(p, loop, "covariance"), [f"{n} + {scalar(p, loop, 'positive')}", matrix(p,
    loop, "covariance")], "lpdf"),
    "inv_wishart": lambda p, loop, n: (matrix(p, loop, "covariance"), [f"{n} + {scalar(p, loop, 'positive')}",
    matrix(p, loop, "covariance")], "lpdf"),
    "wishart_cholesky": lambda p, loop, n: (matrix(p, loop, "factor"), [f"{n} + {scalar(p, loop, 'positive')}",
    matrix(p, loop, "factor")], "lpdf"),
    "inv_wishart_cholesky": lambda p, loop, n: (matrix(p, loop, "factor"), [f"{n} + {scalar(p, loop, 'positive')}",
    matrix(p, loop, "factor")], "lpdf"),
    "lkj_corr": lambda p, loop, n: (matrix(p, loop, "correlation"), [scalar(p, loop, "positive")], "lpdf"),
    "lkj_corr_cholesky": lambda p, loop, n: (matrix(p, loop, "correlation factor"), [scalar(p, loop, "positive")],
    "lpdf"),
    "dirichlet": lambda p, loop, n: (vector(p, loop, "softmax({})", False), [vector(p, loop, FORMS["positive"],
    False)], "lpdf"),
    "dirichlet_multinomial": _multinomial(FORMS["positive"]), "multinomial": _multinomial("softmax({})"),
    "multinomial_logit": _multinomial("{}"), "categorical": _categorical("softmax({})"),
    "categorical_logit": _categorical("{}"), "ordered_logistic": _ordered("ordered_logistic"),
    "ordered_probit": _ordered("ordered_probit"), "gaussian_dlm_obs": _dlm, "hmm": _hmm,
    "normal_id_glm": _glm("normal_id_glm", "real", True), "bernoulli_logit_glm": _glm("bernoulli_logit_glm",
    "bit", False),
    "poisson_log_glm": _glm("poisson_log_glm", "count", False), "binomial_logit_glm": _glm("binomial_logit_glm",
    "count", False),
    "neg_binomial_2_log_glm": _glm("neg_binomial_2_log_glm", "count", True),
}  # fmt: skip
