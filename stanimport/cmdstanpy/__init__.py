"""CmdStanPy's interface: a script that imports it from here runs without CmdStan.

    from stanimport.cmdstanpy import CmdStanModel, from_csv, write_stan_json

Names, arguments and the shapes of results are those of CmdStanPy 1.3, with what it had before;
docs/cmdstanpy.md lists what differs.
"""
from __future__ import annotations

from .files import write_stan_json
from .model import CmdStanModel
from .stanfit import CmdStanGQ, CmdStanLaplace, CmdStanMCMC, CmdStanMLE, CmdStanPathfinder, CmdStanVB, from_csv
from .utils import (
    cmdstan_path,
    cmdstan_version,
    compile_stan_file,
    disable_logging,
    enable_logging,
    format_stan_file,
    install_cmdstan,
    rebuild_cmdstan,
    set_cmdstan_path,
    set_make_env,
    show_versions,
)

__version__ = "1.3.0"  # of the interface, for those who ask which one it is

__all__ = [
    "CmdStanGQ", "CmdStanLaplace", "CmdStanMCMC", "CmdStanMLE", "CmdStanModel", "CmdStanPathfinder", "CmdStanVB",
    "cmdstan_path", "cmdstan_version", "compile_stan_file", "disable_logging", "enable_logging", "format_stan_file",
    "from_csv", "install_cmdstan",
    "rebuild_cmdstan", "set_cmdstan_path", "set_make_env", "show_versions", "write_stan_json",
]  # fmt: skip
