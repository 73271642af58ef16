"""Simulators: draws whose outcome is certain in loops, branches and functions of quantities and transformed data.

Their laws have arguments that are out of their domain where a condition leaves the draw out, and now and then where it
does not: Stan throws then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..certain import AT_LOCATION, TINY
from .scope import Lines, Program


@dataclass(frozen=True)
class Where:
    """A place of a simulator: the indices of the loops around it, of N rows and R rounds, and if parameters are seen.

    `local` are names of reals that are declared there; `whole` are those of vectors of N components, `counts` of ints,
    `tables` of R such vectors. Where it is `apart`, an iteration reads and fills its own components alone.
    """

    p: Program
    data_only: bool
    depth: int = 0
    apart: bool = False
    indices: tuple[str, ...] = ()
    rounds: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    breakable: bool = False


def simulations(p: Program) -> None:
    """A simulator in generated quantities, in transformed data, or in a function that either calls."""
    c = p.choices
    n = c.pick([3, 2, 5, 1, 0])
    p.data |= {"N": n, "g": [c.between(0, 3) for _ in range(n)], "o": [(c.below(31) - 12) / 10 for _ in range(n)],
               "h": [c.between(1, max(n, 1)) for _ in range(n)]}  # fmt: skip
    p.data["R"] = c.pick([2, 3, 1])
    p.add("data", "int R;", "int N;", "array[N] int g;", "vector[N] o;", "array[N] int h;")
    p.add("parameters", "vector[N] x;", "array[N] real w;")
    p.add("model", "x ~ normal(0, 1);", "w ~ normal(0, 1);")
    p.add("generated quantities", "real seen = 1;")  # is none where the others throw, if they are empty
    place = c.weighted([(6, in_quantities), (2, in_data), (4, in_function)])
    place(p)


def in_quantities(p: Program) -> None:
    p.add("generated quantities", *simulator(Where(p, False)))


def in_data(p: Program) -> None:
    """What the density depends on, too."""
    lines = simulator(Where(p, True))
    p.add("transformed data", *lines)
    p.add("model", *(f"target += m * tanh(sum(to_vector({name})));" for name in _declared(lines)))


def in_function(p: Program) -> None:
    """Called once, or in each iteration of a loop."""
    c = p.choices
    name, result = p.fresh("f") + "_rng", p.fresh("r")
    lines = simulator(Where(p, False))
    sums = " + ".join(f"sum(to_vector({v}))" for v in _declared(lines))
    head = f"real {name}(int R, int N, array[] int g, vector o, array[] int h, vector x, array[] real w, real m) {{"
    p.add("functions", head, *_indented(lines), f"  return {sums};", "}")
    call = f"{name}(R, N, g, o, h, {{}}, w, m)"
    p.add("generated quantities", *c.pick([
        [f"real {result} = {call.format('x')};"],
        [f"vector[N] {result};", f"for (i in 1:N) {result}[i] = {call.format('x * i')};"],
        [f"vector[N] {result};",
         f"for (i in 1:N) if (x[i] > 0.2) {result}[i] = {call.format('x')}; else {result}[i] = 0.1;"],
    ]))  # fmt: skip


def _declared(lines: Lines) -> list[str]:
    """The names of what a simulator fills, each of N components or an array of ints."""
    starts = ("vector[N] v", "array[N] int k", "matrix[R, N] z")
    return [line.rstrip(";").rpartition(" ")[2] for line in lines if line.startswith(starts)]


def _indented(lines: Lines) -> Lines:
    return ["  " + line for line in lines]


def simulator(at: Where) -> Lines:
    """Containers, and one or two loops that fill them."""
    p, c = at.p, at.p.choices
    vectors, counts = [p.fresh("v") for _ in range(c.between(1, 2))], [p.fresh("k")]
    lines = [f"vector[N] {v};" for v in vectors] + [f"array[N] int {k};" for k in counts]
    lines += [f"{v} = {c.pick(['o', 'rep_vector(0.2, N)'])};" for v in vectors]
    lines += [f"{k} = {c.pick(['g', 'rep_array(1, N)'])};" for k in counts]
    table = p.fresh("z")
    lines += [f"matrix[R, N] {table};", f"{table} = rep_matrix(-0.4, R, N);"]
    at = replace(at, whole=tuple(vectors), counts=tuple(counts), tables=(table,), apart=c.chance(65))
    for _ in range(c.between(1, 2)):
        with c.span():
            lines += loop(at)
    return lines


def loop(at: Where) -> Lines:
    """Over all rows, or those before or after one; or over all rounds."""
    p, c = at.p, at.p.choices
    i = p.fresh("i")
    if not at.rounds and c.chance(40):
        inner = replace(at, depth=at.depth + 1, rounds=(i,), breakable=True)
        return [f"for ({i} in 1:R) {{", *_indented(body(inner)), "}"]
    ranges = ["1:N", "1:N", "2:N", *(r for o in at.indices[-1:] for r in (f"1:{o}", f"{o}:N"))]
    inner = replace(at, depth=at.depth + 1, indices=(*at.indices, i), breakable=True)
    return [f"for ({i} in {c.pick(ranges)}) {{", *_indented(body(inner)), "}"]


def body(at: Where) -> Lines:
    lines: Lines = []
    c = at.p.choices
    for _ in range(c.between(1, 3)):
        with c.span():
            if c.chance(30):
                name = at.p.fresh("t")
                lines.append(f"real {name} = {c.pick([draw, real])(at)};")
                at = replace(at, local=(*at.local, name))
            else:
                lines += statement(at)
    return lines


def statement(at: Where) -> Lines:
    c = at.p.choices
    makers = [(5, filled), (6, guarded), (3, counted), (1 if at.apart else 2, slices)]
    if at.depth < 3:
        makers += [(3, branch), (2, loop), (1, steps)]
    if at.breakable:
        makers.append((1, left))
    return c.weighted(makers)(at)


def branch(at: Where) -> Lines:
    c = at.p.choices
    inner = replace(at, depth=at.depth + 1)
    lines = [f"if ({condition(at)}) {{", *_indented(body(inner)), "}"]
    return lines + ["else {", *_indented(body(inner)), "}"] if c.chance(50) else lines


def left(at: Where) -> Lines:
    return [f"if ({condition(at)}) {at.p.choices.pick(['continue', 'break'])};"]


def steps(at: Where) -> Lines:
    """A loop whose end draws decide."""
    name = at.p.fresh("n")
    inner = replace(at, depth=at.depth + 1, breakable=False)
    head = f"while ({name} < 4 && {flip(at)}) {{"
    return ["{", f"  int {name} = 0;", f"  {head}", f"    {name} += 1;", *_indented(_indented(body(inner))), "  }", "}"]


def component(at: Where) -> str:
    """What a statement fills."""
    c = at.p.choices
    if at.rounds and at.indices and (at.apart or c.chance(60)):
        return f"{at.tables[0]}[{at.rounds[0]}, {own(at)}]"
    return f"{c.pick(at.whole)}[{own(at)}]"


def filled(at: Where) -> Lines:
    c = at.p.choices
    return [f"{component(at)} {c.pick(['=', '=', '+='])} {c.pick([draw, draw, real])(at)};"]


def counted(at: Where) -> Lines:
    """An int that is drawn; out of its domain where a condition leaves it out."""
    c = at.p.choices
    k, i, j = at.counts[0], own(at, at.whole), row(at)
    return c.pick([
        [f"{k}[{i}] = binomial_rng(g[{j}], 1);"],
        [f"{k}[{i}] = {flip(at)};"],
        [f"if (g[{j}] > 0) {k}[{i}] = categorical_rng(one_hot_vector(3, g[{j}]));", f"else {k}[{i}] = 2;"],
        [f"if (g[{j}] > 1) {k}[{i}] = binomial_rng(g[{j}] - 2, 1);"],
        [f"{k}[{i}] = g[{j}] > 0 ? discrete_range_rng(1, 2 - (g[{j}] < 9)) : 3;"],
        [f"if ({real(at)} > 0.3) {k}[{i}] = bernoulli_rng({real(at)} > 0);", f"else {k}[{i}] += 1;"],
    ])  # fmt: skip


def guarded(at: Where) -> Lines:
    """A draw whose scale is positive where a condition asks for it."""
    p, c = at.p, at.p.choices
    it, s = component(at), p.fresh("s")
    value = c.pick(AT_LOCATION).replace("%s", f"{s} * {TINY}").format(f"0.37 + {real(at)}")
    other, test = c.pick([real, draw])(at), f"{s} > 1e-3"
    lines = c.pick([
        [f"if ({test}) {it} = {value};", f"else {it} = {other};"],
        [f"if ({s} <= 1e-3) {it} = {other};", f"else if ({condition(at)}) {it} = {value};"],
        [f"{it} = {test} ? {value} : {other};"],
        [f"if ({test} && {condition(at)}) {it} += {value};"],
        *([[f"if (!({test})) continue;", f"{it} = {value};"]] if at.breakable else []),
    ])  # fmt: skip
    if c.chance(8):
        lines = [f"{it} = {value};"]
    return ["{", f"  real {s} = {real(at)};", *_indented(lines), "}"]


def slices(at: Where) -> Lines:
    """Draws of several components at once, as many as rows before this one."""
    c = at.p.choices
    v = c.pick(at.whole)
    part = f"1:{at.indices[-1]}" if at.indices else "1:N"
    some = c.pick([f"x[{part}]", f"o[{part}]", f"{v}[{part}]"] if not at.data_only else [f"o[{part}]", f"{v}[{part}]"])
    return [f"{v}[{part}] = to_vector(normal_rng(0.37 + {some}, {TINY}));"]


def own(at: Where, by: tuple[str, ...] = ()) -> str:
    """The number of the row that is filled."""
    return at.indices[-1] if at.apart and at.indices else row(at, by)


def row(at: Where, by: tuple[str, ...] = ()) -> str:
    """The number of a row: of a loop, by data, or by what was drawn; `by` vectors, not ints."""
    c = at.p.choices
    if not at.indices:
        return "1"
    i = c.pick(at.indices)
    if at.apart:
        return c.pick([i, i, f"h[{i}]", f"max({{1, {i} - 1}})"])
    by_draw = f"1 + ({by[0]}[{i}] > 9)" if by else f"min({{N, {at.counts[0]}[{i}] + 1}})"
    return c.pick([i, i, i, f"h[{i}]", f"max({{1, {i} - 1}})", by_draw])


def real(at: Where) -> str:
    """A real between -2 and 2 or so."""
    c = at.p.choices
    i, j = row(at), own(at)
    known = [f"o[{i}]", f"tanh({c.pick(at.whole)}[{j}])", f"0.4 * {at.counts[0]}[{j}]", f"g[{i}] - 1.2", "0.6"]
    known += [] if at.data_only else [f"x[{i}]", f"w[{i}]", "m"]
    known += [f"tanh({c.pick(at.local)})"] if at.local else []
    return c.pick(known)


def draw(at: Where) -> str:
    """A draw that may always be made."""
    return at.p.choices.pick(AT_LOCATION).replace("%s", TINY).format(f"0.37 + {real(at)}")


def condition(at: Where) -> str:
    c = at.p.choices
    i = own(at)
    return c.pick([f"{real(at)} > {c.pick(['0.1', '-0.2', '0.7'])}", f"g[{i}] == {c.pick([1, 0, 2])}",
                   f"{at.counts[0]}[{i}] > 1", f"{flip(at)} == 1", f"{draw(at)} < 0.5"])  # fmt: skip


def flip(at: Where) -> str:
    """A draw of 0 or 1."""
    return f"bernoulli_rng({real(at)} > 0.2)"
