"""Log densities and gradients of a translated program, beside the same program run statement by statement."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.random_programs.referee import ours
from tests.random_programs.referee.walk import Walker


def compare(
    text: str, data: dict[str, Any], at: np.ndarray, name: str, backend: str = "numpyro", scheme: str = "mixed",
    scanned: bool = False,
) -> None:  # fmt: skip
    """The value at a point, and the slope in a direction that the name chooses, must be those of the statements."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    right = Walker(text, data).outcome(at, name)
    got = ours.outcomes(text, data, [at], backend, scheme, jit=False, parts=("gradient",), scanned=scanned)[0]
    assert not right.rejected and not got.rejected, got.rejected
    np.testing.assert_allclose(got.log_density, right.log_density, rtol=1e-12)
    np.testing.assert_allclose(got.gradient @ right.direction, right.slope, rtol=1e-6, atol=1e-8)
