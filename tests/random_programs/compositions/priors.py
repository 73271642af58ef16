"""Laws of parameters and of their parts, in any order and more than once: what the mixed scheme merges and what not."""

from __future__ import annotations

from .scope import Lines, Program

BOUNDS_OF_X = ["", "<lower=0>", "<offset=a, multiplier=b + 0.1>", "<lower=a>", "<lower=-9, upper=9>"]
SCALARS = {"a": "real", "b": "real<lower=0>", "e": "real<lower=0, upper=1>"}


def priors(p: Program) -> None:
    """Scalars, a vector, an array, a matrix and an array of vectors, of which each statement takes some."""
    c = p.choices
    p.size_n, p.size_k = c.pick([3, 2, 4, 1]), c.pick([2, 1, 3])
    p.add("data", "int N;", "int K;", "array[N] int ix;", "array[N] int z;", "vector[N] o;")
    p.data |= {"N": p.size_n, "K": p.size_k, "z": [c.between(0, 1) for _ in range(p.size_n)],
               "ix": _indices(p), "o": [(c.below(21) - 10) / 10 for _ in range(p.size_n)]}  # fmt: skip
    p.add("parameters", *(f"{kind} {name};" for name, kind in SCALARS.items()),
          f"real<lower={c.pick(['a', '0', '-b', 'e'])}> l;",
          f"vector{c.pick(BOUNDS_OF_X)}[N] x;",
          f"array[N] real{c.pick(['', '<lower=-2>', '<lower=0>', '<upper=l + 1>'])} w;",
          f"matrix{c.pick(['', '<lower=0>', '<multiplier=2>'])}[N, K] s;",
          f"array[N] vector{c.pick(['', '<lower=0>', '<offset=e>'])}[K] y;",
          f"array[N] {c.pick(['ordered', 'simplex', 'positive_ordered'])}[K] q;")  # fmt: skip
    p.reals += ["a", "b", "e", "l"]
    if c.chance(30):
        p.add("transformed parameters", f"vector[N] t = {c.pick(['x * 0.5', 'x + a', 'cumulative_sum(x)'])};",
              "real u = " + c.pick(["a + b", "0.5 * sum(x)", "l"]) + ";")  # fmt: skip
        p.reals += ["u"]
    statements: list[Lines] = [[f"{n} ~ {_law(p)};"] for n in (*SCALARS, "l") if c.chance(70)]
    for _ in range(c.pick([3, 5, 7])):
        with c.span():
            statements.append(c.pick([vector_at_once, lags, backwards, slices, carried, array, rows, entries, vectors,
                                      constrained, observed, by_function, local, increments])(p))  # fmt: skip
    _shuffled(p, statements)


def _indices(p: Program) -> list[int]:
    n = p.size_n
    return [p.choices.between(1, n) for _ in range(n)] if p.choices.chance(40) else [n - i for i in range(n)]


def _shuffled(p: Program, statements: list[Lines]) -> None:
    while statements:
        p.add("model", *statements.pop(p.choices.below(len(statements))))


def real(p: Program, depth: int = 1) -> str:
    c, r = p.choices, p.real()
    x = c.pick([r, "x[1]", "x[N]", "w[N]", "s[1, K]", "y[N, 1]", "mean(x)", "o[1]", "0.4", "sum(q[1])"])
    return c.pick([r, x, f"0.5 * {x} + {r}" if depth else x, f"tanh({x})"])


def positive(p: Program) -> str:
    c = p.choices
    return c.pick(["1.5", "b + 0.3", f"exp(tanh({real(p, 0)}))", "1 + e", "exp(0.3 * a)"])


def _law(p: Program, center: str = "") -> str:
    """A law of reals of any sign."""
    c = p.choices
    return c.pick(["normal({m}, {s})", "normal({m}, {s})", "student_t(4, {m}, {s})", "cauchy({m}, {s})",
                   "logistic({m}, {s})", "std_normal()", "double_exponential({m}, {s})"]).format(
        m=center or real(p), s=positive(p))  # fmt: skip


def _container(p: Program) -> str:
    return p.choices.pick(
        ["x", "o", "t" if "u" in p.reals else "x", "to_vector(w)", "s[:, 1]", "rep_vector(a, N)", "x[ix]", "o[ix]"]
    )


def guarded(p: Program, line: str, index: str = "") -> str:
    c = p.choices
    return c.pick([line, line, line, f"if (N > 2) {line}", f"if (K > 1) {{ {line} }} else {{ a ~ normal(0, 2); }}",
                   *([f"if (z[{index}] == 1) {line}",
                       f"if (z[{index}] == 0) continue; else {line}"] if index else [])])  # fmt: skip


def vector_at_once(p: Program) -> Lines:
    name = p.choices.pick(["x", "w", "to_vector(s)", "x", "t" if "u" in p.reals else "x"])
    center = p.choices.pick(["", _container(p)]) if name in "xwt" else ""
    return [guarded(p, f"{name} ~ {_law(p, center)};")]


def lags(p: Program) -> Lines:
    c = p.choices
    k = c.pick([1, 2])
    v = c.pick(["x", "w", "y[{}, 1]", "s[{}, K]"])
    at = (lambda i: v.format(i)) if "{" in v else (lambda i: f"{v}[{i}]")
    i = p.fresh("i")
    if k == 2 and p.size_n < 2:
        k = 1
    first = [f"{at(j)} ~ {_law(p)};" for j in range(1, k + 1)]
    last = " + ".join(f"{0.5 / j} * {at(f'{i} - {j}')}" for j in range(1, k + 1))
    loop = [f"for ({i} in {k + 1}:N) " + guarded(p, f"{at(i)} ~ normal({last}, {positive(p)});", i)]
    return [*first, *loop] if c.chance(60) else [*loop, *first]


def backwards(p: Program) -> Lines:
    c, i = p.choices, p.fresh("i")
    v = c.pick(["x", "w"])
    lag = c.pick([f"{v}[N - {i} + 1]", f"{v}[{i}]", f"o[{i}]"])
    return [f"{v}[N] ~ {_law(p)};", f"for ({i} in 1:N - 1) {v}[N - {i}] ~ normal(0.4 * {lag}, {positive(p)});"][
        :: 1 if c.chance(60) else -1
    ]


def slices(p: Program) -> Lines:
    c, v = p.choices, p.choices.pick(["x", "w"])
    cut = c.between(1, p.size_n)
    parts = c.pick([[f"{v}[1:{cut}]", f"{v}[{cut + 1}:N]"], [f"head({v}, {cut})", f"tail({v}, N - {cut})"],
                    [f"{v}[ix]"], [f"{v}[{{N, 1}}]"], [f"{v}[:{cut}]", f"{v}[{cut}:]"], [f"segment({v}, {cut}, 1)"],
                    [f"{v}[{cut}:N]"]])  # fmt: skip
    return [f"{part} ~ {_law(p)};" for part in (parts if c.chance(60) else parts[::-1])]


def carried(p: Program) -> Lines:
    """A local state that the loop updates between its laws."""
    c, h, i = p.choices, p.fresh("h"), p.fresh("i")
    v = c.pick(["x", "w"])
    body = [
        f"{v}[{i}] ~ normal({h}, {positive(p)});",
        f"{h} = 0.5 * {h} + {c.pick([f'{v}[{i}]', f'o[{i}]', f'tanh({v}[{i}])'])};",
    ]
    guard = c.pick(["", "", f"if (z[{i}] == 1) ", f"if ({i} > 2) break; else "])
    body = body if c.chance(60) else body[::-1]
    return [f"{{ real {h} = {real(p)};", f"  for ({i} in 1:N) {{ {guard}{{ {' '.join(body)} }} }} }}"]


def array(p: Program) -> Lines:
    c, i = p.choices, p.fresh("i")
    center = c.pick([f"x[{i}]", f"o[{i}]", "a", f"w[ix[{i}]]", f"s[{i}, 1]"])
    v = c.pick(["w", "x"])
    at = c.pick([i, i, f"ix[{i}]", f"N + 1 - {i}"])
    return [
        f"for ({i} in {c.pick(['1:N', '1:N', '2:N', '1:size(ix)'])}) {guarded(p, f'{v}[{at}] ~ {_law(p, center)};', i)}"
    ]


def rows(p: Program) -> Lines:
    c, i = p.choices, p.fresh("i")
    law = _law(p, c.pick(["", "", f"x[{i}]"]))
    how = c.pick(["s[{i}]", "s[{i}, :]", "s[{i}]'", "row(s, {i})", "s[{i}][1:K]"])
    if c.chance(40):
        j = p.fresh("j")
        return [f"for ({j} in 1:K) {c.pick(['s[:, {}]', 'col(s, {})', 's[1:N, {}]']).format(j)} ~ {_law(p)};"]
    return [f"for ({i} in 1:N) {guarded(p, how.format(i=i) + f' ~ {law};', i)}"]


def entries(p: Program) -> Lines:
    c, i, j = p.choices, p.fresh("i"), p.fresh("j")
    loops = [f"for ({i} in 1:N)", f"for ({j} in 1:K)"]
    v = c.pick(["s[{i}, {j}]", "y[{i}, {j}]", "y[{i}][{j}]", "s[{i}][{j}]"]).format(i=i, j=j)
    center = c.pick(["", f"x[{i}]", f"s[{i}, 1]", f"y[{i}, K]"])
    return [f"{' '.join(loops if c.chance(60) else loops[::-1])} {guarded(p, f'{v} ~ {_law(p, center)};', i)}"]


def vectors(p: Program) -> Lines:
    c, i = p.choices, p.fresh("i")
    full = f"add_diag(rep_matrix(0.2, K, K), {positive(p)})"
    return c.pick([[f"for ({i} in 1:N) {guarded(p, f'y[{i}] ~ {_law(p)};', i)}"],
                   [f"y ~ multi_normal(rep_vector({real(p)}, K), {full});"],
                   [f"y[1] ~ multi_normal(rep_vector(0, K), {full});",
                    f"for ({i} in 2:N) y[{i}] ~ multi_normal(0.5 * y[{i} - 1], {full});"],
                   [f"for ({i} in 1:N) y[{i}] ~ multi_normal(s[{i}]', {full});"],
                   [f"y[:, 1] ~ {_law(p)};"], [f"y[2:N, 1] ~ {_law(p)};"], [f"y[ix, K] ~ {_law(p)};"],
                   [f"for ({i} in 2:N) y[{i}] ~ normal(y[{i} - 1], {positive(p)});",
                       f"y[1] ~ {_law(p)};"]])  # fmt: skip


def constrained(p: Program) -> Lines:
    c, i = p.choices, p.fresh("i")
    q = next(d for d in p.blocks["parameters"] if d.endswith(" q;"))
    if "simplex" in q:
        return c.pick([[f"for ({i} in 1:N) q[{i}] ~ dirichlet(rep_vector({positive(p)}, K));"],
                       [f"q ~ dirichlet(rep_vector({positive(p)}, K));"],
                       [f"for ({i} in 2:N) q[{i}] ~ dirichlet(1 + q[{i} - 1]);"]])  # fmt: skip
    return c.pick([[f"for ({i} in 1:N) q[{i}] ~ {_law(p)};"], [f"for ({i} in 1:N) q[{i}, 1] ~ {_law(p)};"],
                   [f"q[1] ~ {_law(p)};"]])  # fmt: skip


def observed(p: Program) -> Lines:
    c, i = p.choices, p.fresh("i")
    return c.pick([[f"o ~ normal({_container(p)}, {positive(p)});"], [f"o ~ normal(s * y[1], {positive(p)});"],
                   [f"for ({i} in 1:N) o[{i}] ~ normal(x[ix[{i}]] + s[{i}] * y[{i}], {positive(p)});"],
                   [f"z ~ bernoulli_logit({_container(p)});"],
                       [f"for ({i} in 1:N) z[{i}] ~ bernoulli(e);"]])  # fmt: skip


def by_function(p: Program) -> Lines:
    c, f = p.choices, p.fresh("f") + "_lp"
    body = c.pick(["v ~ normal(m, 1.5);", "for (i in 1:num_elements(v)) v[i] ~ normal(m, 1.5);",
                   "v[1] ~ normal(m, 1); for (i in 2:num_elements(v)) v[i] ~ normal(v[i - 1], 1);"])  # fmt: skip
    p.add("functions", f"void {f}(vector v, real m) {{ {body} }}")
    return [f"{f}({c.pick(['x', 'y[1]', 'x[1:N]', 'q[N]'])}, {real(p)});"]


def local(p: Program) -> Lines:
    c, v = p.choices, p.fresh("v")
    return c.pick([[f"{{ vector[N] {v} = x; {v}[1] += a; {v} ~ {_law(p)}; {v} = o; x ~ normal({v}, 2); }}"],
                   [f"{{ real {v} = a; x ~ normal({v}, 1.5); {v} += 1; w ~ normal({v}, {positive(p)}); }}"],
                   [f"{{ vector[N] {v} = 0.3 * x; w ~ normal({v}, {positive(p)}); }}"],
                   [f"{{ real {v} = b; b ~ normal(0, 1 + {v}); }}"]])  # fmt: skip


def increments(p: Program) -> Lines:
    c = p.choices
    v = c.pick(["x", "w", "a", "l", "to_vector(s)"])
    return c.pick([[f"target += normal_lpdf({v} | {real(p)}, {positive(p)});"],
                   [f"if ({p.real()} > 0.2) target += normal_lpdf({v} | {real(p)}, {positive(p)});"],
                   [f"target += normal_lupdf({v} | {real(p)}, {positive(p)});"],
                   [f"target += -0.5 * square({real(p)});"]])  # fmt: skip
