"""ArviZ as it is installed: one package (before version 1), or arviz-base, arviz-stats and arviz-plots."""
from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any

from stanlib.errors import MissingLibraryError


def is_whole() -> bool:
    """Whether ArviZ is installed as one package, with an InferenceData of its own: in version 1 that is another name.

    Raises:
        MissingLibraryError: if it is not installed at all.
    """
    if importlib.util.find_spec("arviz") is not None and "InferenceData" in vars(load("arviz")):
        return True  # who asks version 1 for that attribute gets xarray's tree, and a warning
    if importlib.util.find_spec("arviz_base") is not None:
        return False
    raise MissingLibraryError("this needs ArviZ: pip install 'stanimport[inference]'")


def load(name: str) -> Any:
    """One of ArviZ's packages."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return importlib.import_module(name)


def container(groups: Mapping[str, object]) -> Any:
    """Data sets by group as InferenceData, or as xarray's DataTree for the split packages."""
    if is_whole():
        return load("arviz").InferenceData(**groups)
    import xarray

    return xarray.DataTree.from_dict({f"/{n}": g for n, g in groups.items()})
