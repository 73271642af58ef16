"""Which ways of summing a program takes, and thresholds so low that small programs take them too."""
from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

from stanimport.discrete import bounded, tables
from stanlib.arrays.jax import chains as sums
from stanlib.discrete import (
    absorbing,
    chained,
    chains,
    compounds,
    elimination,
    merged,
    order,
    shared,
    sweeps,
    tails,
    whole,
    wholes,
)

ALL = ("tails", "bounded", "repeated", "stretches", "Chains", "absorbing", "probable", "merged", "Class", "Compounds",
       "Cases", "shared", "Sweep", "known left in", "free")  # fmt: skip
# what each may be instead; the rest is as it is
_OTHERS: dict[Any, dict[str, tuple[Any, ...]]] = {
    tails: {"SHORT": (1, 2, 3), "HEAD": (0, 1, 4, 30), "FEW": (0.9, 10), "LARGE": (1e280, 1e280, 1e280, 1.5)},
    chains: {"SHORT": (2, 3, 3, 10**9), "TOGETHER": (1, 3, 16)}, absorbing: {"SHORT": (0, 3, 16)},
    compounds: {"SHORT": (2, 4, 10**9), "WORTH": (4, 1000)}, sweeps: {"LONG": (3, 6, 12), "TIMES": (2, 4)},
    merged: {"FEW": (0.0, 0.5, 1.0), "FEW_COMPONENTS": (0.0, 0.8, 1.0), "FEW_ROWS": (0, 4), "FEW_TERMS": (0, 1024),
             "GATHERED": (0, 9)},
    wholes: {"LEAST": (2, 3, 10**9), "NEARLY": (0, 2, 1000), "SEVERAL": (0, 8)}, sums: {"LITTLE": (0, 0, 500)},
    shared: {"FEW": (0.9, 1.0, 1.0, 0.0)},
    whole: {"ALONE": (0.0, 0.7, 2.0), "STEP": (0, 100), "FEW": (0.0, 0.25), "MANY": (0, 10)},
}  # fmt: skip


@contextlib.contextmanager
def thresholds(seed: int | None) -> Iterator[None]:
    """Other thresholds, by chance; those of the package where there is no seed."""
    r = random.Random(seed)
    order.Kept.plans.clear()
    with contextlib.ExitStack() as stack:
        for module, values in _OTHERS.items() if seed is not None else ():
            stack.enter_context(mock.patch.multiple(module, **{n: r.choice(v) for n, v in values.items()}))
        yield
    order.Kept.plans.clear()


@contextlib.contextmanager
def counted(used: Counter[str]) -> Iterator[None]:
    """Counts how often each is used: tables are made at translation, all else is found when data are known."""
    watch: list[tuple[Any, str, Callable[[Any, Any], str]]] = [
        (tails, "tails", lambda out, a: "tails" if out is not None else ""),
        (bounded, "_by_condition", lambda out, a: "bounded" if out is not a[0] else ""),
        (tables, "repeated", lambda out, a: "repeated" if len(out) > len(a[2]) else ""),
        (tables, "segments", lambda out, a: "stretches" if out is not None else ""),
        (absorbing, "log_sums", lambda out, a: "absorbing"),
        (merged, "representatives", lambda out, a: "merged" if (out != np.arange(len(out))).any() else ""),
        (elimination, "without_terms", lambda out, a: "free" if out else ""),
        (elimination, "shared", lambda out, a: "shared" if out is not None else ""),
        (elimination.Elimination, "_take", lambda out, a: type(a[1]).__name__),
        (chained, "sums_alone", lambda out, a: "probable" if a[3].probabilities is not None else ""),
        (whole.Saved, "worth", lambda out, a: "known left in" if out else ""),
    ]  # fmt: skip
    with contextlib.ExitStack() as stack:
        for holder, name, told in watch:
            stack.enter_context(mock.patch.object(holder, name, _watched(getattr(holder, name), told, used)))
        yield


def _watched(function: Callable[..., Any], told: Callable[[Any, Any], str], used: Counter[str]) -> Any:
    def run(*args: Any, **named: Any) -> Any:
        out = function(*args, **named)
        if name := told(out, args):
            used[name] += 1
        return out

    return run
