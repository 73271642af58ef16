"""The order in which Stan has the unconstrained parameters, as metrics do, of CmdStan's files and of fits.

Points have a parameter row by row, an item of all tuples of an array and then the next item, and all real parts of
complex numbers in front of the imaginary ones. Stan reads matrices column by column, one after the other, tuple by
tuple, and number by number.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from stanlib.program import Program, Variable

from .. import tuples
from ..samplers.packed import is_packed


class Shaped(Protocol):
    """A posterior, as far as it has the places of parameters."""

    @property
    def program(self) -> Program: ...

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]: ...


def places(posterior: Shaped) -> np.ndarray:
    """Where Stan's unconstrained parameters are in a point."""
    at, found = 0, {}
    for name, shape in posterior.shapes.items():
        size = int(np.prod(shape))
        found[name] = np.arange(at, at + size).reshape(shape)
        at += size
    declared = [v for v in posterior.program.parameters if {*tuples.leaves(v), f"{v.name}.real"} & {*found}]
    parts = [_places(v, v.name, found, 0) for v in declared]
    return np.concatenate([np.zeros(0, int), *parts])


def _places(variable: Variable, name: str, found: Mapping[str, np.ndarray], outer: int) -> np.ndarray:
    """Those of a variable or an item, (..., components): the first axes are of the arrays around its tuples."""
    arrays = outer + tuples.array_axes(variable)
    if variable.items:
        parts = [_places(item, f"{name}.{i}", found, arrays) for i, item in enumerate(variable.items, 1)]
        made = np.concatenate(parts, axis=-1)
    elif "complex" in variable.type:
        parts = [_by_columns(found[f"{name}.{part}"], arrays) for part in ("real", "imag")]
        made = np.stack(parts, axis=-1)
    else:
        made = _by_columns(found[name], arrays)
    flat: np.ndarray = made.reshape(*made.shape[:outer], int(np.prod(made.shape[outer:])))
    return flat


def _by_columns(values: np.ndarray, arrays: int) -> np.ndarray:
    """Free values that are a matrix, which those of covariances and Cholesky factors are not, by its columns."""
    return values.swapaxes(-1, -2) if values.ndim - arrays == 2 else values


def in_order(metric: np.ndarray, order: np.ndarray) -> np.ndarray:
    """An inverse metric of any kind, with its parameters in another order."""
    if len(metric) < len(order):  # of a chain that has none yet
        return metric
    if is_packed(metric):
        return np.concatenate([metric[:1], metric[1:][order]])
    return np.asarray(metric[order] if metric.ndim == 1 else metric[order][:, order])


def to_stan(posterior: Shaped, metrics: np.ndarray) -> np.ndarray:
    """The inverse metrics of chains in Stan's order."""
    order = places(posterior)
    return metrics if _is_same(order) else np.stack([in_order(m, order) for m in metrics])


def from_stan(posterior: Shaped, metrics: np.ndarray | Sequence[np.ndarray]) -> np.ndarray:
    """The inverse metrics of chains, given in Stan's order, in that of points."""
    order = places(posterior)
    back = np.argsort(order)
    return np.asarray(metrics) if _is_same(order) else np.stack([in_order(np.asarray(m), back) for m in metrics])


def _is_same(order: np.ndarray) -> bool:
    return bool(np.array_equal(order, np.arange(len(order))))
