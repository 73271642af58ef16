"""Many small functions in one compiled JAX program: its start-up costs more than most of the library's functions do."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

SIZE = 4  # calls in one program: more of them compile in a time that grows faster than their number


class Call(NamedTuple):
    """A function of arrays and where to evaluate it; `differentiable` if its gradient is wanted too."""

    function: Callable[..., Any]
    at: Sequence[np.ndarray]
    differentiable: bool


class Outcome(NamedTuple):
    """What a call gives: its value, a tree of arrays, and the gradient of `total` of it in every argument."""

    value: Any
    gradient: Sequence[np.ndarray] | None


class Compiled:
    """The outcomes of calls by their keys, compiled some at a time, when the first of those is asked for."""

    def __init__(self, calls: Mapping[Hashable, Call]):
        self._calls = calls
        self._batches = [dict(b) for b in _batched(calls.items(), SIZE)]
        self._outcomes: dict[Hashable, Outcome] = {}

    def __getitem__(self, key: Hashable) -> Outcome:
        """Raises: what JAX raises for this call."""
        if key not in self._outcomes:
            batch = next(b for b in self._batches if key in b)
            try:
                self._outcomes |= outcomes(batch)
            except Exception:  # one of the others may be to blame
                self._outcomes |= outcomes({key: self._calls[key]})
        return self._outcomes[key]


def _batched(items: Any, size: int) -> Any:
    iterator = iter(items)
    return iter(lambda: list(itertools.islice(iterator, size)), [])


def outcomes(calls: Mapping[Hashable, Call]) -> dict[Hashable, Outcome]:
    """The outcomes of calls that are compiled together, in double precision."""

    def run(arguments: Any) -> Any:
        return [_with_gradient(c, a) for c, a in zip(calls.values(), arguments)]

    with jax.enable_x64(True):
        found = jax.tree.map(np.asarray, jax.jit(run)([list(c.at) for c in calls.values()]))
    return {k: Outcome(*f) for k, f in zip(calls, found)}


def _with_gradient(call: Call, arguments: Sequence[Any]) -> tuple[Any, Any]:
    if not call.differentiable:
        return call.function(*arguments), None

    def weighted(*given: Any) -> tuple[Any, Any]:
        value = call.function(*given)
        return total(value, jnp), value

    gradient, value = jax.grad(weighted, tuple(range(len(arguments))), has_aux=True)(*arguments)
    return value, gradient


def leaves(x: Any) -> list[Any]:
    """The arrays of a result, those of tuples within tuples too."""
    return [leaf for item in x for leaf in leaves(item)] if isinstance(x, tuple) else [x]


def total(value: Any, xp: Any) -> Any:
    """A sum of all real and imaginary parts of a result, each with a weight of its own; a number counts once."""
    parts = [xp.reshape(xp.asarray(x), (-1,)) for x in leaves(value)]
    parts = [p for x in parts for p in ((x.real, x.imag) if np.iscomplexobj(x) else (x,))]
    return sum((xp.sum(p * xp.cos(np.arange(len(p)) + 0.5 * i)) for i, p in enumerate(parts)), start=0.0)


def slope(gradient: Sequence[Any], directions: Sequence[Any]) -> float:
    """The derivative along directions; of complex arguments, JAX's gradients hold the conjugates."""
    return float(sum(np.sum(np.real(np.asarray(g) * v)) for g, v in zip(gradient, directions)))


def numeric_slope(
    function: Callable[..., Any], at: Sequence[Any], directions: Sequence[Any], width: float = 2e-4
) -> float:
    """The derivative of `total` along directions, by central differences of two widths, extrapolated."""

    def difference(h: float) -> float:
        up, down = (function(*(x + s * h * v for x, v in zip(at, directions))) for s in (1, -1))
        return float(total(up, np) - total(down, np)) / (2 * h)

    return (4 * difference(width / 2) - difference(width)) / 3


def direction(x: np.ndarray, seed: int) -> np.ndarray:
    """A direction of change that keeps what functions ask of an argument: symmetry, triangles, sums, norms."""
    v = _complex_normal(x, seed) if np.iscomplexobj(x) else np.random.default_rng(seed).normal(size=np.shape(x))
    if np.ndim(x) == 0 or np.size(x) < 2:
        return v
    for axis in _fixed_sums(x):
        v = v - v.mean(axis=axis, keepdims=True)
    if np.ndim(x) == 2 and x.shape[0] == x.shape[1]:
        return _of_matrix(x, v)
    return v


def _complex_normal(x: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=np.shape(x)) + 1j * rng.normal(size=np.shape(x))


def _fixed_sums(x: np.ndarray) -> list[int]:
    """The axes along which an argument sums to 0 everywhere, or to 1 without a negative component."""
    sums = {axis: np.sum(x, axis=axis) for axis in range(np.ndim(x))}
    return [a for a, s in sums.items() if np.allclose(s, 0) or np.all(np.real(x) >= 0) and np.allclose(s, 1)]


def _of_matrix(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    if np.array_equal(x, np.conj(x.T)):
        v = v + np.conj(v.T)
        return v - np.diag(np.diag(v)) if np.all(np.diag(x) == 1) else v
    if not np.triu(x, 1).any():
        v = np.tril(v)
        unit = np.allclose(np.linalg.norm(x, axis=1), 1)
        return v - x * np.sum(x * v, axis=1, keepdims=True) if unit else v
    return v
