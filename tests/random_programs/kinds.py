"""Stan's types with the sizes that they have in one random program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Kind:
    """`name` with `dims`: vector (3,), matrix (2, 3); an array has the dims of one axis and an `items` of one kind.

    A tuple has its `items`.
    """

    name: str
    dims: tuple[int, ...] = ()
    items: tuple["Kind", ...] = ()

    @property
    def element(self) -> "Kind":
        return self.items[0]

    def __str__(self) -> str:
        return declared(self, [str(d) for d in all_dims(self)], "x")


INT, REAL, COMPLEX = Kind("int"), Kind("real"), Kind("complex")
NUMBERS = (INT, REAL, COMPLEX)
Sizes = Union[list[str], None]


def vector(n: int) -> Kind:
    return Kind("vector", (n,))


def row_vector(n: int) -> Kind:
    return Kind("row_vector", (n,))


def matrix(rows: int, columns: int) -> Kind:
    return Kind("matrix", (rows, columns))


def complex_vector(n: int) -> Kind:
    return Kind("complex_vector", (n,))


def complex_row_vector(n: int) -> Kind:
    return Kind("complex_row_vector", (n,))


def complex_matrix(rows: int, columns: int) -> Kind:
    return Kind("complex_matrix", (rows, columns))


def array(element: Kind, n: int) -> Kind:
    return Kind("array", (n,), (element,))


def tuple_of(*items: Kind) -> Kind:
    return Kind("tuple", (), items)


def all_dims(kind: Kind) -> list[int]:
    """The sizes in the order in which a declaration has them."""
    return [*kind.dims, *(d for item in kind.items for d in all_dims(item))]


def unsized(kind: Kind) -> str:
    """The type as an argument or a result has it."""
    element, axes = kind, 0
    while element.name == "array":
        element, axes = element.element, axes + 1
    if element.name == "tuple":
        text = f"tuple({', '.join(map(unsized, element.items))})"
    else:
        text = element.name
    return f"array[{',' * (axes - 1)}] {text}" if axes else text


def sized(kind: Kind, sizes: list[str], constraint: str = "") -> str:
    """The type as a declaration has it; `sizes` are used up from the front."""
    axes = []
    while kind.name == "array":
        axes.append(sizes.pop(0))
        kind = kind.element
    if kind.name == "tuple":
        text = f"tuple({', '.join(sized(i, sizes) for i in kind.items)})"
    else:
        own = [sizes.pop(0) for _ in kind.dims]
        text = kind.name + constraint + (f"[{', '.join(own)}]" if own else "")
    return f"array[{', '.join(axes)}] {text}" if axes else text


def declared(kind: Kind, sizes: list[str], name: str, constraint: str = "") -> str:
    return f"{sized(kind, list(sizes), constraint)} {name}"


def is_empty(kind: Kind) -> bool:
    return 0 in all_dims(kind)
