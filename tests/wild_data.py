"""Data for programs from the wild for which Stan gives a density: stanc's mock data break what programs rely on.

The first try has 1 for every integer and numbers between 0.1 and 0.9. Then one variable after the other gets values
that are less alike, which stay if Stan still gives a density.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

TRIES = 60  # that Stan is asked for
POINTS = 2

Fill = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]

INTS: tuple[Fill, ...] = (
    lambda r, shape: r.permutation(np.arange(math.prod(shape)) % 3).reshape(shape) + 1,
    lambda r, shape: r.integers(1, 3, shape),
    lambda r, shape: r.integers(0, 2, shape),
)
REALS: tuple[Fill, ...] = (
    lambda r, shape: r.normal(size=shape),
    lambda r, shape: np.sort(r.uniform(0.5, 4, shape), axis=None).reshape(shape),
    lambda r, shape: r.uniform(0.5, 4, shape),
)


def tamed(mock: dict[str, Any], finite: Callable[[dict[str, Any]], bool], seed: int = 0) -> dict[str, Any] | None:
    """Data of the shapes of mock data for which `finite`, None if there are none to be found.

    Scalars that are integers stay as they are: most are sizes.
    """
    random, left = np.random.default_rng(seed), iter(range(TRIES))
    free = {n: np.asarray(v) for n, v in mock.items() if _is_free(v)}
    for whole in _beginnings(random, mock, free):
        next(left)
        if finite(whole):
            break
    else:
        return None
    for name in random.permutation(sorted(free)):
        for fill in INTS if free[name].dtype.kind == "i" else REALS:
            if next(left, None) is None:
                return whole
            changed = whole | {name: fill(random, free[name].shape).tolist()}
            if finite(changed):
                whole = changed
                break
    return whole


def _is_free(value: Any) -> bool:
    """Whether a value may be another: no integer by itself, nor what is no array of numbers."""
    if isinstance(value, (dict, int)):
        return False
    try:
        array = np.asarray(value)
    except ValueError:  # ragged tuples
        return False
    return array.dtype.kind in "if" and array.size > 0


def _beginnings(
    random: np.random.Generator, mock: dict[str, Any], free: dict[str, np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Data whose values are as alike as can be; with arrays of reals as they are, which may be simplexes, too."""
    ones = {n: np.ones_like(a).tolist() for n, a in free.items() if a.dtype.kind == "i"}
    small = {n: random.uniform(0.1, 0.9, a.shape).tolist() for n, a in free.items() if a.dtype.kind == "f"}
    apart = {n: np.sort(random.uniform(1, 9, a.shape), axis=None).reshape(a.shape).tolist()
             for n, a in free.items() if a.dtype.kind == "f"}  # fmt: skip
    zeros = {n: np.zeros_like(free[n]).tolist() for n in ones}
    for ints in (ones, zeros):
        for reals in (small, {}, apart):
            yield mock | ints | reals


def is_finite(text: str) -> Callable[[dict[str, Any]], bool]:
    """What tells whether Stan gives a program of this text a density at some points, for data."""
    import stanli

    def finite(data: dict[str, Any]) -> bool:
        try:
            model = stanli.Model(stan_code=text, data=data)
            return all(math.isfinite(model.log_prob_grad(p)[0]) for p in points_of(model.n_unconstrained))
        except RuntimeError:
            return False

    return finite


def points_of(size: int) -> list[np.ndarray]:
    return list(np.random.default_rng(1).uniform(-0.7, 0.7, (POINTS, size)))
