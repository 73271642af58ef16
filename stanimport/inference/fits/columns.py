"""Variables as columns, named and ordered as by CmdStan: `theta[1,2]`, the first index fastest, `a:1` of tuples.

Of arrays of tuples, `a[1]:1`, the items of one tuple stand together. Names of columns become arrays again, too.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stanlib.errors import StanDataError

Labels = Mapping[str, Sequence[Sequence[Any] | None]]  # by variable, the coordinates of each axis that has them
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
) -> tuple[list[str], np.ndarray]:
    """All components of arrays (chains, draws, ...): their names, and an array (chains, draws, components)."""
    names: list[str] = []
    blocks: list[np.ndarray] = []
    outer = {n: own for n, own in (axes or {}).items() if n in values and any(own)}
    for name, value in values.items():
        is_complex = value.dtype.kind == "c"
        names += column_names(name, value.shape[2:], is_complex, (labels or {}).get(name, ()), outer.get(name, ()))
        blocks.append(_columns(value))
    if not blocks:
        return names, np.zeros((0, 0, 0))
    table = np.concatenate(blocks, axis=2)
    if not outer:
        return names, table
    order = _order(values, outer)
    return [names[i] for i in order], table[:, :, order]


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


def _columns(value: np.ndarray) -> np.ndarray:
    head, axes = value.shape[:2], range(value.ndim - 1, 1, -1)
    count = int(np.prod(value.shape[2:]))  # not left to reshape, which can't tell where there are no draws
    flat = np.transpose(value, (0, 1, *axes)).reshape(*head, count)
    if flat.dtype.kind != "c":
        return flat.astype(float)
    return np.stack([flat.real, flat.imag], axis=-1).reshape(*head, 2 * count)


# --- and back ---------------------------------------------------------------------------------------------------------


def arrays_of(names: Sequence[str], values: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays (chains, draws, ...) by name, from columns called as by CmdStan (`theta.1.2`) or here (`theta[1,2]`).

    Raises:
        StanDataError: if components of a variable are missing.
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
        made[where] += 1j * values[:, :, at] if part == "imag" else values[:, :, at]
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
