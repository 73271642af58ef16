"""Stan's log density, gradient and variables at points of the unconstrained scale, by stanli (Stan Math, no compiler).

What stanli can't run it says; that is Unsupported and no difference.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import warnings
from typing import Any

import numpy as np
import stanli

from .outcome import SETTLED, Outcome, close, slope

# Words of C++, which stanc prefixes and stanli doesn't know then: it gets other names.
_RESERVED = re.compile(
    r"\b(and|asm|bool|case|catch|char|class|const|default|delete|do|double|enum|explicit|extern|float|friend|goto|inline"
    r"|long|mutable|namespace|new|not|operator|or|private|protected|public|register|short|signed|sizeof|static|struct"
    r"|switch|template|this|throw|try|typedef|typeid|typename|union|unsigned|using|virtual|volatile|xor)\b"
)
_SUFFIX = "_cpp"

# Stan approximates the derivatives of the logarithms of the normal distribution functions, which truncation calls too:
# they have 4 digits at worst, the functions themselves all.
_APPROXIMATED = re.compile(r"\b(std_)?normal_lc?cdf\b|~ (std_)?normal\(.*\bT\[")

# Of which stanli counts each number once on the unconstrained scale, where Stan has two.
_ARRAYS_OF_COMPLEX = re.compile(r"(?<!transformed )parameters \{[^}]*\barray\[[^\]]*\] complex")

# Statements that never run: of a program this long stanc's optimizations (O1), which lose terms, are left out.
_PADDING = "{ int pad_it = 0; " + "if (pad_it > 0) { " * 60 + "pad_it += 1; " * 700 + "}" * 61


class Unsupported(Exception):
    """A program that stanli can't run."""


class Refused(Exception):
    """A program that stanc refuses."""


def approximates_gradients(text: str) -> bool:
    """Whether Stan's gradient of a program has fewer digits than its density: its slopes are to be compared then."""
    return _APPROXIMATED.search(text) is not None


def _padded(text: str) -> str:
    head, block, rest = text.partition("transformed data {")
    if block:
        return f"{head}{block} {_PADDING} {rest}"
    return text.replace("parameters {", f"transformed data {{ {_PADDING} }}\nparameters {{", 1)


class Stan:
    """A program with its data; `optimized` as stanli does by itself, or without stanc's optimizations.

    Attributes:
        size: how many unconstrained parameters there are.
        has_variables: whether stanli computes transformed parameters and generated quantities too.

    Raises:
        Refused: if stanc doesn't accept the program.
        Unsupported: if stanli can't run it.
    """

    def __init__(self, text: str, data: dict[str, Any], optimized: bool = True):
        self._text, self._data, self._optimized = text, data, optimized
        text = text if optimized else _padded(text)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                renamed = {_RESERVED.sub(rf"\1{_SUFFIX}", name): value for name, value in data.items()}
                self._model = stanli.Model(stan_code=_RESERVED.sub(rf"\1{_SUFFIX}", text), data=renamed)
            except RuntimeError as e:
                raise (Refused if "error in 'string'" in str(e) else Unsupported)(str(e)) from None
        if _ARRAYS_OF_COMPLEX.search(text):
            raise Unsupported("complex numbers in arrays of parameters")
        self.size = self._model.n_unconstrained
        names, has_columns = self._model._column_names()
        self.has_variables = has_columns and not any("unavailable" in str(w.message) for w in said)
        self._names = [n.replace(_SUFFIX, "") for n in names]

    def at(self, point: np.ndarray) -> Outcome:
        """The outcome at an unconstrained point, (size,)."""
        try:
            value, gradient = self._model.log_prob_grad(point)
        except RuntimeError as e:
            return Outcome(rejected=str(e))
        return Outcome(value, gradient, self._variables(point))

    def contradicts_itself(self, outcome: Outcome, point: np.ndarray) -> bool:
        """Whether stanli's interpreter gives other variables than its compiler, or its gradient is no derivative."""
        return not outcome.rejected and (self._other_variables(outcome, point) or self._other_slope(outcome, point))

    def _other_variables(self, outcome: Outcome, point: np.ndarray) -> bool:
        if not outcome.values:
            return False
        os.environ["STANLI_WA_FORCE_INTERP"] = "1"
        try:
            values = Stan(self._text, self._data, self._optimized).at(point).values
        finally:
            del os.environ["STANLI_WA_FORCE_INTERP"]
        return values is None or any(not close(values.get(n, math.nan), x, 1e-2) for n, x in outcome.values.items())

    def _other_slope(self, outcome: Outcome, point: np.ndarray) -> bool:
        """The slope along a direction against differences of densities, where these settle."""
        if outcome.gradient is None or not outcome.is_finite:
            return False
        direction = np.cos(3.0 * np.arange(len(point)))
        try:
            found = slope(lambda p: float(self._model.log_prob_grad(p)[0]), point, direction)
        except RuntimeError:
            return False
        size = 1 + float(np.abs(direction * outcome.gradient).sum())
        return abs(found - float(direction @ outcome.gradient)) > 0.5 * SETTLED * size

    def _variables(self, point: np.ndarray) -> dict[str, float] | None:
        if not self.has_variables:
            return None
        row, at = np.empty(len(self._names)), np.ascontiguousarray(point, float)
        pointer = ctypes.POINTER(ctypes.c_double)
        if stanli._lib.stanli_wa_row(self._model._m, at.ctypes.data_as(pointer), row.ctypes.data_as(pointer)):
            return {"": np.nan}
        return dict(zip(self._names, map(float, row)))
