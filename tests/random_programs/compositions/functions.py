"""Functions that are overloaded by type, give tuples, call each other, return early; promotions of what they take."""

from __future__ import annotations

from collections.abc import Callable

from .scope import Program


def functions(p: Program) -> None:
    """One or two families of functions, called in loops, recurrences and conditions of each block."""
    c = p.choices
    p.data |= {"N": c.pick([3, 2, 4, 1, 0]), "k": c.pick([2, 1, 3])}
    n = p.data["N"]
    p.add("data", "int N;", "int<lower=1> k;", "array[N] int g;", "vector[N] o;", "array[N, 2] int h;")
    p.data |= {"g": [c.between(0, 3) for _ in range(n)], "o": [(c.below(31) - 15) / 10 for _ in range(n)],
               "h": [[c.between(-2, 3) for _ in range(2)] for _ in range(n)]}  # fmt: skip
    p.add("parameters", "vector[N] x;", "array[N] real w;", "matrix[N, 2] s;", "complex z;", "complex_vector[N] cv;")
    p.add("model", "x ~ normal(0, 1);", "w ~ normal(0, 1);", "to_vector(s) ~ normal(0, 1);", "target += -norm(z);",
          "for (i in 1:N) target += -norm(cv[i]);")  # fmt: skip
    for _ in range(c.pick([1, 2])):
        with c.span():
            c.pick([overloaded, tupled, mutual, early, promoted, complexes, unpacked, void, nested_tuples, items])(p)


def real(p: Program, i: str = "") -> str:
    """A real, of an iteration where there is a loop."""
    own = [f"x[{i}]", f"w[{i}]", f"s[{i}, 2]", f"o[{i}]", f"get_real(cv[{i}])"] if i else []
    return p.choices.pick([*own, "m", "0.4", "get_imag(z)"])


def number(p: Program, i: str = "") -> str:
    """An int or a real."""
    own = [f"g[{i}]", f"h[{i}, 1]"] if i else []
    return p.choices.pick([real(p, i), "k", "2", *own])


def looped(p: Program, call: Callable[[str], str]) -> None:
    """A call of a real in each iteration: kept apart, summed, carried on, or under conditions."""
    c, block = p.choices, p.choices.pick(["model", "transformed parameters", "generated quantities"])
    i, v = p.fresh("i"), p.fresh("v")
    value = call(i)
    lines, shown = c.pick([
        ([f"vector[N] {v};", f"for ({i} in 1:N) {{ {v}[{i}] = {value}; }}"], f"sum({v})"),
        ([f"real {v} = 0;", f"for ({i} in 1:N) {{ {v} += {value}; }}"], v),
        ([f"real {v} = 0.1;", f"for ({i} in 1:N) {{ {v} = tanh(0.6 * {v} + {value}); }}"], v),
        ([f"real {v} = 0;", f"for ({i} in 1:N) {{ if (x[{i}] > 0.1) {v} += {value}; else {v} -= 0.3; }}"], v),
        ([f"real {v} = 0;", f"for ({i} in 1:N) {{ if (g[{i}] == 1) continue; {v} += {value}; }}"], v),
        ([f"real {v} = 0;", f"for ({i} in 1:N) {{ if ({value} > 0.6) break; {v} += o[{i}] + x[{i}]; }}"], v),
        ([f"array[N, 2] real {v};", f"for (j in 1:2) for ({i} in 1:N) {{ {v}[{i}, j] = j * {value}; }}"],
         f"sum(to_array_1d({v}))"),
    ])  # fmt: skip
    p.add(block, *lines)
    if block != "generated quantities":
        p.add("model", f"target += 0.2 * tanh({shown});")


OVERLOADS = {
    "int": "{r} f(int a) {{ return a * 3 %/% 2; }}", "real": "real f(real a) {{ return tanh(a) * 1.5; }}",
    "array[] int": "{r} f(array[] int a) {{ return sum(a) + size(a); }}",
    "array[] real": "real f(array[] real a) {{ return sum(a) - 0.2; }}",
    "vector": "real f(vector a) {{ return sum(square(a)); }}",
    "row_vector": "real f(row_vector a) {{ return sum(a) * 0.3; }}",
    "matrix": "real f(matrix a) {{ return sum(a) * 0.1; }}",
    "complex": "real f(complex a) {{ return get_real(a * a) + get_imag(a); }}",
    "tuple": "real f(tuple(real, int) a) {{ return a.1 * a.2; }}",
}  # fmt: skip
ARGUMENTS = {
    "int": ["g[{i}]", "h[{i}, 2]", "k", "3"], "real": ["x[{i}]", "w[{i}]", "0.4", "m"],
    "array[] int": ["h[{i}]", "{{k, g[{i}]}}", "{{1, 2}}"], "array[] real": ["w[1:{i}]", "{{x[{i}], 1}}", "{{0.3, k}}"],
    "vector": ["s[{i}]'", "x[1:{i}]", "[1, k]'"], "row_vector": ["s[{i}]", "[g[{i}], x[{i}]]", "x'"],
    "matrix": ["s", "[[1, k], [2, x[{i}]]]", "s[{i}:N]"], "complex": ["z", "cv[{i}]", "to_complex(x[{i}], k)"],
    "tuple": ["(x[{i}], k)", "(1, 2)", "(g[{i}], h[{i}, 1])"],
}  # fmt: skip
TAKEN_BY = {"int": ("real", "complex"), "real": ("complex",), "array[] int": ("array[] real",)}


def overloaded(p: Program) -> None:
    """Of some types, called with arguments that are promoted where their own type has none."""
    c, f = p.choices, p.fresh("f")
    kinds = [k for k in OVERLOADS if c.chance(50)] or ["real"]
    for k in kinds:
        p.add("functions", OVERLOADS[k].format(r=c.pick(["int", "real"])).replace(" f(", f" {f}("))
    own = [k for k in ARGUMENTS if k in kinds or any(t in kinds for t in TAKEN_BY.get(k, ()))]

    def call(i: str) -> str:
        text = c.pick(ARGUMENTS[c.pick(own)]).format(i=i)
        return c.pick(["{f}({a})", "0.5 * {f}({a})", "{f}({a}) / 2", "tanh({f}({a}))", "{f}({a}) + k"]).format(
            f=f, a=text
        )

    looped(p, call)


def tupled(p: Program) -> None:
    """A tuple of containers is given and taken, changed inside."""
    c, f, g = p.choices, p.fresh("f"), p.fresh("f")
    change = c.pick(
        [
            "a.1 += r;",
            "a.2[1] = r;",
            "a.2 *= r;",
            "(a.1, a.2) = (r, a.2 + 1);",
            "for (j in 1:size(a.2)) a.2[j] += a.1 * j;",
        ]
    )
    p.add("functions", f"tuple(real, vector) {f}(real r, vector v) {{ tuple(real, vector[size(v)]) a = (r, v); "
        f"{change} return a; }}",
          f"real {g}(tuple(real, vector) a, int n) {{ return n > 1 ? a.1 + sum(a.2) : a.2[1] - a.1; }}")  # fmt: skip
    vector = c.pick(["s[{i}]'", "x[{i}:N]", "[x[{i}], 1]'"])
    looped(p, lambda i: c.pick([f"{g}({f}({real(p, i)}, {vector.format(i=i)}), {number_int(p, i)})",
                                f"{f}({real(p, i)}, {vector.format(i=i)}).1",
                                f"sum({f}({real(p, i)}, {vector.format(i=i)}).2)"]))  # fmt: skip


def number_int(p: Program, i: str) -> str:
    return p.choices.pick([f"g[{i}]", "k", "1", f"h[{i}, 1]", i])


def mutual(p: Program) -> None:
    """Two functions that call each other as often as an int of data tells, or a size."""
    c, f, g = p.choices, p.fresh("f"), p.fresh("f")
    end = c.pick(["if (n <= 0) return a;", "if (n < 1) return tanh(a);"])
    p.add(
        "functions",
        f"real {g}(real a, int n);",
        f"real {f}(real a, int n) {{ {end} return 0.7 * {g}(a + n, n - 1) + a; }}",
        f"real {g}(real a, int n) {{ {end} if (n == 2) return {f}(0.5 * a, 0); return {f}(sin(a), n - "
        f"{c.pick(['1', '2'])}); }}",
    )
    looped(p, lambda i: f"{c.pick([f, g])}({real(p, i)}, {c.pick(['k', f'g[{i}]', '3', f'min({{k, {i}}})'])})")


def early(p: Program) -> None:
    """Returns out of loops inside of loops, on data and on parameters."""
    c, f = p.choices, p.fresh("f")
    test = c.pick(["v[i] > 0.4", "n == i", "i == 2 && v[1] > 0", "a > 0.8", "i + j > n"])
    leave = c.pick(["return v[i] * j;", "{ a += 1; return a; }", "break;", "continue;"])
    after = c.pick(["", "if (a < -0.5) return a;", "a = tanh(a);"])
    p.add("functions", f"real {f}(vector v, int n) {{", "  real a = 0.1;", "  for (i in 1:size(v)) {",
        "    for (j in 1:n) {",
          f"      if ({test}) {leave}", "      a += 0.3 * v[i] * j;", "    }", f"    {after}", "  }", "  return a;",
          "}")  # fmt: skip
    looped(p, lambda i: f"{f}({c.pick(['x', f's[{i}]' + chr(39), f'x[1:{i}]', 'o'])}, {number_int(p, i)})")


def promoted(p: Program) -> None:
    """Ints become reals and complex numbers, in arrays, tuples, conditions and results."""
    c, f = p.choices, p.fresh("f")
    result = c.pick([("real", "n"), ("real", "n %/% 2"), ("complex", "n"), ("complex", "a"), ("array[] real",
        "{n, n + 1}"),
                     ("tuple(real, complex)", "(n, a)"), ("array[] complex", "{n, a}")])  # fmt: skip
    p.add("functions", f"{result[0]} {f}(real a, int n) {{ if (a > 0.3) return {result[1]}; return {result[1]}; }}")
    read = {"real": "{}", "complex": "get_real({}) + get_imag({})", "array[] real": "{}[1] / 2", "tuple(real, complex)":
            "{}.1 / 2", "array[] complex": "get_real({}[2])"}[result[0]]  # fmt: skip
    looped(p, lambda i: c.pick([
        read.format(*[f"{f}({number(p, i)}, {number_int(p, i)})"] * 2),
        f"({real(p, i)} > 0.2 ? {number_int(p, i)} : {real(p, i)}) / 2", f"sum({{{number(p, i)}, {number(p, i)}}}) / 2",
        f"sum([{number_int(p, i)}, {number_int(p, i)}]) / 4", f"({number_int(p, i)}, {real(p, i)}).1 / 2.0",
        f"({number_int(p, i)} %/% 2) * {real(p, i)}", f"abs({number_int(p, i)} - 2) * 0.5",
        f"({number_int(p, i)} > 1) + {real(p, i)}", f"{number_int(p, i)} ^ 2 / 3.0",
        f"(g[{i}] > 1 || {real(p, i)} > 0.2) * 0.7"]))  # fmt: skip


def complexes(p: Program) -> None:
    """Complex numbers that a loop carries on, in scalars, vectors and arrays."""
    c, f = p.choices, p.fresh("f")
    step = c.pick(["{a} = {a} * {b} + {r};", "{a} += {b} / (2 + {r} * {r});", "{a} = conj({a}) * {b};",
                   "{a} = exp(0.3 * {a}) - {b};", "{a} = (get_real({a}) > {r} ? {a} * {b} : conj({b}));",
                   "{a} = to_complex(get_imag({a}), {r}) * {b};", "{a} = sqrt({a} + 3) * {b};",
                   "{a} -= pow({b}, 2) * {r};",
                   "{a} = {r}; {a} *= {b};", "if (abs({a}) > 1.2) {a} /= abs({a}); {a} += {b};"])  # fmt: skip
    if c.chance(50):
        begin = c.pick(["1", "r", "b", "to_complex(0.2, r)"])
        end = c.pick(["abs(a)", "get_real(a)", "get_imag(a) * 0.2", "arg(a)", "norm(a)"])
        p.add("functions", f"real {f}(complex b, real r, int n) {{ complex a = {begin};",
              f"  for (j in 1:n) {{ {step.format(a='a', b='b', r='r')} }}", f"  return {end}; }}")  # fmt: skip
        looped(
            p,
            lambda i: (
                f"tanh({f}({c.pick(['z', f'cv[{i}]', f'to_complex(o[{i}], {i})'])}, {real(p, i)}, {number_int(p, i)}))"
            ),
        )
        return
    a, v, i = p.fresh("a"), p.fresh("v"), p.fresh("i")
    block = c.pick(["transformed parameters", "generated quantities", "model"])
    turn = step.format(a=a, b=f"cv[{i}]", r=real(p, i))
    p.add(block, f"complex {a} = {c.pick(['0', 'z', 'm', '1'])};", f"complex_vector[N] {v};",
          f"for ({i} in 1:N) {{ {turn} {v}[{i}] = {a}; }}")  # fmt: skip
    if block == "model":
        p.add(block, f"target += 0.1 * tanh(get_real(sum({v})) + abs({a}));")


def unpacked(p: Program) -> None:
    """Tuples taken apart in loops, also into parts of containers."""
    c, f = p.choices, p.fresh("f")
    p.add("functions", f"tuple(real, vector, int) {f}(real r, int n) {{ return (r * n, [r, n]', n + 1); }}")
    a, b, n = p.fresh("a"), p.fresh("b"), p.fresh("n")
    p.add("model", f"{{ vector[N] {a}; matrix[N, 2] {b}; int {n} = 1; real t{a}; vector[2] t{b};",
          f"  for (i in 1:N) {{ (t{a}, t{b}, {n}) = {f}({real(p, 'i')}, {c.pick(['k', n, 'g[i]'])}); "
          f"{a}[i] = t{a}; {b}[i] = t{b}'; {c.pick([f'{n} = min({{{n}, 3}});', f'if ({n} > 3) {n} = 1;', ''])} }}",
          f"  target += 0.1 * tanh(sum({a}) + sum({b}) + {n}); }}")  # fmt: skip


def void(p: Program) -> None:
    """Functions that add to the target in loops, and return early."""
    c, f = p.choices, p.fresh("f") + "_lp"
    body = c.pick(["if (a > 0.5) return; target += -square(a);",
        "for (i in 1:n) { if (i == 2) return; target += -0.1 * a * i; }",
                   "a ~ normal(0, n + 1);", "target += normal_lpdf(a | target() > -3 ? 0.1 : 0.3, 1);"])  # fmt: skip
    p.add("functions", f"void {f}(real a, int n) {{ {body} }}")
    p.add(
        "model",
        f"for (i in 1:N) {{ {c.pick(['', 'if (g[i] > 1) continue;', 'if (i > 2) break;'])} {f}({real(p, 'i')}, "
        f"{number_int(p, 'i')}); }}",
    )


def nested_tuples(p: Program) -> None:
    """Arrays of tuples of containers, changed in loops."""
    c, v = p.choices, p.fresh("v")
    block = c.pick(["model", "transformed parameters"])
    change = c.pick([f"{v}[i].1 = x[i]; {v}[i].2 = s[i]';", f"{v}[i] = (x[i], s[i]');",
        f"({v}[i].1, {v}[i].2) = (w[i], s[i]');",
                     f"{v}[i].1 = x[i]; {v}[i].2[1] = w[i]; {v}[i].2[2] = i > 1 ? {v}[i - 1].2[1] : m;"])  # fmt: skip
    read = c.pick([f"{v}[i].1 * {v}[i].2[2]", f"sum({v}[i].2)", f"{v}[N + 1 - i].1", f"dot_product({v}[i].2, s[i])"])
    p.add(block, "{" if block == "model" else "", f"array[N] tuple(real, vector[2]) {v};",
        f"for (i in 1:N) {{ {change} }}",
          f"real r{v} = 0;", f"for (i in 1:N) r{v} += {read};")  # fmt: skip
    p.add("model", f"target += 0.1 * tanh(r{v});", *(["}"] if block == "model" else []))


def items(p: Program) -> None:
    """Loops over the items of containers, one inside of another."""
    c, v = p.choices, p.fresh("v")
    outer, inner = c.pick(["x", "w", "s", "g", "o", "h[1:N, 2]"]), c.pick(["x", "w", "{1, 2}", "s[1:N, 1]", "[0.2, m]"])
    escape = c.pick(["", "if (a > 0.7) break;", "if (b < 0) continue;", "if (k == 2) break;"])
    p.add("model", f"{{ real {v} = 0.1;",
        f"  for (a in {outer}) {{ for (b in {inner}) {{ {escape} {v} = tanh({v} + a * b); }} }}",
          f"  target += {v}; }}")  # fmt: skip
