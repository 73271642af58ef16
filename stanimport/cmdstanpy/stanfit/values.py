"""Values and names of columns as CmdStanPy has them: tuples by draws, an array of tuples, and `t.1[2]` for `t:1[2]`."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from stanlib.program import Variable

from ...inference import tuples
from ...inference.fits.fit import Fit, Mode
from ...inference.fits.result import declared


def column_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names of columns, with a dot in front of the items of tuples."""
    return tuple(n.replace(":", ".") for n in names)


def value(fit: Fit, name: str) -> Any:
    """The draws of a variable, or its value at a mode. Raises ValueError for a name that there isn't."""
    found, variable = fit.stan_variable(name), _declared(fit, name)
    return found if variable is None else _gathered(variable, found, 0 if isinstance(fit, Mode) else 1)


def value_at(fit: Fit, name: str, point: Mapping[str, np.ndarray]) -> Any:
    """The value of a variable at a point, which holds arrays by the names of the leaves of variables."""
    variable = _declared(fit, name)
    return np.asarray(point[name]) if variable is None else _gathered(variable, tuples.pack(variable, point), 0)


def parameters_at(fit: Fit, point: Mapping[str, np.ndarray]) -> dict[str, object]:
    """The values of the parameters at a point, tuples as tuples."""
    known = set(point)
    return {v.name: value_at(fit, v.name, point) for v in fit.program.parameters if set(tuples.leaves(v)) <= known}


def with_warmup(fit: Fit) -> Fit:
    """The fit with its warm-up, or the steps to its mode, among its draws."""
    whole, values = object.__new__(Fit), fit.with_warmup()  # also of a mode, which has no axis of draws
    vars(whole).update(vars(fit))
    whole.variables, whole.stats = {n: values[n] for n in fit.variables}, {n: values[n] for n in fit.stats}
    whole.warmup = None
    return whole


def _declared(fit: Fit, name: str) -> Variable | None:
    return next((v for v in declared(fit.program) if v.name == name), None)


def _gathered(variable: Variable, found: Any, axes: int) -> Any:
    """A tuple of arrays as an array of tuples, one for each draw and index of an array; one tuple where both lack.

    Args:
        found: an array, or the tuple of those of its items.
        axes: how many axes of draws, and of arrays of tuples around this one, the arrays have in front.
    """
    if not variable.items:
        return found
    axes += tuples.array_axes(variable)
    parts = [_gathered(item, part, axes) for item, part in zip(variable.items, found)]
    if not axes:
        return tuple(parts)
    made = np.empty(np.shape(parts[0])[:axes], object)
    for index in np.ndindex(made.shape):
        made[index] = tuple(part[index] for part in parts)
    return made
