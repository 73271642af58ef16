"""stanimport: Stan models as Python modules.

`import stanimport` puts a finder on `sys.meta_path`; then `from models import eight_schools` translates
`models/eight_schools.stan` and gives its `model`, `transformed_data` and `generated_quantities`, for NumPyro or Pyro.
"""
from __future__ import annotations

from .api import check, configure, load, loads, translate
from .errors import (
    StanDataError,
    StanDeprecationWarning,
    StanError,
    StanSemanticError,
    StanSyntaxError,
    StanWarning,
)  # fmt: skip
from .importer import install, uninstall

__version__ = "0.1.0"

__all__ = [
    "StanDataError", "StanDeprecationWarning", "StanError", "StanSemanticError", "StanSyntaxError", "StanWarning",
    "check", "configure", "install", "load", "loads", "translate", "uninstall",
]  # fmt: skip

_INFERENCE = (
    "Fit", "generate_quantities", "laplace_sample", "log_prob", "optimize", "pathfinder", "sample", "sample_many",
    "variational",
)  # fmt: skip


def __getattr__(name: str) -> object:
    """The inference functions, which load an array library, when they are first used."""
    if name in _INFERENCE:
        from . import inference

        return getattr(inference, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_INFERENCE])


def load_ipython_extension(shell: object) -> None:
    """`%load_ext stanimport`: cells that begin with `%%stan NAME` hold Stan programs."""
    from .notebook import register

    register(shell)


install()
