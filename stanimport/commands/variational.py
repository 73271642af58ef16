"""`stanimport variational`: stochastic variational inference."""
from __future__ import annotations

import argparse

from . import fitting, parsing
from .sample import inits

EXAMPLES = (
    "variational coin.stan --data coin.json",
    "variational coin.stan --data coin.json --algorithm fullrank --draws 4000 --output vi.nc",
    "variational clicks.stan --data clicks.parquet --minibatch N=4096 --checkpoint clicks.far",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The program, its data, the options of `variational`, and where the draws go."""
    parsing.add_program(parser)
    parsing.add_data(parser)
    parser.add_argument(
        "--algorithm", metavar="NAME",
        help="meanfield, fullrank, lowrank, iaf, bnaf, spline or guide (default: the program's guide, else meanfield)",
    )  # fmt: skip
    parser.add_argument("--iter", type=int, default=10000, metavar="N", help="steps at most (default: 10000)")
    parser.add_argument(
        "--minibatch", metavar="SIZE=ROWS", type=_size, action="append",
        help="take so many rows at a time of the data with that size; these may be on disk: a parquet, NetCDF or HDF5 "
             "file, a zarr store, or a folder of .npy files",
    )  # fmt: skip
    parser.add_argument("--checkpoint", metavar="FILE", help="keep there how far minibatches have come, and go on")
    parser.add_argument("--no-khat", action="store_true", help="no comparison with the posterior, a pass over all data")
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="default: 1000")
    parser.add_argument("--inits", metavar="X", help="a radius, or a JSON file")
    parsing.add_output(parser)


def _size(text: str) -> tuple[str, int]:
    """`N=256`."""
    name, equals, rows = text.partition("=")
    if not equals or not name.isidentifier() or not rows.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not like N=256: a size of the data, and a number of rows")
    return name, int(rows)


def run(options: argparse.Namespace) -> int:
    """Fit an approximation and report it, converged or not."""
    with fitting.session(), parsing.usage_errors():
        from ..inference import variational

        fit = variational(
            fitting.module_of(options), options.data, seed=options.seed, inits=inits(options.inits),
            algorithm=options.algorithm, iter=options.iter, draws=options.draws, require_converged=False,
            show_progress=fitting.progress(options), minibatch=dict(options.minibatch) if options.minibatch else None,
            checkpoint=options.checkpoint, khat=not options.no_khat,
        )  # fmt: skip
        return fitting.report(fit, options)
