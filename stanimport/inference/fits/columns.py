"""Variables as columns, named and ordered as by CmdStan: `theta[1,2]`, the first index fastest, `a:1` of tuples.

Of arrays of tuples, `a[1]:1`, the items of one tuple stand together. Names of columns become arrays again, too.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stanlib.errors import StanDataError

from ..options import suggestion

BLOCK = 2**21  # bytes of components that are looked at together: what is computed of them takes several times as many
Labels = Mapping[str, Sequence[Sequence[Any] | None]]  # by variable, the coordinates of each axis that has them
Order = np.ndarray | None  # of columns: the places of the variables' components; None for as they are
Axes = Mapping[str, tuple[int, ...]]  # by item of a tuple, see `tuples.axes`


def column_names(
    name: str, shape: tuple[int, ...], is_complex: bool = False, labels: Sequence[Sequence[object] | None] = (),
    outer: tuple[int, ...] = (),
) -> list[str]:  # fmt: skip
    """The names of the components of a variable: `theta[2,1]`, with labels `theta[Deerfield,1]`.

    Args:
        outer: of the item of a tuple, the numbers of axes of the arrays that it lies in.
    """
    known = [*labels, *[None] * len(shape)]
    axes = [label if label is not None and len(label) == n else range(1, n + 1) for n, label in zip(shape, known)]
    parts: list[tuple[str, ...]] = [("real",), ("imag",)] if is_complex else [()]
    return [_named(name, outer, i, part) for i in _indices(axes) for part in parts]


def _named(name: str, outer: tuple[int, ...], index: tuple[object, ...], part: tuple[str, ...]) -> str:
    """CmdStan's name of a component: `a[2]:1` of `a.1`, if that lies in an array."""
    levels = [*_levels(name, outer, index)]
    levels[-1] = levels[-1][0], (*levels[-1][1], *part)
    return ":".join(f"{item}[{','.join(map(str, own))}]" if own else item for item, own in levels)


def _levels(name: str, outer: tuple[int, ...], index: tuple[object, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """A variable and the items of tuples on the way to a leaf, each with its own part of an index."""
    items, at = name.split("."), 0
    for item, own in itertools.zip_longest(items[:-1], outer, fillvalue=0):
        yield str(item), index[at : at + int(own)]
        at += int(own)
    yield items[-1], index[at:]


def _indices(axes: Sequence[Sequence[object]]) -> Iterator[tuple[Any, ...]]:
    """All indices, the first fastest."""
    return (tuple(reversed(i)) for i in itertools.product(*reversed(axes)))


def flatten(
    values: Mapping[str, np.ndarray], labels: Labels | None = None, axes: Axes | None = None
) -> tuple[list[str], np.ndarray]:  # fmt: skip
    """All components of arrays (chains, draws, ...): their names, and an array (chains, draws, components)."""
    names, order = head(values, labels, axes)
    return names, table(values, order)


def head(
    values: Mapping[str, np.ndarray], labels: Labels | None = None, axes: Axes | None = None
) -> tuple[list[str], Order]:  # fmt: skip
    """The names of all components of arrays (chains, draws, ...), and their order, if it is not the variables'."""
    names: list[str] = []
    outer = {n: own for n, own in (axes or {}).items() if n in values and any(own)}
    for name, value in values.items():
        is_complex = value.dtype.kind == "c"
        names += column_names(name, value.shape[2:], is_complex, (labels or {}).get(name, ()), outer.get(name, ()))
    if not outer:
        return names, None
    order = _order(values, outer)
    return [names[i] for i in order], np.asarray(order, int)


def root(name: str) -> str:
    """The variable that a column, or a part of a tuple or a network, belongs to."""
    return name.partition("[")[0].partition(":")[0].partition(".")[0]


def belonging(wanted: Sequence[str], names: Sequence[str], variables: Iterable[str]) -> list[int]:
    """The places of the columns of variables, of parts of them ("t.1") and of single ones ("theta[1]").

    Args:
        names: of all columns.
        variables: that there are; those without components have no columns.

    Raises:
        ValueError: for a name of none of these.
    """
    found, known = [], {*variables, *map(root, variables)}
    for name in wanted:
        part = name.replace(".", ":")
        mine = [i for i, c in enumerate(names) if name in (c, root(c)) or c.partition("[")[0] == part]
        if not mine and name not in known:
            raise ValueError(f"there is no variable {name!r}{suggestion(name, [*known, *names])}")
        found += mine
    return found


def table(values: Mapping[str, np.ndarray], order: Order = None) -> np.ndarray:
    """The components in this order, (chains, draws, components)."""
    if not values:
        return np.zeros((0, 0, 0))
    shape = next(iter(values.values())).shape[:2]
    made, end = np.empty((*shape, sum(map(_width, values.values())))), 0
    for part in pieces(values):
        start, end = end, end + part.shape[2]
        made[:, :, start:end] = part
    return made if order is None else made[:, :, order]


def pieces(values: Mapping[str, np.ndarray]) -> Iterator[np.ndarray]:
    """The components in the variables' order, (chains, draws, some of them): a block of memory at a time."""
    for value in values.values():
        yield from _pieces(value.transpose(0, 1, *range(value.ndim - 1, 1, -1)))


def _pieces(value: np.ndarray) -> Iterator[np.ndarray]:
    """Those of an array whose last index is the fastest."""
    if not _width(value):
        return
    if value.nbytes <= BLOCK or value.ndim == 2:
        yield _columns(value)
        return
    most = max(1, BLOCK * value.shape[2] // value.nbytes)  # of the slowest index
    for start in range(0, value.shape[2], most):
        part = value[:, :, start : start + most]
        yield from [_columns(part)] if most > 1 or part.ndim == 3 else _pieces(part[:, :, 0])


def reduced(
    values: Mapping[str, np.ndarray], order: Order, of: Callable[[np.ndarray], Mapping[str, np.ndarray]]
) -> dict[str, np.ndarray]:  # fmt: skip
    """What a function makes of each component, by name, in this order: it gets (chains, draws, some components)."""
    found = [of(part) for part in pieces(values)]
    whole = {n: np.concatenate([f[n] for f in found]) for n in (found[0] if found else ())}
    return whole if order is None else {n: v[order] for n, v in whole.items()}


def of_all_chains(values: np.ndarray) -> np.ndarray:
    """An array (chains, draws, ...) as (draws of all chains, ...), whose number -1 does not tell where one is empty."""
    return values.reshape(values.shape[0] * values.shape[1], *values.shape[2:])


def _order(values: Mapping[str, np.ndarray], outer: Axes) -> list[int]:
    """The columns in CmdStan's order: all that belongs to one tuple of an array, then the next tuple."""
    roots = {root: i for i, root in enumerate(dict.fromkeys(n.partition(".")[0] for n in values))}
    keys: list[tuple[Any, ...]] = []
    for name, value in values.items():
        root = name.partition(".")[0]
        for index in _indices([range(n) for n in value.shape[2:]]):
            first, *rest = _levels(name, outer.get(name, ()), index)
            own = (first[1][::-1], *(x for item, at in rest for x in (int(item), at[::-1]))) if rest else ()
            keys += [(roots[root], *own)] * (2 if value.dtype.kind == "c" else 1)
    return sorted(range(len(keys)), key=keys.__getitem__)


def _width(value: np.ndarray) -> int:
    """How many components an array has, not left to reshape, which can't tell where there are no draws."""
    return int(np.prod(value.shape[2:])) * (2 if value.dtype.kind == "c" else 1)


def _columns(value: np.ndarray) -> np.ndarray:
    """The components of an array whose last index is the fastest."""
    head = value.shape[:2]
    if value.dtype.kind != "c":
        return value.reshape(*head, _width(value)).astype(float, copy=False)
    return np.stack([value.real, value.imag], axis=-1).reshape(*head, _width(value))


# --- and back ---------------------------------------------------------------------------------------------------------


def arrays_of(names: Sequence[str], values: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays (chains, draws, ...) by name, from columns called as by CmdStan (`theta.1.2`) or here (`theta[1,2]`).

    Raises:
        StanDataError: if components of a variable are missing, and for indices that are none.
    """
    places: dict[str, list[tuple[tuple[int, ...], str, int]]] = {}
    for at, name in enumerate(names):
        leaf, index, part = _parsed(name)
        places.setdefault(leaf, []).append((index, part, at))
    return {leaf: _array(leaf, found, values) for leaf, found in places.items()}


def _parsed(name: str) -> tuple[str, tuple[int, ...], str]:
    """The leaf that a column belongs to, the index in it, from 0, and "imag" for an imaginary part."""
    plain = name.replace("[", ".").replace("]", "").replace(",", ".")
    leaf, index, part = "", list[int](), ""
    for segment in plain.split(":"):  # of tuples
        head, *rest = segment.split(".")
        leaf = f"{leaf}.{head}" if leaf else head
        part = rest.pop() if rest and rest[-1] in ("real", "imag") else part
        if not all(i.isdecimal() for i in rest):
            raise StanDataError(f"the column {name} is none of CmdStan's: its indices are no integers", name)
        index += [int(i) - 1 for i in rest]
    return leaf, tuple(index), part


def _array(leaf: str, places: Sequence[tuple[tuple[int, ...], str, int]], values: np.ndarray) -> np.ndarray:
    """The array of a leaf, (chains, draws, ...), from the places of its columns in values (chains, draws, columns).

    Raises:
        StanDataError: if columns are missing.
    """
    shape = tuple(max(i) + 1 for i in zip(*(index for index, _, _ in places)))
    is_complex = any(part for _, part, _ in places)
    if len(places) != int(np.prod(shape)) * (2 if is_complex else 1):
        raise StanDataError(f"the columns of {leaf} are not complete", leaf)
    made = np.zeros((*values.shape[:2], *shape), complex if is_complex else float)
    for index, part, at in places:
        where: tuple[Any, ...] = (slice(None), slice(None), *index)
        (made.imag if part == "imag" else made.real)[where] = values[:, :, at]
    return made


def axes_of(names: Sequence[str]) -> dict[str, int]:
    """Of every tuple and item that a header names, how many indices stand behind it: 1 behind t in "t.2:1"."""
    found: dict[str, int] = {}
    for name in names:
        path = ""
        for segment in name.split(":"):
            head, *rest = segment.split(".")
            path = f"{path}.{head}" if path else head
            found.setdefault(path, len(rest))
    return found
