"""Inference with translated modules, under the names that CmdStanPy's users know; loaded when first used."""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .running.interrupts import collected

if TYPE_CHECKING:
    from .density.points import LogProb as LogProb
    from .density.points import log_prob as log_prob
    from .failures import Failure as Failure
    from .failures import InitialValueError as InitialValueError
    from .fits.diagnosis import Diagnosis as Diagnosis
    from .fits.fit import Fit as Fit
    from .fits.observations import LikelihoodWarning as LikelihoodWarning
    from .fits.predictive import Predictions as Predictions
    from .fits.predictive import prior_predictive as prior_predictive
    from .fits.replications import ReplicationWarning as ReplicationWarning
    from .io.data import read_data as read_data
    from .methods.advi import advi as advi
    from .methods.background import Sampling as Sampling
    from .methods.importance import ParetoWarning as ParetoWarning
    from .methods.laplace_sampling import laplace_sample as laplace_sample
    from .methods.optimization import ConvergenceWarning as ConvergenceWarning
    from .methods.optimization import optimize as optimize
    from .methods.pathfinder import pathfinder as pathfinder
    from .methods.regeneration import from_csv as from_csv
    from .methods.regeneration import generate_quantities as generate_quantities
    from .methods.sampling import DivergenceWarning as DivergenceWarning
    from .methods.sampling import sample as sample
    from .methods.variational_inference import variational as variational
    from .studies.calibration import sbc as sbc
    from .studies.many import sample_many as sample_many
    from .studies.refits import leave_groups_out as leave_groups_out

_HOMES = {
    "density.points": ("LogProb", "log_prob"), "failures": ("Failure", "InitialValueError"),
    "fits.diagnosis": ("Diagnosis",), "fits.fit": ("Fit",), "fits.observations": ("LikelihoodWarning",),
    "fits.predictive": ("Predictions", "prior_predictive"), "fits.replications": ("ReplicationWarning",),
    "io.data": ("read_data",), "methods.advi": ("advi",), "methods.importance": ("ParetoWarning",),
    "methods.laplace_sampling": ("laplace_sample",), "methods.optimization": ("ConvergenceWarning", "optimize"),
    "methods.pathfinder": ("pathfinder",), "methods.regeneration": ("from_csv", "generate_quantities"),
    "methods.sampling": ("DivergenceWarning", "sample"), "methods.variational_inference": ("variational",),
    "methods.background": ("Sampling",), "studies.calibration": ("sbc",), "studies.many": ("sample_many",),
    "studies.refits": ("leave_groups_out",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ConvergenceWarning", "Diagnosis", "DivergenceWarning", "Failure", "Fit", "InitialValueError",
    "LikelihoodWarning", "LogProb", "ParetoWarning", "Predictions", "ReplicationWarning", "Sampling", "advi",
    "from_csv", "generate_quantities", "laplace_sample", "leave_groups_out", "log_prob", "optimize", "pathfinder",
    "prior_predictive", "read_data", "sample", "sample_many", "sbc", "variational",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with collected():  # many of them are extension modules
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
