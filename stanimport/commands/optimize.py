"""`stanimport optimize`: the mode of the posterior."""
from __future__ import annotations

import argparse

from . import fitting, parsing
from .sample import inits

EXAMPLES = ("optimize coin.stan --data coin.json", "optimize coin.stan --data coin.json --jacobian --output mode.nc")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parsing.add_program(parser)
    parsing.add_data(parser)
    parser.add_argument("--algorithm", default="lbfgs", metavar="NAME", help="lbfgs, bfgs or newton (default: lbfgs)")
    parser.add_argument("--iter", type=int, default=2000, metavar="N", help="iterations at most (default: 2000)")
    parser.add_argument("--jacobian", action="store_true", help="the mode on the unconstrained scale")
    parser.add_argument("--inits", metavar="X", help="a radius, or a JSON file")
    parsing.add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Find the mode and report it; 1 if the search has not converged."""
    with fitting.session(), parsing.usage_errors():
        from ..inference import optimize

        fit = optimize(
            fitting.module_of(options), options.data, seed=options.seed, inits=inits(options.inits),
            algorithm=options.algorithm, iter=options.iter, jacobian=options.jacobian, require_converged=False,
        )  # fmt: skip
        code = fitting.report(fit, options)
        return code if fit.converged else 1
