"""The backends that a program is translated for, and how it is."""
from __future__ import annotations

from stanlib.dataclass import dataclass


@dataclass(frozen=True)
class Target:
    """A backend: whether it traces control flow over dynamic values (JAX) or runs it (torch)."""

    traces: bool


TARGETS = {"numpyro": Target(traces=True), "pyro": Target(traces=False)}


@dataclass(frozen=True)
class Options:
    """How a program is translated."""

    backend: str = "numpyro"
    scheme: str = "mixed"
    without: frozenset[str] = frozenset()  # passes that are left out, for debugging
    functions: tuple[tuple[str, str], ...] = ()  # where Python finds functions that the program declares without a body
