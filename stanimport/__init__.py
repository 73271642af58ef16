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


def load_ipython_extension(shell: object) -> None:
    """`%load_ext stanimport`: cells that begin with `%%stan NAME` hold Stan programs."""
    from .notebook import register

    register(shell)


install()
