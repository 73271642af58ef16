"""`stanimport variational`: stochastic variational inference."""
from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from . import fitting, parsing
from .sample import inits

if TYPE_CHECKING:
    from stanlib.program import Module

    from ..inference import Fit

EXAMPLES = (
    "variational coin.stan --data coin.json",
    "variational coin.stan --data coin.json --algorithm fullrank --draws 4000 --output vi.nc",
    "variational clicks.stan --data clicks.parquet --minibatch N=4096 --checkpoint clicks.far",
    "variational people.stan --data people.parquet --minibatch N=4096 --rows N=1,17,20-29",
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
    parser.add_argument(
        "--rows", metavar="SIZE=NUMBERS", type=_rows, action="append",
        help="of a fit by minibatches, draw the parameters of these rows, counted from 1, as in N=1,17,20-29",
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


def _rows(text: str) -> tuple[str, list[int]]:
    """`N=1,17,20-29`."""
    name, _, listed = text.partition("=")
    numbers: list[int] = []
    for part in listed.split(","):
        first, dash, last = part.partition("-")
        if not (name.isidentifier() and first.isdecimal() and (last.isdecimal() or not dash)):
            raise argparse.ArgumentTypeError(f"{text!r} is not like N=1,17,20-29: a size of the data, numbers of rows")
        numbers += range(int(first), int(last or first) + 1)
    return name, numbers


def run(options: argparse.Namespace) -> int:
    """Fit an approximation and report it, converged or not."""
    with fitting.session(), parsing.usage_errors():
        from ..inference import variational

        module = fitting.module_of(options)
        fit = variational(
            module, options.data, seed=options.seed, inits=inits(options.inits),
            algorithm=options.algorithm, iter=options.iter, draws=options.draws, require_converged=False,
            show_progress=fitting.progress(options), minibatch=dict(options.minibatch) if options.minibatch else None,
            checkpoint=options.checkpoint, khat=not options.no_khat, rows=dict(options.rows) if options.rows else None,
        )  # fmt: skip
        code = fitting.report(fit, options)
        if options.rows:
            print(f"\n{_of_rows(fit, module)}")
        return code


def _of_rows(fit: Fit, module: Module) -> str:
    """The table of the parameters that were drawn for some rows, which are called by their numbers."""
    from ..inference.fits import columns, summary

    drawn = {n.removesuffix(".draws"): v[None] for n, v in fit.info.items() if n.endswith(".draws")}
    labels: dict[str, list[list[int] | None]] = {n: [None] * (v.ndim - 2) for n, v in drawn.items()}
    sizes = fit.settings["rows"]
    for size, rows in module.model.with_batches(**dict.fromkeys(sizes, 1)).batches.rows.items():
        for name in rows.axes.keys() & drawn.keys():
            labels[name][rows.axes[name]] = sizes[size]
    names, values = columns.flatten(drawn, labels)
    return summary.Table(names, summary.numbers(values, (5, 50, 95), is_chain=False)).text(fitting.ROWS)
