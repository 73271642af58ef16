"""`stanimport summary`: the table of a saved fit."""
from __future__ import annotations

import argparse

from . import fitting

EXAMPLES = ("summary fit.nc", "summary coin-20250102030405_*.csv --percentiles 2.5,97.5", "summary fit.nc --rows 0",
            "summary fit.nc --variables mu,theta[1]")  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    fitting.add_fit(parser)
    parser.add_argument("--percentiles", default="5,50,95", metavar="LIST", help="default: 5,50,95")
    parser.add_argument("--variables", metavar="LIST", help="names of variables or rows, with commas; default: all")
    parser.add_argument("--rows", type=int, default=fitting.ROWS, metavar="N", help="of the table; 0 for all")


def run(options: argparse.Namespace) -> int:
    """Print the table of a saved fit, with the percentiles that were asked for."""
    from . import parsing

    try:
        percentiles = [float(p) for p in options.percentiles.split(",")]
    except ValueError:
        parsing.exit_with(f"--percentiles must be numbers with commas, not {options.percentiles!r}")
    if not all(0 <= p <= 100 for p in percentiles):
        parsing.exit_with(f"--percentiles must be between 0 and 100, not {options.percentiles!r}")
    with fitting.session():
        from ..inference.fits.summary import table

        fit = fitting.saved_fit(options.fit)
        try:
            made = table(fit, percentiles, parsing.names(options.variables))
        except ValueError as e:  # no such variable
            parsing.exit_with(str(e), 1)
        print(f"{fit.program.name}: {fit.method}, {fit.chains} x {fit.draws_per_chain} draws")
        print(made.text(options.rows or None))
    return 0
