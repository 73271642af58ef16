"""Variables as columns, named and ordered as by CmdStan: `theta[1,2]`, the first index fastest, `a:1` of tuples."""
from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Labels = Mapping[str, Sequence[Sequence[Any] | None]]  # by variable, the coordinates of each axis that has them


def column_names(
    name: str, shape: tuple[int, ...], is_complex: bool = False, labels: Sequence[Sequence[Any] | None] = ()
) -> list[str]:
    """The names of the components of a variable: `theta[2,1]`, with labels `theta[Deerfield,1]`."""
    root, known = _root(name), [*labels, *[None] * len(shape)]
    axes = [label if label is not None and len(label) == n else range(1, n + 1) for n, label in zip(shape, known)]
    ranges = reversed(axes)
    indices = [tuple(reversed(i)) for i in itertools.product(*ranges)]
    if is_complex:
        return [f"{root}[{','.join([*map(str, i), part])}]" for i in indices for part in ("real", "imag")]
    return [f"{root}[{','.join(map(str, i))}]" if i else root for i in indices]


def _root(name: str) -> str:
    """CmdStan's name of a tuple's item: `a:1` of `a.1`."""
    return name.replace(".", ":")


def flatten(values: Mapping[str, np.ndarray], labels: Labels | None = None) -> tuple[list[str], np.ndarray]:
    """All components of arrays (chains, draws, ...): their names, and an array (chains, draws, components)."""
    names: list[str] = []
    blocks: list[np.ndarray] = []
    for name, value in values.items():
        names += column_names(name, value.shape[2:], value.dtype.kind == "c", (labels or {}).get(name, ()))
        blocks.append(_columns(value))
    if not blocks:
        return names, np.zeros((0, 0, 0))
    return names, np.concatenate(blocks, axis=2)


def _columns(value: np.ndarray) -> np.ndarray:
    head, axes = value.shape[:2], range(value.ndim - 1, 1, -1)
    count = int(np.prod(value.shape[2:]))  # not left to reshape, which can't tell where there are no draws
    flat = np.transpose(value, (0, 1, *axes)).reshape(*head, count)
    if flat.dtype.kind != "c":
        return flat.astype(float)
    return np.stack([flat.real, flat.imag], axis=-1).reshape(*head, 2 * count)
