"""One random program about histories beside its sum in plain NumPy, with thresholds of the package or lower ones."""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tests.discrete.histories import History, history
from tests.discrete.mechanisms import counted, thresholds
from tests.discrete.trial import Skipped
from tests.random_programs.referee import ours

TOLERANCE = 1e-9


def trial(seed: int, used: Counter[str], backends: Sequence[str] = ()) -> str:
    """What is wrong with the program of a seed, "" if nothing is.

    Args:
        used: counts which ways to sum were taken.
        backends: where it runs; by default two in three on JAX, one on Torch, and some on both.

    Raises:
        Skipped: where the sum is over nothing that is possible, and we agree.
    """
    if not backends:
        backends = (("numpyro", "pyro"), ("numpyro",), ("pyro",))[0 if seed % 10 == 0 else 1 + (seed % 3 == 0)]
    with thresholds(None if seed % 5 == 0 else seed), counted(used):
        return compared(history(seed), seed, backends)


def compared(h: History, seed: int, backends: Sequence[str]) -> str:
    """What is wrong with a program at points of a seed, "" if nothing is."""
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=h.size) * scale for scale in (0.5, 3.0 if seed % 3 == 0 else 1.0)]
    for q in points:
        q[-1] = max(q[-1], -1.0)  # the scale of normal laws, of which densities shall be numbers
    want = [h.expected(q) for q in points]
    for backend in backends:
        found = ours.outcomes(h.text, h.data, points, backend, parts=("gradient",), jit=False)
        for o, (value, slopes) in zip(found, want):
            if o.rejected:
                return f"{backend}: {o.rejected}\n{h.text}{h.data}"
            wrong = _difference(o.log_density, o.gradient, value, slopes)
            if wrong:
                return f"{backend}: {wrong}\n{h.text}{h.data}"
    if not np.isfinite([v for v, _ in want]).all():
        raise Skipped("impossible")
    return ""


def _difference(found: float, gradient: np.ndarray, value: float, slopes: np.ndarray) -> str:
    if not np.isclose(found, value, rtol=TOLERANCE, atol=TOLERANCE):
        return f"log density {found}, not {value}"
    if np.isfinite(value) and not np.allclose(gradient, slopes, rtol=TOLERANCE, atol=TOLERANCE * 10):
        return f"gradient {gradient}, not {slopes}"
    return ""
