"""What mutations put into programs: conditions, expressions, declarations of what is in scope."""

from __future__ import annotations

import random
from typing import Any

from .view import Scoped

CONTAINERS = {"vector", "row_vector", "array[] real", "array[] int"}
SCALARS = {"int", "real"}


def first(name: str, type_: str) -> str | None:
    """A scalar of a variable: itself, or its first element."""
    if type_ in SCALARS:
        return name
    if type_ in CONTAINERS:
        return f"{name}[1]"
    return f"{name}[1, 1]" if type_ in ("matrix", "array[] vector", "array[,] real", "array[,] int") else None


def scalar(draw: random.Random, scope: dict[str, Scoped], is_data: bool | None = None) -> str:
    """A scalar in scope, a literal if there is none."""
    fit = [(n, v) for n, v in scope.items() if is_data is None or v.is_data == is_data]
    found = [s for n, v in fit if (s := first(n, v.type))]
    return draw.choice(found) if found else draw.choice(("0.4", "2", "1.5"))


def condition(draw: random.Random, scope: dict[str, Scoped]) -> str:
    """A condition on data or on parameters."""
    ints = [n for n, v in scope.items() if v.type == "int"]
    if ints and draw.random() < 0.4:
        n = draw.choice(ints)
        return draw.choice((f"{n} % 2 == 0", f"{n} > 1", f"{n} <= 2", f"{n} != 3", f"{n} == 1"))
    x, y = scalar(draw, scope, draw.choice((True, False))), scalar(draw, scope)
    return draw.choice((f"{x} > 0", f"{x} < {y}", f"!({x} > 0.3)", f"{x} > 0 && {y} > 0", f"{x} < 0 || {y} < 1"))


def fresh(draw: random.Random, text: str, stem: str) -> str:
    """A name that a program does not have."""
    while (name := f"{stem}{draw.randrange(1000)}") in text:
        pass
    return name


def declared(name: str, type_: str, value: str) -> str | None:
    """The declaration of a local variable with the sizes of its value."""
    sizes = {"int": "int", "real": "real", "vector": f"vector[num_elements({value})]",
             "row_vector": f"row_vector[num_elements({value})]",
             "matrix": f"matrix[rows({value}), cols({value})]",
             "array[] real": f"array[size({value})] real", "array[] int": f"array[size({value})] int"}  # fmt: skip
    return f"{sizes[type_]} {name} = {value};" if type_ in sizes else None


def argument(name: str, scoped: Scoped) -> str:
    return f"{scoped.type} {name}"


def is_simple(e: Any) -> bool:
    return not any(w in e.span.text for w in ("_rng", "_lp(", "target", "_jacobian"))
