"""Variables as columns, named and ordered as by CmdStan: `theta[1,2]`, the first index fastest, `a:1` of tuples."""
from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np


def column_names(name: str, shape: tuple[int, ...], is_complex: bool = False) -> list[str]:
    """The names of the components of a variable."""
    root = _root(name)
    ranges = [range(1, n + 1) for n in reversed(shape)]
    indices = [tuple(reversed(i)) for i in itertools.product(*ranges)]
    if is_complex:
        return [f"{root}[{','.join([*map(str, i), part])}]" for i in indices for part in ("real", "imag")]
    return [f"{root}[{','.join(map(str, i))}]" if i else root for i in indices]


def _root(name: str) -> str:
    """CmdStan's name of a tuple's item: `a:1` of `a.1`."""
    return name.replace(".", ":")


def flatten(values: Mapping[str, np.ndarray]) -> tuple[list[str], np.ndarray]:
    """All components of arrays (chains, draws, ...): their names, and an array (chains, draws, components)."""
    names: list[str] = []
    blocks: list[np.ndarray] = []
    for name, value in values.items():
        names += column_names(name, value.shape[2:], value.dtype.kind == "c")
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
