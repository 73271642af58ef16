"""Stan's log density, gradient and variables at points of the unconstrained scale, by stanli (Stan Math, no compiler).

What stanli can't run it says; that is Unsupported and no difference.
"""

from __future__ import annotations

import ctypes
import warnings
from typing import Any

import numpy as np
import stanli

from .outcome import Outcome


class Unsupported(Exception):
    """A program that stanli can't run."""


class Refused(Exception):
    """A program that stanc refuses."""


class Stan:
    """A program with its data.

    Raises:
        Refused: if stanc doesn't accept the program.
        Unsupported: if stanli can't run it, the variables of its blocks included.
    """

    def __init__(self, text: str, data: dict[str, Any]):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                self._model = stanli.Model(stan_code=text, data=data)
            except RuntimeError as e:
                raise (Refused if "error in 'string'" in str(e) else Unsupported)(str(e)) from None
        self.warnings = " ".join(str(w.message) for w in said)
        if "unavailable" in self.warnings:
            raise Unsupported(self.warnings)
        self.size = self._model.n_unconstrained
        names, self._has_variables = self._model._column_names()
        self.names = [n.removeprefix("_stan_") for n in names]  # how stanc calls what C++ reserves

    def at(self, point: np.ndarray) -> Outcome:
        """The outcome at an unconstrained point, (size,)."""
        try:
            value, gradient = self._model.log_prob_grad(point)
        except RuntimeError as e:
            return Outcome(rejected=str(e))
        return Outcome(value, gradient, self._variables(point))

    def _variables(self, point: np.ndarray) -> dict[str, float]:
        if not self._has_variables:
            return {}
        row, at = np.empty(len(self.names)), np.ascontiguousarray(point, float)
        pointer = ctypes.POINTER(ctypes.c_double)
        if stanli._lib.stanli_wa_row(self._model._m, at.ctypes.data_as(pointer), row.ctypes.data_as(pointer)):
            return {"": np.nan}
        return dict(zip(self.names, map(float, row)))
