"""Names that Stan has dropped for whole families of functions: densities that end in _log, distribution functions in
_cdf_log and _ccdf_log (removed in Stan 2.33). Source: Stan Reference Manual, "Removed features".
"""
from __future__ import annotations

from stanlib import registry

from .. import ast
from .context import Context

_SUFFIXES = {"_ccdf_log": ("_lccdf",), "_cdf_log": ("_lcdf",), "_log": ("_lpmf", "_lpdf")}
USER_DENSITY = "_log"  # what the user's densities ended in


def modern(c: Context, name: str) -> str:
    """Today's name of a function of the library; the same name if it is today's, or unknown."""
    if c.strict or registry.is_known(name) or c.functions.find(name):
        return name
    for old, suffixes in _SUFFIXES.items():
        if name.endswith(old):
            stems = (name.removesuffix(old) + new for new in suffixes)
            return next((s for s in stems if registry.is_known(s)), name)
    return name


def warn(c: Context, name: ast.Name, successor: str) -> None:
    c.diagnostics.deprecate(f"{name.text} has been removed from Stan (2.33)", name.span, f"write {successor}")
