"""Parts of variables, to be assigned to: elements, rows, items of tuples, what lists of indices take."""
from __future__ import annotations

from .containers import _stretch
from .integers import integer
from .kinds import COMPLEX, NUMBERS, REAL, Kind, array, is_empty
from .scope import Place, Variable


def part(place: Place, v: Variable) -> tuple[str, Kind]:
    """A variable or a part of it, and the part's kind."""
    c = place.choices
    what = c.below(5)
    kind = v.kind
    if kind in NUMBERS or is_empty(kind) or what == 0:
        return v.name, kind
    if kind.name == "tuple":
        return within(place, v.name, kind)
    if kind.name.endswith("matrix"):
        return matrix_part(place, v, what)
    n = kind.dims[0]
    if what in (3, 4):
        taken = c.between(1 if kind.items and kind.element.name == "tuple" else 0, n)
        held = kind.items[0] if kind.items else REAL
        if held.name in ("vector", "row_vector", "array") and c.chance(30):
            inner = c.between(0, held.dims[0])
            part_of = array(Kind(held.name, (inner,), held.items), taken)
            return f"{v.name}[{_stretch(place, taken, n)}, {_stretch(place, inner, held.dims[0])}]", part_of
        return f"{v.name}[{_stretch(place, taken, n)}]", Kind(kind.name, (taken,), kind.items)
    if kind.name == "array":
        return within(place, f"{v.name}[{integer(place, 1, n, 1)}]", kind.element)
    return f"{v.name}[{integer(place, 1, n, 2)}]", COMPLEX if kind.name.startswith("complex") else REAL


def within(place: Place, text: str, kind: Kind) -> tuple[str, Kind]:
    """What lies at a place, or an item or an element of that, of any depth."""
    c = place.choices
    if is_empty(kind) or kind in NUMBERS or c.chance(40 if kind.name == "tuple" else 50):
        return text, kind
    if kind.name == "tuple":
        at = c.below(len(kind.items))
        return within(place, f"{text}.{at + 1}", kind.items[at])
    held = kind.element if kind.name == "array" else COMPLEX if kind.name.startswith("complex") else REAL
    indices = ", ".join(integer(place, 1, n, 1) for n in kind.dims)
    return within(place, f"{text[:-1]}, {indices}]" if text[-1] == "]" else f"{text}[{indices}]", held)


def matrix_part(place: Place, v: Variable, what: int) -> tuple[str, Kind]:
    c = place.choices
    rows, columns = v.kind.dims
    row, column = integer(place, 1, rows, 1), integer(place, 1, columns, 1)
    prefix = v.kind.name.removesuffix("matrix")
    as_row, as_column = Kind(f"{prefix}row_vector", (columns,)), f"{prefix}vector"
    if what == 1:
        return f"{v.name}[{row}, {column}]", COMPLEX if prefix else REAL
    if what == 2:
        return c.pick([(f"{v.name}[{row}]", as_row), (f"{v.name}[{row}, ]", as_row)])
    if what == 3:
        return f"{v.name}[, {column}]", Kind(as_column, (rows,))
    taken = c.between(0, rows)
    if c.chance(40):
        across = c.between(0, columns)
        kind = Kind(v.kind.name, (taken, across))
        return f"{v.name}[{_stretch(place, taken, rows)}, {_stretch(place, across, columns)}]", kind
    return f"{v.name}[{_stretch(place, taken, rows)}, {column}]", Kind(as_column, (taken,))
