"""stanimport: Stan models as Python modules.

`import stanimport` puts a finder on `sys.meta_path`; then `from models import eight_schools` translates
`models/eight_schools.stan` and gives its `model`, `transformed_data` and `generated_quantities`, for NumPyro or Pyro.
"""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .api import check, configure, format, load, loads, translate
from .errors import (
    StanDataError,
    StanDeprecationWarning,
    StanError,
    StanSemanticError,
    StanSyntaxError,
    StanWarning,
)  # fmt: skip
from .importer import install, uninstall

if TYPE_CHECKING:
    from . import cmdstanpy as cmdstanpy
    from . import inference as inference

    # --- by `python -m stanimport.inference.offered`: from here
    from .inference import Fit as Fit
    from .inference import advi as advi
    from .inference import from_csv as from_csv
    from .inference import generate_quantities as generate_quantities
    from .inference import laplace_sample as laplace_sample
    from .inference import leave_groups_out as leave_groups_out
    from .inference import log_prob as log_prob
    from .inference import optimize as optimize
    from .inference import pathfinder as pathfinder
    from .inference import prior_predictive as prior_predictive
    from .inference import sample as sample
    from .inference import sample_many as sample_many
    from .inference import sbc as sbc
    from .inference import variational as variational
    # --- by `python -m stanimport.inference.offered`: to here

__version__ = "0.1.0"

__all__ = [
    "StanDataError", "StanDeprecationWarning", "StanError", "StanSemanticError", "StanSyntaxError", "StanWarning",
    "check", "configure", "format", "install", "load", "loads", "translate", "uninstall",
]  # fmt: skip

# --- by `python -m stanimport.inference.offered`: from here
_INFERENCE = (
    "Fit", "advi", "from_csv", "generate_quantities", "laplace_sample", "leave_groups_out", "log_prob", "optimize",
    "pathfinder", "prior_predictive", "sample", "sample_many", "sbc", "variational",
)  # fmt: skip
# --- by `python -m stanimport.inference.offered`: to here

_PACKAGES = ("cmdstanpy", "inference")

# Names of CmdStanPy, PyStan and rstan, and what has their place here.
_ELSEWHERE = {n: f"stanimport.cmdstanpy has it: from stanimport.cmdstanpy import {n}" for n in (
    "CmdStanModel", "CmdStanMCMC", "CmdStanMLE", "CmdStanVB", "CmdStanGQ", "write_stan_json", "install_cmdstan",
    "cmdstan_path", "set_cmdstan_path")}  # fmt: skip
_ELSEWHERE |= {n: "load(path) and loads(text) give a program's module" for n in ("build", "StanModel", "stan_model")}
_ELSEWHERE |= {"stan": "sample(program, data) fits, load(path) gives a program's module"}


if not TYPE_CHECKING:  # which knows the names from above, and would take any other for one

    def __getattr__(name: str) -> object:
        """The inference functions, which load an array library, and packages, when they are first used."""
        if name in _PACKAGES:
            from importlib import import_module

            return import_module(f"{__name__}.{name}")
        if name in _INFERENCE:
            from . import inference

            return getattr(inference, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_hint(name)}", name=name)


def _hint(name: str) -> str:
    """What was meant by the name of an attribute that is not there."""
    from .errors import nearest

    if name in _ELSEWHERE:
        return f": {_ELSEWHERE[name]}"
    similar = None if name.startswith("_") else nearest(name, [*__all__, *_INFERENCE, *_PACKAGES])
    return f"; did you mean {similar!r}?" if similar else ""


def __dir__() -> list[str]:
    return sorted({*globals(), *_INFERENCE, *_PACKAGES})


def load_ipython_extension(shell: object) -> None:
    """`%load_ext stanimport`: cells that begin with `%%stan NAME` hold Stan programs."""
    from .notebook import register

    register(shell)


def _watch_for_edits() -> None:
    """In IPython let `%autoreload` see edited programs."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        from .notebook import watch

        watch(shell)


install()
_watch_for_edits()
