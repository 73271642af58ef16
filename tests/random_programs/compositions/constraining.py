"""Functions that constrain and free again, `simplex_jacobian` and its like, in loops, functions and conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .declarations import in_total
from .scope import Program, Shape


@dataclass(frozen=True)
class Transform:
    """A call `word_constrain(x, more)` of one unconstrained `free` shape, which makes a `made` one."""

    word: str
    free: Shape
    made: Shape
    more: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the functions' names begin with: zero sums of vectors and matrices have the same."""
        return "sum_to_zero" if self.word == "sum_to_zero_matrix" else self.word

    def call(self, suffix: str, x: str) -> str:
        return f"{self.name}_{suffix}({', '.join([x, *self.more])})"

    @property
    def has_elements(self) -> bool:
        """Whether a bound is a container."""
        return any("vector" in m for m in self.more)

    def freed(self, y: str) -> str:
        """The inverse; sizes are no arguments of it."""
        more = self.more if self.word in BOUNDED else ()
        return f"{self.name}_unconstrain({', '.join([y, *more])})"


BOUNDED = ("lower_bound", "upper_bound", "lower_upper_bound", "offset_multiplier")
VECTORS = {"simplex": -1, "ordered": 0, "positive_ordered": 0, "sum_to_zero": -1, "unit_vector": 0}
MATRICES = {"sum_to_zero_matrix": (-1, -1), "stochastic_row": (0, -1), "stochastic_column": (-1, 0)}
FACTORS: dict[str, Callable[[int], int]] = {
    "cholesky_factor_corr": lambda n: n * (n - 1) // 2, "corr_matrix": lambda n: n * (n - 1) // 2,
    "cov_matrix": lambda n: n * (n + 1) // 2, "cholesky_factor_cov": lambda n: n * (n + 1) // 2,
}  # fmt: skip


def vector(n: int) -> Shape:
    return Shape("vector", (), (str(n),), (n,))


def matrix(n: int, m: int) -> Shape:
    return Shape("matrix", (), (str(n), str(m)), (n, m))


def transform(p: Program) -> Transform:
    c = p.choices
    n, m = c.pick([2, 3, 1]), c.pick([2, 3, 1])
    word = c.pick([*BOUNDED, *VECTORS, *MATRICES, *FACTORS])
    if word in BOUNDED:
        s = c.pick([Shape(), vector(n), matrix(n, m)])
        return Transform(word, s, s, _bounds(p, word, s))
    if word in VECTORS:
        n += word == "unit_vector" and n == 1
        return Transform(word, vector(n + VECTORS[word]), vector(n))
    if word in MATRICES:
        less, fewer = MATRICES[word]
        return Transform(word, matrix(n + less, m + fewer), matrix(n, m))
    extra = c.pick([0, 1]) if word == "cholesky_factor_cov" else 0
    made, sizes = matrix(n + extra, n), (str(n + extra), str(n)) if word == "cholesky_factor_cov" else (str(n),)
    return Transform(word, vector(FACTORS[word](n) + extra * n), made, sizes)


def _bounds(p: Program, word: str, s: Shape) -> tuple[str, ...]:
    low, high = f"tanh({p.real()})", f"2 + tanh({p.real()})"
    if s.base == "vector" and p.choices.chance(40):
        low = f"linspaced_vector({s.sizes[0]}, -1, 0.5)"
    return {"lower_bound": (low,), "upper_bound": (high,)}.get(word, (low, high))


def constraining(p: Program) -> None:
    """One or two transforms of arrays of plain parameters, each in one or two places."""
    for _ in range(p.choices.pick([1, 2])):
        with p.choices.span():
            _one(p)


def _one(p: Program) -> None:
    c, t = p.choices, transform(p)
    count = c.pick([2, 3, 1, 0])
    x = p.fresh("x")
    n = str(count)
    given = Shape(t.free.base, (n,), t.free.sizes, (count, *t.free.values))
    p.add("parameters", given.declared(x) + ";")
    p.add("model", _prior(p, given, x))
    for _ in range(c.pick([1, 2])):
        with c.span():
            c.pick([at_once, one_by_one, by_function, recurrent, back])(p, t, x, n)


def _prior(p: Program, s: Shape, x: str) -> str:
    i = p.fresh("i")
    if s.base == "real":
        return f"{x} ~ normal(0, 1);"
    part = f"to_vector({x}[{i}])" if s.base == "matrix" else f"{x}[{i}]"
    return f"for ({i} in 1:{s.arrays[0]}) {part} ~ normal(0, 1);"


def _made(t: Transform, n: str) -> Shape:
    return Shape(t.made.base, (n,), t.made.sizes)


def seen(p: Program, block: str, y: str, s: Shape) -> None:
    """The sum of what was made is added to the target, or is a variable."""
    total, lines = in_total(p, y, s)
    if block == "model":
        p.add("model", "{", *("  " + x for x in lines), f"  target += 0.3 * {total};", "}")
        return
    out = p.fresh("t")
    p.add(block, f"real {out};", "{", *("  " + x for x in lines), f"  {out} = {total};", "}")


def place(p: Program) -> tuple[str, str]:
    """A block, and which form of the function may stand there."""
    block = p.choices.pick(["transformed parameters", "transformed parameters", "model", "generated quantities"])
    return block, "jacobian" if block == "transformed parameters" and p.choices.chance(70) else "constrain"


def at_once(p: Program, t: Transform, x: str, n: str) -> None:
    block, suffix = place(p)
    y, s = p.fresh("y"), _made(t, n)
    if t.has_elements:  # which arrays can't have
        return one_by_one(p, t, x, n)
    p.add(block, f"{s.declared(y)} = {t.call(suffix, x)};")
    seen(p, "model" if block == "transformed parameters" and p.choices.chance(50) else block, y, s)


def one_by_one(p: Program, t: Transform, x: str, n: str) -> None:
    """In a loop, perhaps under a condition on its index or on parameters, with something else where it is left out."""
    c, (block, suffix) = p.choices, place(p)
    y, s, i = p.fresh("y"), _made(t, n), p.fresh("i")
    condition = c.pick(["", f"if ({i} % 2 == 1) ", f"if ({p.real()} > 0.1) ", f"if ({i} == 2) continue; else "])
    p.add(block, s.declared(y) + ";", f"for ({i} in 1:{n}) {{")
    if condition:
        scalar = t.made.base == "real"
        rep = f"rep_{t.made.base}(0.1, {', '.join(t.made.sizes)})"
        p.add(block, f"  {y}[{i}] = {'0.1' if scalar else rep};")
    p.add(block, f"  {condition}{y}[{i}] = {t.call(suffix, f'{x}[{i}]')};", "}")
    seen(p, "model" if block == "transformed parameters" and c.chance(50) else block, y, s)


def by_function(p: Program, t: Transform, x: str, n: str) -> None:
    """In a function of the program, that loops over the elements and may return early."""
    c, (block, suffix) = p.choices, place(p)
    name = p.fresh("f") + ("_jacobian" if suffix == "jacobian" else "")
    given, made = Shape(t.free.base, ("?",)), _made(t, "size(x)")
    more = [f"a{k}" for k in range(len(t.more))]
    kinds = ["vector" if "linspaced" in a else "int" if a.isdigit() else "real" for a in t.more]
    call = Transform(t.word, t.free, t.made, tuple(more)).call(suffix, "x[i]")
    extra = ["    jacobian += 0.1 * a;"] * (suffix == "jacobian" and c.chance(30))
    early = ["    if (i == 2 && a > 0.2) return out;"] if c.chance(30) else []
    rep = "rep_array(0.2, size(x))" if t.made.base == "real" else (
        f"rep_array(rep_{t.made.base}(0.2, {', '.join(t.made.sizes)}), size(x))")  # fmt: skip
    arguments = ", ".join([f"{given.unsized} x", "real a", *(f"{k} {a}" for k, a in zip(kinds, more))])
    p.add("functions", f"{made.unsized} {name}({arguments}) {{", f"  {made.declared('out')} = {rep};",
          "  for (i in 1:size(x)) {", *early, *extra, f"    out[i] = {call};", "  }", "  return out;", "}")  # fmt: skip
    y, s = p.fresh("y"), _made(t, n)
    p.add(block, f"{s.declared(y)} = {name}({', '.join([x, p.real(), *t.more])});")
    seen(p, block, y, s)


def recurrent(p: Program, t: Transform, x: str, n: str) -> None:
    """Of what the turn before has made."""
    block, suffix = place(p)
    y, s, i, last = p.fresh("y"), _made(t, n), p.fresh("i"), p.fresh("s")
    made = f"{y}[{i}]"
    total = f"tanh({made})" if t.made.base == "real" else f"sum(tanh({made}))"
    p.add(block, s.declared(y) + ";", "{", f"  real {last} = 0.1;", f"  for ({i} in 1:{n}) {{",
          f"    {made} = {t.call(suffix, f'({x}[{i}] + 0.3 * {last})')};", f"    {last} = {total};", "  }",
          "}")  # fmt: skip
    seen(p, block, y, s)


def back(p: Program, t: Transform, x: str, n: str) -> None:
    """There and back again."""
    block, _ = place(p)
    y, s, i = p.fresh("y"), Shape(t.free.base, (n,), t.free.sizes), p.fresh("i")
    call = t.freed(t.call("constrain", x)) if p.choices.chance(50) and not t.has_elements else ""
    if call:
        p.add(block, f"{s.declared(y)} = {call};")
    else:
        p.add(block, s.declared(y) + ";", f"for ({i} in 1:{n}) {y}[{i}] = {t.freed(t.call('constrain', f'{x}[{i}]'))};")
    seen(p, block, y, s)
