"""What NumPy, JAX and NumPyro load while they are imported, and Stan programs seldom need: left until it is used.

That takes a quarter of a second from commands of the shell, whose process is nobody else's: diagnostics, sparse
matrices, kernels of other devices, NumPy's docstrings, tests. What imports names out of a deferred module loads it at
once, as ever.
"""
from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

NAMES = frozenset({
    "asyncio", "filelock", "jax._src.error_check", "jax.debug", "jax.experimental.sparse.linalg",
    "jax.extend.pallas", "jaxlib.mosaic.python.mosaic_gpu", "jaxlib.mosaic.python.tpu", "numpy._core._add_newdocs",
    "numpy._core._add_newdocs_scalars", "numpy.lib.format", "scipy.fft", "scipy.linalg", "scipy.sparse.linalg",
    "scipy.special", "unittest.mock",
})  # fmt: skip
# It asks every installed distribution for its metadata, in search of one whose name begins with "jax-rocm".
_SEARCHING = "jax._src.numpy.array_constructors"


class Deferring:
    """A finder of `sys.meta_path` for these modules, before all others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:  # fmt: skip
        if fullname not in NAMES and fullname != _SEARCHING:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and found.loader is not None:
            made: Any = _AmongOwn if fullname == _SEARCHING else importlib.util.LazyLoader
            found.loader = made(found.loader)
        return found


class _AmongOwn:
    """A loader of a module that, while it is loaded, finds JAX's distributions alone."""

    def __init__(self, loader: Any):
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self.loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code; meanwhile distributions are JAX's."""
        metadata: Any = importlib.import_module("importlib.metadata")
        every = metadata.distributions

        def of_jax(**wanted: object) -> Iterator[object]:
            return (d for d in every(**wanted) if _may_be_jax(d))

        metadata.distributions = of_jax
        try:
            self.loader.exec_module(module)
        finally:
            metadata.distributions = every


def _may_be_jax(distribution: object) -> bool:
    """Whether the name of a distribution may begin with "jax", as far as the name of its folder tells."""
    folder = getattr(distribution, "_path", None)
    return folder is None or str(folder.name).lower().startswith("jax")


def begin() -> None:
    """From now on load these modules when they are first used."""
    sys.meta_path.insert(0, Deferring())
