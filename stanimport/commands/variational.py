"""`stanimport variational`: stochastic variational inference."""
from __future__ import annotations

import argparse

from . import fitting, parsing
from .sample import inits

EXAMPLES = (
    "variational coin.stan --data coin.json",
    "variational coin.stan --data coin.json --algorithm fullrank --draws 4000 --output vi.nc",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parsing.add_program(parser)
    parsing.add_data(parser)
    parser.add_argument(
        "--algorithm", metavar="NAME",
        help="meanfield, fullrank, lowrank or guide (default: the program's guide, else meanfield)",
    )  # fmt: skip
    parser.add_argument("--iter", type=int, default=10000, metavar="N", help="steps at most (default: 10000)")
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="default: 1000")
    parser.add_argument("--inits", metavar="X", help="a radius, or a JSON file")
    parsing.add_output(parser)


def run(options: argparse.Namespace) -> int:
    with fitting.session(), parsing.usage_errors():
        from ..inference import variational

        fit = variational(
            fitting.module_of(options), options.data, seed=options.seed, inits=inits(options.inits),
            algorithm=options.algorithm, iter=options.iter, draws=options.draws, require_converged=False,
            show_progress=fitting.progress(options),
        )  # fmt: skip
        return fitting.report(fit, options)
