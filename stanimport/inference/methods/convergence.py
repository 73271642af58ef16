"""Whether the evidence lower bound has stopped changing."""
from __future__ import annotations

import numpy as np

PIECE = 100  # steps whose mean bound is reported


def has_converged(losses: np.ndarray, tolerance: float) -> bool:
    """Whether the loss changed by less than the tolerance, relatively, over the last fifth of the steps.

    What three standard errors of the two means explain counts as no change.
    """
    tenth = len(losses) // 10
    if tenth < 2:
        return False
    last, before = losses[-tenth:], losses[-2 * tenth : -tenth]
    if not np.isfinite(losses[-2 * tenth :]).all():
        return False
    noise = 3 * np.sqrt((last.var() + before.var()) / tenth)
    change = abs(last.mean() - before.mean())
    return bool(change <= tolerance * max(abs(last.mean()), 1.0) + noise)


def standard_error(values: np.ndarray) -> float:
    """That of the mean of some values, (n,); NaN for fewer than two, and where one is infinite or NaN."""
    if len(values) < 2 or not np.isfinite(values).all():
        return float("nan")
    return float(values.std(ddof=1) / np.sqrt(len(values)))
