"""Draws whose outcome is certain, so that what depends on them can be compared though a generator makes them.

Programs treat them as any other draw: they are known at run time alone, whatever their arguments. Reals have a scale
so small that nothing of it is left beside their location, which is never zero but by chance.
"""

from __future__ import annotations

from .containers import vector_of
from .integers import condition, integer
from .kinds import INT, REAL, array, declared, vector
from .reals import real
from .scope import Place, Variable, size

Lines = list[str]
TOP = 3  # the largest number that is drawn
TINY, HUGE = "1e-300", "1e300"
AT_LOCATION = (
    "normal_rng({}, %s)", "cauchy_rng({}, %s)", "double_exponential_rng({}, %s)", "logistic_rng({}, %s)",
    "gumbel_rng({}, %s)", "student_t_rng(3, {}, %s)", "skew_normal_rng({}, %s, 1.5)",
)  # fmt: skip
AT_SCALE = (
    "lognormal_rng(log({}), %s)", f"weibull_rng({HUGE}, {{}})", f"pareto_rng({{}}, {HUGE})",
)  # fmt: skip
OF_VECTORS = ("to_vector(normal_rng({}, %s))", "to_vector(logistic_rng({}, %s))",
              "multi_normal_cholesky_rng({}, diag_matrix(rep_vector(%s, {n})))",
              "multi_normal_rng({}, diag_matrix(rep_vector(%s, {n})))")  # fmt: skip


def drawn_integers(place: Place) -> Lines:
    """An int or an array of ints that is drawn, and may be a bound, an index, a condition or an argument from here."""
    c = place.choices
    name = place.names.fresh()
    if c.chance(65):
        text, low, high = number(place)
        place.add(Variable(name, INT, low, high))
        return [f"int {name} = {text};"]
    n = c.between(1, 3)
    text, low, high = several(place, n)
    kind = array(INT, n)
    place.add(Variable(name, kind, low, high))
    return [f"{declared(kind, [size(place, n)], name)} = {text};"]


def drawn_real(place: Place, depth: int, data: bool) -> str:
    """A draw that is a real expression; nothing where none may be made."""
    if not place.draws or data and not place.data_only:
        return ""
    if place.choices.chance(25):
        location = f"0.3 + abs({real(place, depth - 1, data)})"
        return place.choices.pick(AT_SCALE).replace("%s", TINY).format(location)
    return place.choices.pick(AT_LOCATION).replace("%s", TINY).format(f"0.37 + {real(place, depth - 1, data)}")


def drawn_vector(place: Place, n: int, depth: int, data: bool) -> str:
    """A draw of a vector's components; nothing where none may be made."""
    if not place.draws or data and not place.data_only:
        return ""
    form = place.choices.pick(OF_VECTORS if n else OF_VECTORS[:2])
    return form.replace("%s", TINY).format(f"0.37 + {vector_of(place, n, depth - 1, data)}", n=n)


def drawn_in_branches(place: Place) -> Lines:
    """Draws in a loop, or one, that a condition asks for, without which their law would have no such scale."""
    c = place.choices
    n = c.between(1, min(6, place.budget)) if place.budget else 1
    name, scale, index = (place.names.fresh() for _ in range(3))
    looped = c.chance(80)
    inner = place.inner(loops=place.loops + 1, budget=place.budget // n) if looped else place.inner()
    if looped:
        inner.add(Variable(index, INT, 1, n, True, True))
    before = f"real {scale} = {real(inner, 1)};"
    target = f"{name}[{index}]" if looped else name
    draw = c.pick(AT_LOCATION).replace("%s", f"{scale} * {TINY}").format(f"0.37 + {real(inner, 1)}")
    other = c.pick([real(inner, 1), drawn_real(inner, 1, False)])
    test = f"{scale} > 1e-3"
    lines = c.pick([
        [before, f"if ({test}) {target} = {draw};", f"else {target} = {other};"],
        [before, f"if (!({test})) {target} = {other};", f"else {target} = {draw};"],
        [before, f"{target} = {test} ? {draw} : {other};"],
        [before, f"{target} = {other};", f"if ({test} && {condition(inner, 1)}) {target} += {draw};"],
    ] + [[before, f"{target} = {other};", f"if (!({test})) continue;", f"{target} = {draw};"]] * looped)  # fmt: skip
    if "wild" in place.features and c.chance(40):
        lines = [before, f"{target} = {draw};"]
    kind = vector(n) if looped else REAL
    place.add(Variable(name, kind, 0, 0, False, False, True))
    head = declared(kind, [size(place, n)] if looped else [], name) + ";"
    if not looped:
        return [head, "{", *("  " + line for line in lines), "}"]
    return [head, f"for ({index} in 1:{size(place, n)}) {{", *("  " + line for line in lines), "}"]


def number(place: Place) -> tuple[str, int, int]:
    """A draw, and what it does not leave."""
    c = place.choices
    what = c.below(7)
    low = c.between(0, 1)
    if what == 0:
        return flip(place), 0, 1
    if what == 1:
        k = integer(place, 1, TOP, 1)
        law = c.pick(["categorical_rng(one_hot_vector", "categorical_logit_rng(2000 * one_hot_vector"])
        return f"{law}({TOP}, {k}))", 1, TOP
    if what == 2:
        return f"binomial_rng({integer(place, low, TOP, 1)}, 1)", low, TOP
    if what == 3:
        return f"binomial_rng({integer(place, 0, TOP, 1)}, {flip(place)})", 0, TOP
    if what == 4:  # beyond the last cut point, or before the first
        return f"1 + bernoulli_logit_rng({flip(place)} ? 2000 : -2000)", 1, 2
    if what == 5:
        return f"ordered_logistic_rng(2000 * {integer(place, -1, 1, 1)}, [-1000, 1000]')", 1, 3
    same = integer(place, low, TOP, 1)
    return f"discrete_range_rng({same}, {same})", low, TOP


def several(place: Place, n: int) -> tuple[str, int, int]:
    """A draw of so many numbers, and what none of them leaves."""
    c = place.choices
    what = c.below(4)
    if what == 0:
        return f"multinomial_rng(one_hot_vector({n}, {integer(place, 1, n, 1)}), {integer(place, 0, TOP, 1)})", 0, TOP
    if what == 1:
        return f"bernoulli_rng(to_vector({_listed(place, n, 0, 1)}))", 0, 1
    low = c.between(0, 1)
    if what == 2:
        return f"binomial_rng({_listed(place, n, low, TOP)}, 1)", low, TOP
    same = _listed(place, n, low, TOP)
    return f"discrete_range_rng({same}, {same})", low, TOP


def _listed(place: Place, n: int, low: int, high: int) -> str:
    return "{" + ", ".join(integer(place, low, high, 1) for _ in range(n)) + "}"


def flip(place: Place) -> str:
    """A draw of 0 or 1 by a condition that parameters may decide."""
    test = condition(place, 0)
    return f"bernoulli_rng({place.choices.pick([f'({test}) ? 1.0 : 0.0', f'({test}) && 1'])})"
