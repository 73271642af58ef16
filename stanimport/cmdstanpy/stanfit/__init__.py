"""CmdStanPy's results, each around a `Fit`, which is its attribute `fit`."""
from __future__ import annotations

from .approximations import CmdStanLaplace, CmdStanMLE, CmdStanPathfinder, CmdStanVB
from .base import CmdStanFit
from .chains import CmdStanMCMC
from .gq import CmdStanGQ, generated
from .metadata import InferenceMetadata, Variable
from .reading import from_csv
from .runset import Method, RunSet, written

__all__ = [
    "CmdStanFit", "CmdStanGQ", "CmdStanLaplace", "CmdStanMCMC", "CmdStanMLE", "CmdStanPathfinder", "CmdStanVB",
    "InferenceMetadata", "Method", "RunSet", "Variable", "from_csv", "generated", "written",
]  # fmt: skip
