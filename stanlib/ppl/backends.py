"""The backends' modules against their contract, for whoever checks types."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import numpyro, pyro
    from .interface import Runs, Traces

    TRACES: Traces = numpyro
    RUNS: Runs = pyro
