"""A whole random program: blocks, data, and the names of what it draws at random."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .certain import drawn_integers
from .choices import Choices
from .containers import expression
from .functions import counting, function
from .kinds import (
    COMPLEX,
    INT,
    REAL,
    Kind,
    all_dims,
    array,
    complex_matrix,
    complex_vector,
    declared,
    matrix,
    row_vector,
    sized,
    tuple_of,
    vector,
)  # fmt: skip
from .laws import prior
from .names import CALLED_BY_ANY, LAWS, Names
from .scope import Place, Variable, size
from .sharing import shared
from .solvers import solver
from .statements import accumulator, body, indented, nested_tuples, statements

FEATURES = {
    "library": 35,
    "truncation": 30,
    "ragged": 30,
    "tuples": 8,
    "complex": 8,
    "rng": 25,
    "solvers": 8,
    "jacobian": 12,
    "adversarial": 45,
    "target": 12,
    "constrained": 50,
    "shared": 50,
}


ADDED = "added_to_the_jacobian_lp"


@dataclass
class RandomProgram:
    """`text` as we get it and `stan_text` as Stan gets it: `~` with all constants. `random` are drawn at random."""

    text: str
    stan_text: str
    data: dict[str, Any] = field(default_factory=dict)
    random: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()


def program(c: Choices, wild: bool = False, wanted: Iterable[str] = ()) -> RandomProgram:
    """A program by its choices, with the wanted FEATURES and others by lot; one that is wild has indices, counts and
    bounds that may be out of range.
    """
    features = frozenset(name for name, percent in FEATURES.items() if c.chance(percent)) | frozenset(wanted)
    if "target" in features and "constrained" not in wanted and c.chance(70):
        features -= {"constrained"}  # target() holds no Jacobians here
    if wild:
        features |= {"wild"}
    names = Names(c, "adversarial" in features)
    place = Place(c, names, features)
    data: dict[str, Any] = {}
    declarations = data_block(place, data)
    blocks = {"functions": functions_block(place, data), "data": declarations}
    names.words = LAWS if "library" in features else LAWS + CALLED_BY_ANY
    blocks["transformed data"] = transformed_data(place)
    blocks["parameters"] = parameters_block(place)
    blocks |= computed_blocks(place)
    order = (
        "functions",
        "data",
        "transformed data",
        "parameters",
        "transformed parameters",
        "model",
        "generated quantities",
    )
    text = "".join(_block(b, blocks[b]) for b in order if blocks[b] or b in ("parameters", "model"))
    if "shared" in features:
        text = shared(c, text)
    return RandomProgram(_ours(text), _without_jacobian(_stans(text)), data, frozenset(names.random), features)


def _block(name: str, lines: list[str]) -> str:
    return f"{name} {{\n" + "".join(f"{line}\n" for line in indented(lines)) + "}\n"


def _ours(text: str) -> str:
    return re.sub(r"\x00(.*?)\x01.*?\x02", r"\1", text, flags=re.DOTALL)


def _stans(text: str) -> str:
    return re.sub(r"\x00.*?\x01(.*?)\x02", r"\1", text, flags=re.DOTALL)


def _without_jacobian(text: str) -> str:
    """The same to a Stan of before 2.36, with functions that add to the target in place of those of the Jacobian."""
    if "jacobian" not in text:
        return text
    at = re.search(r"^(transformed )?(data|parameters) {", text, re.MULTILINE)
    assert at is not None
    functions, blocks = text[: at.start()].rstrip() or "functions {\n}", text[at.start() :]
    functions = functions.replace("jacobian +=", "target +=")[:-1] + f"  void {ADDED}(real x) {{ target += x; }}\n}}\n"
    blocks = re.sub(r"\bjacobian \+= (.*);", rf"{ADDED}(\1);", blocks)
    return re.sub(r"_jacobian\b", "_lp", functions + blocks)


def data_block(place: Place, data: dict[str, Any]) -> list[str]:
    """Sizes, then containers of all kinds."""
    c = place.choices
    lines = []
    for values in ((3, 2, 4, 1), (2, 3, 1, 0))[: 1 + c.chance(60)]:
        name, value = place.names.fresh(), c.pick(values)
        lines.append(f"int{c.pick(['', '<lower=0>'])} {name};")
        data[name] = value
        place.sizes[name] = value
        place.add(Variable(name, INT, value, value, True, True))
    n = next(iter(place.sizes.values()))
    for kind in c.pick([(vector(n), array(INT, n)), (REAL, array(REAL, n)), (matrix(n, 2), array(INT, n)), ()]):
        lines.append(datum(place, data, kind))
    for _ in range(2):
        if c.chance(40):
            kinds = [
                REAL,
                vector(n),
                array(INT, n),
                matrix(n, 3),
                row_vector(n),
                array(vector(2), n),
                array(array(REAL, 2), n),
                array(array(INT, 2), n),
                INT,
                array(matrix(2, 2), n),
                vector(0),
            ]
            lines.append(datum(place, data, c.pick(kinds)))
    if "tuples" in place.features:
        lines.append(datum(place, data, tuple_of(REAL, INT)))
        if c.chance(40):
            lines.append(datum(place, data, c.pick([k for k in nested_tuples(n) if k.name == "array"])))
    if "complex" in place.features and c.chance(60):
        some = [COMPLEX, complex_vector(n), complex_matrix(n, 2), array(COMPLEX, n), array(complex_vector(2), n)]
        lines.append(datum(place, data, c.pick(some)))
    if "ragged" in place.features:
        lines += ragged(place, data)
    return lines


def datum(place: Place, data: dict[str, Any], kind: Kind) -> str:
    """A variable of the data block, with its value."""
    c = place.choices
    top = c.pick([max(1, next(iter(place.sizes.values()))), 1, 3])
    low = 1 if c.chance(50) else 0
    value = drawn(c, kind, low, max(top, low))
    name = place.names.fresh()
    data[name] = value
    numbers = [x for x in flat(value) if isinstance(x, int)] or [1]
    place.add(Variable(name, kind, min(numbers), max(numbers), True, True))
    return declared(kind, [size(place, n) for n in all_dims(kind)], name) + ";"


def drawn(c: Choices, kind: Kind, low: int, high: int) -> Any:
    """A value of a kind; ints within [low, high]."""
    if kind == INT:
        return c.between(low, high)
    if kind == REAL:
        return (c.below(41) - 15) / 10
    if kind == COMPLEX:
        return [(c.below(41) - 15) / 10, 0.5]
    if kind.name == "tuple":
        return {str(i): drawn(c, item, low, high) for i, item in enumerate(kind.items, 1)}
    if kind.name == "array":
        return [drawn(c, kind.element, low, high) for _ in range(kind.dims[0])]
    number = COMPLEX if kind.name.startswith("complex") else REAL
    if kind.name.endswith("matrix"):
        return [[drawn(c, number, low, high) for _ in range(kind.dims[1])] for _ in range(kind.dims[0])]
    return [drawn(c, number, low, high) for _ in range(kind.dims[0])]


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [x for v in value.values() for x in flat(v)]
    return [x for v in value for x in flat(v)] if isinstance(value, list) else [value]


def ragged(place: Place, data: dict[str, Any]) -> list[str]:
    """Groups of different lengths, laid one after the other; some may be empty."""
    c = place.choices
    lengths = [c.pick([1, 2, 0, 3]) for _ in range(c.between(1, 3))]
    starts = [1 + sum(lengths[:i]) for i in range(len(lengths))]
    total = max(1, sum(lengths))
    starts = [min(s, total) for s in starts]
    ends = [s + n - 1 for s, n in zip(starts, lengths)]
    data |= {"NG": len(lengths), "NR": total, "start_g": starts, "length_g": lengths, "end_g": ends}
    place.sizes |= {"NG": len(lengths), "NR": total}
    data["ragged_y"] = drawn(c, vector(total), 0, 1)
    data["index_g"] = _permuted(c, total)
    place.add(Variable("ragged_y", vector(total), data=True, static=True))
    place.add(Variable("index_g", array(INT, total), 1, total, True, True))
    place.names.used |= {"NG", "NR", "start_g", "length_g", "end_g", "ragged_y", "index_g"}
    return [
        "int NG;",
        "int NR;",
        "array[NG] int start_g;",
        "array[NG] int length_g;",
        "array[NG] int end_g;",
        "vector[NR] ragged_y;",
        "array[NR] int index_g;",
    ]


def _permuted(c: Choices, n: int) -> list[int]:
    left, out = list(range(1, n + 1)), []
    while left:
        out.append(left.pop(c.below(len(left))))
    return out


def functions_block(place: Place, data: dict[str, Any]) -> list[str]:
    c = place.choices
    lines: list[str] = []
    sizes = sorted({n for n in place.sizes.values() if n < 5}) or [2]
    solvers_first = c.chance(50)  # so that functions call them
    if "solvers" in place.features and solvers_first:
        lines += solver(place)
    with c.span():
        if c.chance(12):
            lines += counting(place, data)
    for _ in range(2):
        with c.span():
            if c.chance(35):
                lines += function(place, sizes)
    if "solvers" in place.features and not solvers_first:
        lines += solver(place)
    return lines


def transformed_data(place: Place) -> list[str]:
    if not place.choices.chance(30):
        return []
    inside = place.inner(block="transformed data", functions=[], features=place.features - {"ragged"},
                         random=place.choices.chance(50))  # fmt: skip
    lines = statements(inside, 3)
    known = {v.name for v in place.variables}
    for v in inside.variables:
        if v.name not in known:
            place.add(Variable(v.name, v.kind, v.low, v.high, True, True))
    return lines


def parameters_block(place: Place) -> list[str]:
    lines = [parameter(place)]
    for _ in range(3):
        with place.choices.span():
            if place.choices.chance(60):
                lines.append(parameter(place))
    return lines


def parameter(place: Place) -> str:
    """A parameter, with a constraint or without."""
    c = place.choices
    n = c.pick([v for v in place.sizes.values() if v < 5] or [2])
    plain = [REAL, vector(n), array(REAL, n), matrix(2, n), row_vector(n), array(vector(2), n)]
    if "tuples" in place.features:
        plain.append(tuple_of(REAL, vector(n)))
    if "complex" in place.features:
        plain += [COMPLEX, complex_vector(n), complex_matrix(2, n), array(COMPLEX, n)]
    name = place.names.fresh()
    if "constrained" not in place.features or c.chance(50):
        kind = c.pick(plain)
        place.add(Variable(name, kind))
        return declared(kind, [size(place, d) for d in all_dims(kind)], name) + ";"
    place.unbounded = False
    return constrained(place, name, n)


def constrained(place: Place, name: str, n: int) -> str:
    c = place.choices
    if c.chance(50):
        kind = c.pick([REAL, vector(n), array(REAL, n)])
        reals = [v.name for v in place.of(REAL)]
        bound = c.pick([*reals, "0.2"])
        form = c.pick(
            [
                "<lower=0>",
                "<upper=1.5>",
                "<lower=-1, upper=2>",
                f"<lower={bound}>",
                f"<offset={bound}, multiplier=2>",
                f"<offset={bound}, multiplier=exp(tanh({bound}))>",
                f"<lower={bound}, upper={bound} + exp(tanh({c.pick([*reals, '0.2'])}))>",
                f"<lower={bound}, upper={bound} + 1>",
                "<multiplier=0.5>",
            ]
        )
        if kind != REAL and c.chance(25):
            form = by_components(place, kind, n) or form
        place.add(Variable(name, kind))
        if form == "<lower=0>":
            place.names.positive.add(name)
        return declared(kind, [size(place, d) for d in all_dims(kind)], name, form) + ";"
    k = max(c.pick([2, 1]), n)
    if "tuples" in place.features and c.chance(25):
        return tuples(place, name, k)
    if c.chance(25):
        return matrices(place, name, k)
    forms: list[tuple[str, Kind]] = [
        (f"simplex[{k}]", vector(k)),
        (f"ordered[{k}]", vector(k)),
        (f"positive_ordered[{k}]", vector(k)),
        (f"unit_vector[{k + 1}]", vector(k + 1)),
        (f"cholesky_factor_corr[{k}]", matrix(k, k)),
        (f"cov_matrix[{k}]", matrix(k, k)),
        (f"corr_matrix[{k}]", matrix(k, k)),
        (f"cholesky_factor_cov[{k}]", matrix(k, k)),
        (f"sum_to_zero_vector[{k}]", vector(k)),
        (f"array[2] simplex[{k}]", array(vector(k), 2)),
        (f"array[2] cov_matrix[{k}]", array(matrix(k, k), 2)),
        (f"array[{n}] ordered[{k}]", array(vector(k), n)),
        (f"array[2] cholesky_factor_corr[{k}]", array(matrix(k, k), 2)),
        (f"cholesky_factor_cov[{k + 1}, {k}]", matrix(k + 1, k)),
    ]
    form, kind = c.pick(forms)
    place.add(Variable(name, kind))
    return f"{form} {name};"


def by_components(place: Place, kind: Kind, n: int) -> str:
    """A constraint that each component has for itself, perhaps by parameters declared before."""
    c = place.choices
    known = [v.name for v in place.having(lambda v: v.kind == kind)]
    if kind.name == "vector":
        known += [f"rep_vector(0.2, {size(place, n)})", f"linspaced_vector({n}, -0.5, 0.5)"] if n else []
        bound = c.pick(known or [""])
        forms = [f"<lower={bound}>", f"<lower={bound}, upper={bound} + 1>", f"<offset={bound}>", f"<upper={bound}>",
                 f"<offset={bound}, multiplier=exp(tanh({bound}))>", f"<lower=-1, upper=exp({bound})>"]  # fmt: skip
    else:
        bound = c.pick([*known, f"rep_array(0.3, {size(place, n)})"] if n else [""])
        forms = [f"<lower={bound}>", f"<upper={bound}>", f"<offset={bound}>"]
    return c.pick(forms) if bound else ""


def matrices(place: Place, name: str, k: int) -> str:
    """A constraint of matrices, or of the entries of one."""
    c = place.choices
    forms: list[tuple[str, Kind]] = [
        (f"sum_to_zero_matrix[2, {k}]", matrix(2, k)), (f"column_stochastic_matrix[2, {k}]", matrix(2, k)),
        (f"row_stochastic_matrix[{k}, 2]", matrix(k, 2)), (f"matrix<lower=0>[2, {k}]", matrix(2, k)),
        (f"array[2] row_vector<upper=0.3>[{k}]", array(row_vector(k), 2)),
        (f"matrix<offset=0.5, multiplier=2>[{k}, 2]", matrix(k, 2)),
        (f"array[2] matrix<lower=-1, upper=1>[2, {k}]", array(matrix(2, k), 2)),
        (f"array[2, 2] simplex[{k}]", array(array(vector(k), 2), 2)),
        (f"array[2] sum_to_zero_vector[{k}]", array(vector(k), 2)),
        (f"array[2] unit_vector[{k + 1}]", array(vector(k + 1), 2)),
    ]  # fmt: skip
    form, kind = c.pick(forms)
    place.add(Variable(name, kind))
    return f"{form} {name};"


def tuples(place: Place, name: str, k: int) -> str:
    """A tuple whose items have constraints, perhaps one of parameters declared before, or an array of such."""
    c = place.choices
    bound = c.pick([*(v.name for v in place.of(REAL)), "0.2"])
    items: list[tuple[str, Kind]] = [
        (f"simplex[{k}]", vector(k)), (f"ordered[{k}]", vector(k)), (f"cov_matrix[{k}]", matrix(k, k)),
        (f"real<lower={bound}>", REAL), (f"real<lower={bound}, upper={bound} + 2>", REAL), ("real", REAL),
        (f"vector<offset={bound}, multiplier=2>[{k}]", vector(k)), (f"array[2] real<upper={bound}>", array(REAL, 2)),
        (f"array[2] sum_to_zero_vector[{k}]", array(vector(k), 2)), (f"cholesky_factor_corr[{k}]", matrix(k, k)),
        (f"row_stochastic_matrix[{k}, 2]", matrix(k, 2)), (f"matrix<lower=0>[2, {k}]", matrix(2, k)),
    ]  # fmt: skip
    chosen = [c.pick(items) for _ in range(2)]
    kind, head = tuple_of(*(k for _, k in chosen)), c.pick(["", "array[2] "])
    place.add(Variable(name, array(kind, 2) if head else kind))
    return f"{head}tuple({', '.join(form for form, _ in chosen)}) {name};"


def computed_blocks(place: Place) -> dict[str, list[str]]:
    c = place.choices
    out: dict[str, list[str]] = {"transformed parameters": [], "generated quantities": []}
    parameters = [v for v in place.variables if not v.data]
    if c.chance(60):
        inside = place.inner(block="transformed parameters", outermost=True, jacobian="jacobian" in place.features)
        out["transformed parameters"] = [*accumulator(inside), *statements(inside, 4, 85)]
        known = {v.name for v in place.variables}
        for v in inside.variables:
            if v.name not in known:
                place.add(Variable(v.name, v.kind, v.low, v.high))
    features = place.features if place.unbounded else place.features - {"target"}
    inside = place.inner(block="model", target=True, features=features)
    out["model"] = [*priors(inside, parameters), *body(inside, 4, 90)]
    if c.chance(60):
        inside = place.inner(block="generated quantities", random=True)
        drawn = drawn_integers(inside) if "rng" in place.features and c.chance(60) else []
        out["generated quantities"] = [*drawn, *accumulator(inside), *statements(inside, 3, 90)]
    return out


def priors(place: Place, parameters: list[Variable]) -> list[str]:
    """Laws of parameters, by which the density is proper and the mixed scheme has something to merge."""
    lines = []
    for v in parameters:
        with place.choices.span():
            if v.kind.name in ("real", "vector", "array") and v.kind.name != "tuple" and place.choices.chance(45):
                if v.kind.name != "array" or v.kind.element == REAL:
                    lines.append(prior(place, v.kind, v.name, v.name in place.names.positive))
    return lines


__all__ = ["RandomProgram", "expression", "program", "sized"]
