"""Which Python modules a Stan program may name as its networks: importing one runs it, and a program is anybody's."""
from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path


def access(module: str, own: str | None, allowed: Sequence[str]) -> str:
    """What a program may do with a module that it names: "all", "networks", or else why nothing.

    Args:
        module: its absolute name.
        own: the name that the program was imported by; None for one that was loaded from a path or a text.
        allowed: packages and modules that the caller allows.
    """
    if any(module == name or module.startswith(f"{name}.") for name in allowed):
        return "all"
    if own is not None and _is_own(module, own):
        return "all"
    if module in sys.modules:  # nothing is run that the caller has not imported
        return "networks"
    if any(part.startswith("_") for part in module.split(".")):
        return f"{module} is private"
    if _is_installed(module.partition(".")[0]):
        return "networks"
    return (
        f"{module} is neither in the package that the program was imported from, nor installed, nor imported already; "
        f"if it is to be trusted, stanimport.configure(network_packages=[{module!r}])"
    )


def _is_own(module: str, own: str) -> bool:
    """Whether a module is of the top-level package of a program, or `networks` for a program in no package."""
    package = own.partition(".")[0] if "." in own else "networks"
    return module == package or "." in own and module.startswith(f"{package}.")


def _is_installed(package: str) -> bool:
    """Whether a top-level package is that of an installed distribution; finding it imports nothing."""
    from stanlib import installed

    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.has_location and installed.has_package(Path(spec.origin or ""))
