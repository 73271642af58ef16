"""One random program on both backends beside the sum over all assignments."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.discrete.small import Program, program, size_of, summed
from tests.random_programs.referee import ours
from tests.random_programs.referee.outcome import Outcome

TOLERANCE = 1e-8


class Skipped(Exception):
    """There is nothing to compare: what is refused, or has no finite density."""


def trial(seed: int, often: int = 4) -> str:
    """What is wrong with the program of a seed, "" if nothing is; on JAX one program in some runs too.

    Raises:
        Skipped: see there.
    """
    return compared(program(seed), seed, ("pyro", "numpyro") if seed % often == 0 else ("pyro",))


def compared(small: Program, seed: int, backends: Sequence[str] = ("pyro",)) -> str:
    """What is wrong with a program at points of a seed, "" if nothing is.

    Raises:
        Skipped: see there.
    """
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=size_of(small)) * 0.5 for _ in range(2)]
    want = summed(small, points)
    if not all(np.isfinite(g).all() for v, g in want if np.isfinite(v)):
        raise Skipped("no gradient")
    for backend in backends:
        parts = ("gradient",) if backend == "numpyro" else ours.PARTS
        found = ours.outcomes(small.text(), small.data, points, backend, parts=parts, jit=False)
        reason = _difference(found, want)
        if reason:
            return f"{backend}: {reason}\n{small.text()}{small.data}"
    return ""


def _difference(found: list[Outcome], want: list[tuple[float, np.ndarray]]) -> str:
    impossible = [not np.isfinite(v) for v, _ in want]
    if any(f.rejected for f, none in zip(found, impossible) if not none):
        return found[0].rejected
    if any(impossible):
        numbers = [f.log_density for f, none in zip(found, impossible) if none and not f.rejected]
        if any(n != -np.inf for n in numbers):
            return f"log densities {numbers} of what is impossible"
        raise Skipped("impossible, or rejected")
    values, expected = np.array([f.log_density for f in found]), np.array([v for v, _ in want])
    if not np.allclose(values - values[0], expected - expected[0], atol=TOLERANCE, rtol=TOLERANCE):
        return f"log densities {values - values[0]}, not {expected - expected[0]}"
    slopes, right = np.array([f.gradient for f in found]), np.array([g for _, g in want])
    return "" if np.allclose(slopes, right, atol=TOLERANCE, rtol=TOLERANCE) else f"gradients {slopes}, not {right}"
