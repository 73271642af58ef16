"""Loops that fill and read vectors and matrices at places which move with them, by data, counters and inner loops."""

from __future__ import annotations

from .scope import Lines, Program

TARGETS = ("z[{} + 2]", "z[{} + 2]", "q[{} + 2, 2]", "q[{} + 2, 1 + (ii[n] > 1)]")
SOURCES = ("z[{}]", "q[{}, 2]", "z[{}]")


def moving(p: Program) -> None:
    """One loop or two, in transformed parameters or generated quantities."""
    c = p.choices
    n = c.pick([4, 5, 3, 6])
    size = 2 * n + 6
    p.data |= {"N": n, "ii": [c.pick([0, 1, 2]) for _ in range(n)], "jj": [c.below(2) for _ in range(n)],
               "x": [(c.below(31) - 12) / 10 for _ in range(size)]}  # fmt: skip
    p.add("data", "int N;", "array[N] int ii;", "array[N] int jj;", "vector[2 * N + 6] x;")
    p.add("parameters", "real a;")
    block = c.weighted([(3, "transformed parameters"), (1, "generated quantities")])
    p.add(block, "vector[2 * N + 6] z = x;", "matrix[2 * N + 6, 3] q = rep_matrix(0.3, 2 * N + 6, 3);", "real t = 0;")
    for _ in range(c.between(1, 2)):
        with c.span():
            p.add(block, *loop(p))
    p.add("model", "a ~ normal(0, 1);")
    if block == "transformed parameters":
        p.add("model", "z ~ normal(0, 1);", "to_vector(q) ~ normal(0, 1);", "target += tanh(t);")


def loop(p: Program) -> Lines:
    """With a variable `k` of each iteration; `r` is the index of a loop inside, or 1."""
    c = p.choices
    kept = c.pick(["int k = ii[n];", "int k = 1; if (a > 0.1) k = ii[n];", "int k = jj[n];", "int k = 0;"])
    body = [statement(p) for _ in range(c.between(1, 3))] + ["t += z[n + k];"] * c.chance(30)
    if c.chance(35):
        inside = f"for (r in {c.pick(['0:1', '1:2', '0:ii[n]'])}) {{ {' '.join(body)} }}"
    else:
        inside = f"int r = 1; {' '.join(body)}"
    head = f"for (n in {c.pick(['2:N', '1:N', '2:(N - 1)'])}) {{ {kept}"
    if c.chance(20):  # a counter that the loop carries
        return ["{", "  int g = 1;", f"  {head} if (ii[n] > 1) g += 1; z[g + n] = a * z[g + n - 1]; {inside} }}", "}"]
    return [f"{head} {inside} }}"]


def statement(p: Program) -> str:
    """What one iteration fills, of what is at the same place or another, some rows before or behind."""
    c = p.choices
    place = moved(p)
    other = moved(p) if c.chance(30) else place
    target, source = c.pick(TARGETS).format(place), c.pick(SOURCES)
    read = source.format(f"{other} + 2{c.pick([' - 1', '', ' + 1', ' - 2'])}")
    value = c.pick([f"0.5 * a * {read}", f"tanh({read} + a)", f"{read} * 0.3 + x[n]"])
    condition = c.pick(["", "", "if (a > 0.1) ", "if (ii[n] > 0) "])
    return f"{condition}{target} {c.pick(['=', '=', '+=', '*='])} {value};"


def moved(p: Program) -> str:
    """A place that an iteration has."""
    return p.choices.pick(["n", "n + ii[n]", "n + k", "n + jj[n]", "ii[n] + 2", "N - n + ii[n] + 2", "n + ii[2]",
                           "n + ii[n] + k", "2 * n", "n + r", "n + (r - 1) * N", "n + ii[r + 1]"])  # fmt: skip
