"""`stanimport pathfinder`: draws from an approximation found along optimization paths."""
from __future__ import annotations

import argparse

from . import fitting, parsing
from .sample import inits

EXAMPLES = ("pathfinder coin.stan --data coin.json", "pathfinder coin.stan --data coin.json --num-paths 8")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parsing.add_program(parser)
    parsing.add_data(parser)
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="default: 1000")
    parser.add_argument("--num-paths", type=int, default=4, metavar="N", help="default: 4")
    parser.add_argument("--inits", metavar="X", help="a radius, or a JSON file")
    parsing.add_output(parser)


def run(options: argparse.Namespace) -> int:
    with fitting.session(), parsing.usage_errors():
        from ..inference import pathfinder

        fit = pathfinder(
            fitting.module_of(options), options.data, seed=options.seed, inits=inits(options.inits),
            draws=options.draws, num_paths=options.num_paths,
        )  # fmt: skip
        return fitting.report(fit, options)
