"""`stanimport laplace`: draws from the normal approximation at the mode."""
from __future__ import annotations

import argparse

from . import fitting, parsing
from .sample import inits

EXAMPLES = ("laplace coin.stan --data coin.json", "laplace coin.stan --data coin.json --draws 4000 --output laplace.nc")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parsing.add_program(parser)
    parsing.add_data(parser)
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="default: 1000")
    parser.add_argument("--no-jacobian", action="store_true", help="at the mode on the constrained scale")
    parser.add_argument("--inits", metavar="X", help="a radius, or a JSON file")
    parsing.add_output(parser)


def run(options: argparse.Namespace) -> int:
    with fitting.session(), parsing.usage_errors():
        from ..inference import laplace_sample

        fit = laplace_sample(
            fitting.module_of(options), options.data, seed=options.seed, inits=inits(options.inits),
            draws=options.draws, jacobian=not options.no_jacobian,
        )  # fmt: skip
        return fitting.report(fit, options)
