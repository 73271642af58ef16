"""Along which axes of the data their log densities run, and of which part of it each is."""
from __future__ import annotations

import math
from itertools import permutations

import numpy as np


def axes_in_order(where: np.ndarray, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes along which positions run through those of a datum of a shape, one for each of these; else none.

    Columns that a loop goes through have the datum's second axis first.
    """
    if where.ndim != len(shape) or not where.size:
        return ()
    along = np.unravel_index(where, shape)
    for axes in permutations(range(where.ndim)):
        lines = (np.moveaxis(at, i, 0).reshape(where.shape[i], -1) for i, at in zip(axes, along))
        if all((at == at[:, :1]).all() for at in lines):
            return axes
    return ()


def cells(
    where: object, own: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[np.ndarray, tuple[int, ...]] | None:  # fmt: skip
    """Which part of a datum of a shape each log density, of the shape `own`, is of, and the sizes of the parts' axes.

    Parts are the rows, or what stands at one place along some axes, as columns do. None where they are neither.
    """
    if not isinstance(where, np.ndarray) or where.shape[: len(own)] != own or not where.size:
        return None
    parts, event, size = where.reshape(math.prod(own), -1), where.shape[len(own) :], math.prod(shape)
    width = parts.shape[1]
    if size % width == 0 and not (parts[:, :1] % width).any() and (parts == parts[:, :1] + np.arange(width)).all():
        axes = range(len(shape) + 1)
        kept = [i for i in axes if shape[i:] == event] or [i for i in axes if math.prod(shape[i:]) == width]
        heads = shape[: kept[0]] if kept else (size // width,)  # parts of a vector are rows of no array
        return (parts[:, 0] // width).reshape(own), heads
    fixed = [(n, at[:, 0]) for n, at in zip(shape, np.unravel_index(parts, shape)) if (at == at[:, :1]).all()]
    heads = tuple(n for n, _ in fixed)
    if not heads or math.prod(heads) * width != size:
        return None
    return np.ravel_multi_index(tuple(at for _, at in fixed), heads).reshape(own), heads
