"""The Radau IIA method of three stages and order 5, for stiff and differential-algebraic equations.

It needs no more of a system than a residual F(t, y, y') = 0: the unknowns of a step are the derivatives of y at the
three stages. Source: E. Hairer and G. Wanner, Solving Ordinary Differential Equations II (1996), sections IV.8, VI.1.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.base import Real

_R = 6**0.5

# State at stage i = y + h * sum_j A[i, j] * (derivative at stage j); the last stage is the end of the step.
A = np.array([
    [(88 - 7 * _R) / 360, (296 - 169 * _R) / 1800, (-2 + 3 * _R) / 225],
    [(296 + 169 * _R) / 1800, (88 + 7 * _R) / 360, (-2 - 3 * _R) / 225],
    [(16 - _R) / 36, (16 + _R) / 36, 1 / 9],
])  # fmt: skip
C = np.array([(4 - _R) / 10, (4 + _R) / 10, 1.0])
GAMMA = 1 / (3 + 3 ** (2 / 3) - 3 ** (1 / 3))  # the real eigenvalue of A
# The estimate of the error is GAMMA h (G + GAMMA h J)^-1 G (y' + ERROR . derivatives), with J and G the derivatives of
# F in y and y' and y' taken where the step begins; of order 3 (IV.8.19).
ERROR = np.array([-13 - 7 * _R, -13 + 7 * _R, -1]) / 3 @ A
POWER = 4
NEWTON_STEPS = 10

_VANDERMONDE = np.linalg.inv(C[:, None] ** np.arange(3))


def extrapolation(powers: Real) -> Any:
    """The weights that continue the derivatives of the step before, given the powers 0 to 2 of the new stages' times.

    Times count from the beginning of the step before, in units of its length.
    """
    return powers @ _VANDERMONDE


def tolerances(relative: float, absolute: float) -> tuple[float, float]:
    """What to allow the estimate, whose order is lower than the method's, for errors of the size that is asked for."""
    inner = relative ** (2 / 3)
    return inner, absolute * inner / relative
