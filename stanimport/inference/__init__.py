"""Inference with translated modules, under the names that CmdStanPy's users know; loaded when first used."""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .running.first_use import in_threads
from .running.interrupts import collected

if TYPE_CHECKING:
    # --- by `python -m stanimport.inference.offered`: from here
    from .density.points import LogProb as LogProb
    from .density.points import log_prob as log_prob
    from .density.rejected import RejectionWarning as RejectionWarning
    from .failures import ConvergenceError as ConvergenceError
    from .failures import Failure as Failure
    from .failures import InitialValueError as InitialValueError
    from .fits.diagnosis import Diagnosis as Diagnosis
    from .fits.fit import Fit as Fit
    from .fits.observations import LikelihoodWarning as LikelihoodWarning
    from .fits.predictions import Predictions as Predictions
    from .fits.replications import ReplicationWarning as ReplicationWarning
    from .fits.simulated import prior_predictive as prior_predictive
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
    # --- by `python -m stanimport.inference.offered`: to here

# --- by `python -m stanimport.inference.offered`: from here
_HOME = {
    "LogProb": "density.points", "log_prob": "density.points", "RejectionWarning": "density.rejected",
    "ConvergenceError": "failures", "Failure": "failures", "InitialValueError": "failures",
    "Diagnosis": "fits.diagnosis", "Fit": "fits.fit", "LikelihoodWarning": "fits.observations",
    "Predictions": "fits.predictions", "ReplicationWarning": "fits.replications",
    "prior_predictive": "fits.simulated", "read_data": "io.data", "advi": "methods.advi",
    "Sampling": "methods.background", "ParetoWarning": "methods.importance",
    "laplace_sample": "methods.laplace_sampling", "ConvergenceWarning": "methods.optimization",
    "optimize": "methods.optimization", "pathfinder": "methods.pathfinder", "from_csv": "methods.regeneration",
    "generate_quantities": "methods.regeneration", "DivergenceWarning": "methods.sampling",
    "sample": "methods.sampling", "variational": "methods.variational_inference", "sbc": "studies.calibration",
    "sample_many": "studies.many", "leave_groups_out": "studies.refits",
}  # fmt: skip

__all__ = [
    "ConvergenceError", "ConvergenceWarning", "Diagnosis", "DivergenceWarning", "Failure", "Fit", "InitialValueError",
    "LikelihoodWarning", "LogProb", "ParetoWarning", "Predictions", "RejectionWarning", "ReplicationWarning",
    "Sampling", "advi", "from_csv", "generate_quantities", "laplace_sample", "leave_groups_out", "log_prob",
    "optimize", "pathfinder", "prior_predictive", "read_data", "sample", "sample_many", "sbc", "variational",
]  # fmt: skip
# --- by `python -m stanimport.inference.offered`: to here


_BY_JAX = {
    "fits.observations", "fits.predictions", "fits.replications", "fits.simulated", "studies.calibration",
    "studies.refits",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _HOME[name] in _BY_JAX:
        in_threads()
    with collected():  # many of them are extension modules
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
