"""Random statements with distributions: `~`, truncated or not, and what they stand for."""

from __future__ import annotations

from functools import cache

from stanlib import registry
from stanlib.distribution import DISTRIBUTIONS

from .containers import expression, vector_of
from .integers import integer
from .kinds import INT, REAL, Kind, array, row_vector, vector
from .reals import length
from .scope import Place

# name: outcome, arguments; "positive" and the like are functions of a real expression
SIMPLE = {
    "normal": ("real", "real", "positive"),
    "std_normal": ("real",),
    "student_t": ("real", "positive", "real", "positive"),
    "cauchy": ("real", "real", "positive"),
    "logistic": ("real", "real", "positive"),
    "double_exponential": ("real", "real", "positive"),
    "gumbel": ("real", "real", "positive"),
    "exponential": ("positive", "positive"),
    "gamma": ("positive", "positive", "positive"),
    "inv_gamma": ("positive", "positive", "positive"),
    "lognormal": ("positive", "real", "positive"),
    "weibull": ("positive", "positive", "positive"),
    "beta": ("unit", "positive", "positive"),
    "poisson": ("count", "positive"),
    "poisson_log": ("count", "real"),
    "bernoulli": ("bit", "unit"),
    "bernoulli_logit": ("bit", "real"),
    "binomial": ("count", "size", "unit"),
    "binomial_logit": ("count", "size", "real"),
    "neg_binomial_2": ("count", "positive", "positive"),
    "neg_binomial_2_log": ("count", "real", "positive"),
    "skew_normal": ("real", "real", "positive", "real"),
    "exp_mod_normal": ("real", "real", "positive", "positive"),
    "von_mises": ("real", "real", "positive"),
    "rayleigh": ("positive", "positive"),
    "chi_square": ("positive", "positive"),
}
SHAPES = {"positive": "exp(tanh({}))", "unit": "inv_logit(tanh({}))", "real": "{}"}
INTS = {"count": (0, 4), "bit": (0, 1), "size": (4, 9)}
TRUNCATED = ("normal", "student_t", "exponential", "gamma", "logistic", "cauchy", "lognormal")


def both(ours: str, stans: str) -> str:
    """A statement that is written differently for Stan: with all constants."""
    return f"\x00{ours}\x01{stans}\x02"


def density(name: str) -> str:
    discrete = any(k in SIMPLE[name][:1] for k in INTS)
    return f"{name}_{'lpmf' if discrete else 'lpdf'}"


def law(place: Place) -> str:
    """A `~` statement."""
    c = place.choices
    makers = [(8, simple), (2, multivariate), (2, outcome_of_categories)]
    if any(f.suffix in ("lpdf", "lpmf") for f in place.functions):
        makers.append((4, own))
    if "library" in place.features:
        makers.append((3, any_law))
    return c.weighted(makers)(place) or simple(place)


def simple(place: Place) -> str:
    c = place.choices
    name = c.pick(list(SIMPLE))
    outcome, *parameters = SIMPLE[name]
    n = length(place, 0) if c.chance(35) else None
    y = argument(place, outcome, n)
    given = [argument(place, p, n if n is not None and c.chance(50) else None) for p in parameters]
    if n is None and name in TRUNCATED and "truncation" in place.features and not place.dynamic:
        made = truncated(place, name, y, given)
        if "_lp(" not in made:  # which Stan calls more than once there
            return made
    return both(f"{y} ~ {name}({', '.join(given)});", f"target += {density(name)}({' | '.join(_split(y, given))});")


def _split(y: str, given: list[str]) -> list[str]:
    return [y, ", ".join(given)]


def argument(place: Place, what: str, n: int | None) -> str:
    """An argument of a law: a number, or a container of n of them."""
    c = place.choices
    if what in INTS:
        kind = INT if n is None else array(INT, n)
        return expression(place, kind, 1, False, *INTS[what])
    if n is None:
        return SHAPES[what].format(expression(place, REAL, 1))
    kind = c.pick([vector(n), array(REAL, n), row_vector(n)])
    text = expression(place, kind, 1)
    return SHAPES[what].format(text)


def truncated(place: Place, name: str, y: str, given: list[str]) -> str:
    """A law with cut tails, whose outcome lies between them."""
    c = place.choices
    if c.chance(50):
        return around(place, name, y, given)
    low = "-30" if SIMPLE[name][0] == "real" else "0.01"
    lower, upper = c.pick([(low, ""), ("", "40"), (low, "40")])
    outcome = f"fmin({y}, 39)" if upper else y
    if lower:
        outcome = f"fmax({outcome}, {low} + 0.1)"
    return cut(name, outcome, given, lower, upper)


def around(place: Place, name: str, y: str, given: list[str]) -> str:
    """A law that is cut around its outcome, at places that vary."""
    gap, other = argument(place, "positive", None), argument(place, "positive", None)
    low = f"({y}) - {gap}" if SIMPLE[name][0] == "real" else f"({y}) * inv_logit({gap})"
    high = f"{y} + {other}"
    return cut(name, y, given, *place.choices.pick([(low, ""), ("", high), (low, high)]))


def cut(name: str, y: str, given: list[str], low: str, high: str) -> str:
    """A law between two bounds, around an outcome that lies there; Stan drops what depends on parameters by ints."""
    arguments = ", ".join(given)
    below, beyond = f"{name}_lcdf({high} | {arguments})", f"{name}_lccdf({low} | {arguments})"
    inside = f"log_diff_exp({below}, {name}_lcdf({low} | {arguments}))" if low and high else below if high else beyond
    ends = f"T[{low}, {high}]" if high else f"T[{low}, ]"
    return both(f"{y} ~ {name}({arguments}) {ends};", f"target += {density(name)}({y} | {arguments}) - {inside};")


def multivariate(place: Place) -> str:
    c = place.choices
    n = length(place, 1)
    name = c.pick(["multi_normal", "multi_normal_cholesky", "multi_normal_prec", "multi_student_t"])
    y = expression(place, c.pick([vector(n), row_vector(n), array(vector(n), 2)]), 1)
    matrix = f"diag_matrix(exp(tanh({vector_of(place, n, 1)})))"
    if c.chance(30) and name != "multi_normal_cholesky":
        matrix = f"add_diag(rep_matrix(0.2 * inv_logit({expression(place, REAL, 1)}), {n}, {n}), 1.1)"
    given = [vector_of(place, n, 1), matrix]
    if name == "multi_student_t":
        given.insert(0, argument(place, "positive", None))
    return both(f"{y} ~ {name}({', '.join(given)});", f"target += {name}_lpdf({y} | {', '.join(given)});")


def outcome_of_categories(place: Place) -> str:
    c = place.choices
    n = length(place, 1)
    name = c.pick(["categorical_logit", "categorical", "ordered_logistic"])
    top = n + 1 if name == "ordered_logistic" else n
    y = (
        expression(place, array(INT, 2), 1, False, 1, top)
        if c.chance(30) and name != "ordered_logistic"
        else integer(place, 1, top, 1)
    )
    inner = vector_of(place, n, 1)
    given = {"categorical": f"softmax({inner})", "categorical_logit": inner}.get(name)
    if given is None:
        given = f"{expression(place, REAL, 1)}, cumulative_sum(exp(tanh({inner})))"
    return both(f"{y} ~ {name}({given});", f"target += {name}_lpmf({y} | {given});")


def own(place: Place) -> str:
    """A law that the program defines."""
    from .calls import arguments

    f = place.choices.pick([f for f in place.functions if f.suffix in ("lpdf", "lpmf")])
    y, *given = arguments(place, f, 2)
    name = f.name.removesuffix(f"_{f.suffix}")
    return both(f"{y} ~ {name}({', '.join(given)});", f"target += {f.name}({y} | {', '.join(given)});")


@cache
def _laws() -> tuple[str, ...]:
    registry.load()
    return tuple(DISTRIBUTIONS)


def any_law(place: Place) -> str:
    """Any distribution of the library near one of its examples, in any shape."""
    from .library import written

    c = place.choices
    d = DISTRIBUTIONS[c.pick(_laws())]
    name = f"{d.name}_{d.density}"
    f = registry.by_symbol(name)
    example = c.pick(f.examples)
    known = [o for s in f.signatures for o in s.overloads if len(o.types) == len(example)]
    texts = written(place, f, c.pick(known), example, 1, False) if known else None
    if texts is None:
        return ""
    return both(
        f"{texts[0]} ~ {d.name}({', '.join(texts[1:])});", f"target += {name}({texts[0]} | {', '.join(texts[1:])});"
    )


def prior(place: Place, parameter: Kind, name: str, positive: bool) -> str:
    """A law of a parameter itself, which the mixed scheme may merge with its declaration."""
    c = place.choices
    law_name = c.pick(
        ["exponential", "gamma", "lognormal"] if positive else ["normal", "student_t", "cauchy", "logistic"]
    )
    if positive and c.chance(40):
        law_name = c.pick(["normal", "cauchy", "student_t"])
    given = [argument(place, p, None) for p in SIMPLE[law_name][1:]]
    return both(
        f"{name} ~ {law_name}({', '.join(given)});", f"target += {density(law_name)}({name} | {', '.join(given)});"
    )
