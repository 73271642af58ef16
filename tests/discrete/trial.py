"""One random program on both backends beside the sum over all assignments."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.discrete.small import Program, program, size_of, summed
from tests.random_programs.referee import ours
from tests.random_programs.referee.outcome import Outcome

TOLERANCE = 1e-8


def trial(seed: int, compiled_every: int = 10) -> str:
    """What is wrong with the program of a seed, "" if nothing is; on JAX it is compiled for one seed in some."""
    return compared(program(seed), seed, ("pyro", "numpyro") if seed % compiled_every == 0 else ("pyro",))


def compared(small: Program, seed: int, backends: Sequence[str] = ("pyro",)) -> str:
    """What is wrong with a program at points of a seed, "" if nothing is."""
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=size_of(small)) * 0.5 for _ in range(2)]
    want = summed(small, points)
    if not np.isfinite([v for v, _ in want]).all():
        return ""  # no reference
    for backend in backends:
        parts = ("gradient",) if backend == "numpyro" else ours.PARTS
        found = ours.outcomes(small.text(), small.data, points, backend, parts=parts, jit=False)
        reason = _difference(found, want)
        if reason:
            return f"{backend}: {reason}\n{small.text()}{small.data}"
    return ""


def _difference(found: list[Outcome], want: list[tuple[float, np.ndarray]]) -> str:
    if any(f.rejected for f in found):
        return found[0].rejected
    values, expected = np.array([f.log_density for f in found]), np.array([v for v, _ in want])
    if not np.allclose(values - values[0], expected - expected[0], atol=TOLERANCE, rtol=TOLERANCE):
        return f"log densities {values - values[0]}, not {expected - expected[0]}"
    slopes, right = np.array([f.gradient for f in found]), np.array([g for _, g in want])
    return "" if np.allclose(slopes, right, atol=TOLERANCE, rtol=TOLERANCE) else f"gradients {slopes}, not {right}"
