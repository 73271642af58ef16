"""Transformed parameters and generated quantities of programs from the wild, for `python -m tests.wild`: beside Stan's.

Entries that change with the seed are random and aren't compared, nor are whole numbers of programs that draw any: such
may come out the same by chance.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .random_programs.referee import ours
from .random_programs.referee.stan import Refused, Stan, Unsupported

SEEDS = range(3)
RELATIVE, ABSOLUTE = 1e-6, 1e-8  # of solvers, too


def difference(text: str, data: dict[str, Any], point: np.ndarray) -> str:
    """How the variables at an unconstrained point differ from stanli's; nothing if they don't, or if it has none."""
    try:
        stans = Stan(text, data).at(point)
    except (Unsupported, Refused):
        return ""
    if stans.rejected or stans.throws_in_quantities or not stans.values:
        return ""
    found = (_of_backend(b, text, data, point, stans.values) for b in ("numpyro", "pyro"))
    return next((f for f in found if f), "")


def _of_backend(backend: str, text: str, data: dict[str, Any], point: np.ndarray, stans: dict[str, float]) -> str:
    is_random = "_rng(" in text
    runs = [ours.outcomes(text, data, [point], backend, parts=("variables",), seed=s)[0]
            for s in (SEEDS if is_random else SEEDS[:1])]  # fmt: skip
    if all(r.rejected for r in runs):  # random numbers may be such that some are
        return f"{backend}: {runs[0].rejected}"
    runs = [r for r in runs if not r.rejected]
    names = [n for n, x in stans.items() if _differ([r.values[n] for r in runs if r.values], x, is_random)]
    shown = ", ".join(f"{n} {runs[0].values[n]!r} for {stans[n]!r}" for n in names[:3] if runs[0].values)
    return f"{backend}: {len(names)} of {len(stans)} variables, {shown}" if names else ""


def _differ(ours: list[float], stans: float, is_random: bool) -> bool:
    if len(set(map(repr, ours))) > 1 or is_random and ours[0] == np.floor(ours[0]) and stans == np.floor(stans):
        return False
    same = np.isclose(ours[0], stans, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
    return not bool(same)
