"""`stanimport plot`: a picture of a saved fit."""
from __future__ import annotations

import argparse
from pathlib import Path

from . import fitting, parsing

EXAMPLES = (
    "plot fit.nc --output traces.png", "plot fit.nc --kind posterior --variables mu,tau --output posterior.pdf",
    "plot fit.nc --kind ppc --output replications.png",
)  # fmt: skip
KINDS = ("trace", "posterior", "ppc")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    fitting.add_fit(parser)
    parser.add_argument("--output", required=True, type=Path, metavar="FILE.png", help="its suffix names the format")
    parser.add_argument("--kind", choices=KINDS, help="ppc: replicated data against the data "
                        "(default: trace for Markov chains, posterior for other draws)")  # fmt: skip
    parser.add_argument("--variables", metavar="LIST", help="names with commas (default: the parameters)")


def run(options: argparse.Namespace) -> int:
    with fitting.session():
        fit = fitting.saved_fit(options.fit)
        try:
            print(f"saved {fitting.picture(fit, options.output, options.kind, parsing.names(options.variables))}")
        except ValueError as e:  # there is nothing of the kind or the name
            parsing.exit_with(str(e), 1)
    return 0
