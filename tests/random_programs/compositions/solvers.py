"""Functions of functions in loops over groups of different lengths, in recurrences, functions and conditions."""

from __future__ import annotations

from .functions import number_int, real
from .scope import Program

TIGHT = "1e-10, 1e-10, 100000"


def solvers(p: Program) -> None:
    c = p.choices
    n = c.pick([2, 3, 1])
    lengths = [c.pick([1, 2, 3]) for _ in range(n)]
    starts = [1 + sum(lengths[:i]) for i in range(n)]
    total = sum(lengths)
    p.data |= {"N": n, "k": c.pick([2, 1]), "T": total, "st": starts, "en": [a + b - 1 for a, b in zip(starts,
        lengths)],
               "ts": [round(0.3 * (j + 1), 3) for m in lengths for j in range(m)],
               "g": [c.between(0, 3) for _ in range(n)], "o": [(c.below(31) - 15) / 10 for _ in range(n)],
               "h": [[c.between(0, 3) for _ in range(2)] for _ in range(n)],
               "v": [(c.below(21) - 10) / 10 for _ in range(total)]}  # fmt: skip
    p.add("data", "int N;", "int<lower=1> k;", "int T;", "array[N] int st;", "array[N] int en;", "array[T] real ts;",
          "array[N] int g;", "vector[N] o;", "array[N, 2] int h;", "array[T] real v;")  # fmt: skip
    p.add(
        "parameters",
        "vector[N] x;",
        "array[N] real w;",
        "matrix[N, 2] s;",
        "array[T] real y;",
        "complex z;",
        "complex_vector[N] cv;",
    )
    p.add("model", "x ~ normal(0, 1);", "w ~ normal(0, 1);", "to_vector(s) ~ normal(0, 1);", "y ~ normal(0, 1);",
          "target += -norm(z);", "for (i in 1:N) target += -norm(cv[i]);")  # fmt: skip
    for _ in range(c.pick([1, 2])):
        with c.span():
            c.pick([trajectories, roots, integrals, parts, mapped])(p)


def _in_loop(p: Program, lines: list[str], value: str) -> None:
    """Statements of each iteration, whose value is summed, carried on or looked at under a condition."""
    c, a = p.choices, p.fresh("a")
    block = c.pick(["model", "transformed parameters", "generated quantities"])
    body = c.pick([f"{a} += {value};", f"{a} = tanh(0.5 * {a} + {value});", f"if (x[i] > 0.1) {a} += {value};",
                   f"if (g[i] == 1) continue; {a} += {value};", f"{a} += o[i] > 0 ? {value} : x[i];"])  # fmt: skip
    lines = [line.replace("@", a) for line in lines]
    p.add(block, f"real {a} = 0.1;", "for (i in 1:N) {", *(f"  {line}" for line in lines), f"  {body}", "}")
    if block != "generated quantities":
        p.add("model", f"target += 0.2 * {a};")


# what a solver passes on: as the function declares it, what is used of it there, what is given
PASSED = [("array[] real r", "sum(r)", "v[st[i]:en[i]]"), ("vector r", "r[1]", "s[i]'"), ("int r", "r", "g[i]"),
          ("data array[] int r", "r[1]", "h[i]"), ("complex r", "tanh(get_real(r) * get_imag(r))", "cv[i]"),
          ("tuple(complex_vector, int) r", "tanh(get_imag(r.1[1] * 1.0i) * r.2)", "(cv, g[i])")]  # fmt: skip


def _loop(of: str) -> str:
    """A loop that a condition on parameters ends, which leaves w."""
    return f"{{ real u = {of}; int m = 0; while (m < 2 && u > -9) {{ u = 0.3 * tanh(u + a); m += 1; }} w = u; }} "


def trajectories(p: Program) -> None:
    """Groups with times of their own, each from where its parameters tell."""
    c, f = p.choices, p.fresh("f")
    argument, used, given = c.pick(PASSED)
    test = c.pick(["", "if (a > 0.1) return [-y[1], -0.1 * y[2]]'; ", _loop("y[1]")])
    p.add("functions", f"vector {f}(real t, vector y, real a, {argument}) {{",
          f"  real w = 0; {test}"
          f"return [-exp(tanh(a)) * y[1] + 0.1 * t + w, 0.2 * y[1] - 0.3 * y[2] + 0.05 * {used}]'; }}")  # fmt: skip
    method = c.pick(["rk45", "bdf", "ckrk", "adams"])
    begin = c.pick(["[1, x[i]]'", "[0.5, 0.2]'", "[tanh(w[i]), 0.3]'", "s[i]'"])
    t0 = c.pick(["0", "0.0", "-0.1"])
    call = f"ode_{method}_tol({f}, {begin}, {t0}, ts[st[i]:en[i]], {TIGHT}, {real(p, 'i')}, {given})"
    last = c.pick(["tanh(sum(q[en[i] - st[i] + 1]))", "q[1][2]", "q[size(q), 1]", "mean(q[:, 1])"])
    _in_loop(p, [f"array[en[i] - st[i] + 1] vector[2] q = {call};"], last)


def roots(p: Program) -> None:
    """Equations whose root is the next state of a recurrence, or one for each group."""
    c, f = p.choices, p.fresh("f")
    argument, used, given = c.pick(PASSED)
    p.add(
        "functions",
        f"vector {f}(vector q, real a, vector b, {argument}) {{ real w = 0; {c.pick(['', _loop('q[1]')])}",
        f"  return [q[1]^3 + 2 * q[1] - tanh(a) - b[1] + w, q[2] + 0.2 * q[1] - b[2] + 0.1 * {used}]'; }}",
    )
    a = c.pick(["@", real(p, "i")])
    solver = c.pick(
        [
            "solve_newton_tol({f}, [0.1, 0.2]', 1e-11, 1e-11, 500, {a}, {b}, {given})",
            "solve_powell_tol({f}, [0.1, 0.2]', 1e-12, 1e-12, 500, {a}, {b}, {given})",
        ]
    )
    b = c.pick(["s[i]'", "[0.2, x[i]]'", "[o[i], g[i]]'"])
    _in_loop(p, [f"vector[2] q = {solver.format(f=f, a=a, b=b, given=given)};"], c.pick(["q[1]", "sum(q)"]))


def integrals(p: Program) -> None:
    c, f = p.choices, p.fresh("f")
    p.add(
        "functions",
        f"real {f}(real u, real uc, array[] real th, data array[] real r, data array[] int n) {{",
        f"  {c.pick(['', 'if (n[1] == 2) return exp(-square(u)); '])}return exp(-square(u) * (1 + square(th[1]))) * "
        f"(1 + r[1] * u); }}",
    )
    ends = c.pick(
        [
            "0, exp(tanh(x[i]))",
            "-1, 1",
            "negative_infinity(), positive_infinity()",
            "0, positive_infinity()",
            "x[i] - 2, x[i] + 1",
        ]
    )
    _in_loop(p, [], f"integrate_1d({f}, {ends}, {{{real(p, 'i')}, w[i]}}, {{o[i], 0.2}}, h[i], 1e-9)")


SLICED = {
    "array[] real": ("y[st[i]:en[i]]", "sl[j]"), "array[] int": ("h[i]", "sl[j] * 0.5"),
    "array[] vector": ("{{s[i]', [0.1, x[i]]'}}", "sum(sl[j])"),
    "array[,] real": ("{{{{x[i], 1}}, {{w[i], 2}}, {{0.1, 0.2}}}}", "sl[j, 1] * sl[j, 2]"),
    "array[] matrix": ("{{s, 2 * s}}", "sl[j][1, 2]"),
    "array[,] int": ("h[1:i]", "sl[j, 2] + 0.1"), "array[] row_vector": ("{{s[i]}}", "sl[j] * s0"),
}  # fmt: skip


def parts(p: Program) -> None:
    """Sums in parts, of slices of every kind, perhaps empty ones."""
    c, f = p.choices, p.fresh("f")
    kind = c.pick(list(SLICED))
    sliced, term = SLICED[kind]
    early = c.pick(["", "if (a > 0.5) return 0.3 * (end - start + 1);"])
    p.add("functions", f"real {f}({kind} sl, int start, int end, real a, vector s0, int n) {{",
        f"  real out = 0; {early}",
          f"  for (j in 1:end - start + 1) {{ if ({c.pick(['n == 3', 'a < -0.9', 'j > n + 1'])}) break; out += "
          f"tanh({term} + a * (start + j - 1)); }}",
          "  return out; }")  # fmt: skip
    text = sliced.format()
    if c.chance(15) and kind in ("array[] real", "array[] int"):
        text = "y[2:1]" if "real" in kind else "g[2:1]"
    name = c.pick(["reduce_sum", "reduce_sum_static"])
    _in_loop(p, [], f"{name}({f}, {text}, {c.pick(['1', 'k', '2'])}, {real(p, 'i')}, s[i]', {number_int(p, 'i')})")


def mapped(p: Program) -> None:
    c, f = p.choices, p.fresh("f")
    p.add("functions", f"vector {f}(vector phi, vector th, data array[] real r, data array[] int n) {{",
          f"  real a = phi[1]; for (j in 1:n[1]) {{ {c.pick(['', 'if (j == 2) continue;', 'if (a > 0.8) break;'])} "
          f"a += 0.2 * th[1] * j + r[1]; }}",
          f"  return {c.pick(['[a]', '[a, tanh(th[1])]'])}'; }}")  # fmt: skip
    _in_loop(p, [], f"tanh(sum(map_rect({f}, s[i]', {{[x[i]]', [w[i]]'}}, {{{{0.3}}, {{o[i]}}}}, {{h[i], {{1, 2}}}})))")
