"""`stanimport generate`: generated quantities for the draws of a saved fit, also on new data."""
from __future__ import annotations

import argparse

from . import fitting, parsing

EXAMPLES = (
    "generate schools.stan --fit draws.nc --data new_schools.json --output predicted.nc",
    "generate schools.stan --fit draws.nc",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parsing.add_program(parser)
    parser.add_argument("--fit", required=True, metavar="FILE.nc", help="the fit, as --output saved it")
    parsing.add_data(parser)
    parsing.add_output(parser)


def run(options: argparse.Namespace) -> int:
    with fitting.session():
        from ..inference import generate_quantities

        module = fitting.module_of(options)
        fit = generate_quantities(module, options.data, previous_fit=options.fit, seed=options.seed)
        return fitting.report(fit, options)
