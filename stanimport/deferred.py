"""Modules that NumPyro and JAX import and Stan programs seldom need, loaded when they are first used.

That takes a tenth of a second from commands of the shell, whose process is nobody else's. They are parts of SciPy for
diagnostics and sparse matrices; what imports names out of them loads them at once, as ever.
"""
from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

NAMES = frozenset({"scipy.fft", "scipy.linalg", "scipy.sparse.linalg", "scipy.special"})


class Deferring:
    """A finder of `sys.meta_path` for these modules, before all others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:  # fmt: skip
        found = PathFinder.find_spec(fullname, path, target) if fullname in NAMES else None
        if found is not None and found.loader is not None:
            found.loader = importlib.util.LazyLoader(found.loader)
        return found


def begin() -> None:
    """From now on load these modules when they are first used."""
    sys.meta_path.insert(0, Deferring())
