"""Inference with translated modules, under the names that CmdStanPy's users know; loaded when first used."""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .interrupts import collected

if TYPE_CHECKING:
    from .background import Sampling as Sampling
    from .calibration import sbc as sbc
    from .data import read_data as read_data
    from .failures import InitialValueError as InitialValueError
    from .fit import Fit as Fit
    from .laplace import laplace_sample as laplace_sample
    from .many import sample_many as sample_many
    from .optimization import optimize as optimize
    from .points import LogProb as LogProb
    from .points import log_prob as log_prob
    from .predictive import prior_predictive as prior_predictive
    from .quasi_newton_paths import pathfinder as pathfinder
    from .refits import leave_groups_out as leave_groups_out
    from .regeneration import from_csv as from_csv
    from .regeneration import generate_quantities as generate_quantities
    from .sampling import DivergenceWarning as DivergenceWarning
    from .sampling import sample as sample
    from .variational_inference import variational as variational

_HOMES = {
    "sample": "sampling", "optimize": "optimization", "variational": "variational_inference",
    "pathfinder": "quasi_newton_paths", "laplace_sample": "laplace", "generate_quantities": "regeneration",
    "from_csv": "regeneration", "log_prob": "points", "LogProb": "points", "sample_many": "many", "Fit": "fit",
    "read_data": "data", "InitialValueError": "failures", "prior_predictive": "predictive",
    "DivergenceWarning": "sampling", "Sampling": "background", "sbc": "calibration", "leave_groups_out": "refits",
}  # fmt: skip

__all__ = [
    "DivergenceWarning", "Fit", "InitialValueError", "LogProb", "Sampling", "from_csv", "generate_quantities",
    "laplace_sample", "leave_groups_out", "log_prob", "optimize", "pathfinder", "prior_predictive", "read_data",
    "sample", "sample_many", "sbc", "variational",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with collected():  # many of them are extension modules
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
