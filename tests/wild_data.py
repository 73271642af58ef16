"""Data for programs from the wild for which Stan gives a density: stanc's mock data break what programs rely on.

The first try has 1 for every integer and numbers between 0.1 and 0.9; later ones have an integer for each variable.
Then one variable after the other gets values that are less alike, which stay if Stan still gives a density.
"""
from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

GUESSES = 60  # of data to begin with
TRIES = 60  # of others
SECONDS = 8  # of processor time, for either

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
    ends = time.process_time() + SECONDS
    for whole in _beginnings(random, mock, free):
        if finite(whole):
            break
        if time.process_time() > ends:
            return None
    else:
        return None
    for name in random.permutation(sorted(free)):
        for fill in INTS if free[name].dtype.kind == "i" else REALS:
            if next(left, None) is None or time.process_time() > ends:
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
    small = {n: _small(random, a.shape).tolist() for n, a in free.items() if a.dtype.kind == "f"}
    apart = {n: np.sort(random.uniform(1, 9, a.shape), axis=None).reshape(a.shape).tolist()
             for n, a in free.items() if a.dtype.kind == "f" and a.ndim}  # fmt: skip
    zeros = {n: np.zeros_like(free[n]).tolist() for n in ones}
    several = (small, {}, small | apart)  # the last has times after an initial one
    for ints in (ones, zeros):
        for reals in several:
            yield mock | ints | reals
    for k in range(GUESSES):
        yield mock | {n: np.full_like(free[n], random.integers(4)).tolist() for n in ones} | several[k % 3]


def _small(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers between 0 and 1; what is square may be a covariance."""
    if len(shape) > 1 and shape[-1] == shape[-2]:
        return np.broadcast_to(0.6 * np.eye(shape[-1]) + 0.2, shape)
    return random.uniform(0.1, 0.9, shape)
