"""`stanimport compare`: saved fits of the same data in the order of their expected log predictive densities."""
from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from . import fitting, parsing

EXAMPLES = ("compare pooled.nc hierarchical.nc", "compare a.nc b.nc c.nc --variable y")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fits", nargs="+", type=Path, metavar="FILE",
                        help="what --output saved, or a folder with CmdStan's CSV files, for each model")  # fmt: skip
    fitting.add_observed(parser)


def run(options: argparse.Namespace) -> int:
    """Print how two or more fits compare by leave-one-out cross-validation."""
    if len(options.fits) < 2:
        parsing.exit_with("there is nothing to compare: name two fits or more")
    with fitting.session():
        from ..inference.fits.cross_validation import comparison, leave_one_out

        named = zip(_names(options.fits), options.fits)
        table = comparison({n: leave_one_out(fitting.saved_fit([p]), options.variable) for n, p in named})
        print(table.to_string())
    return 0


def _names(paths: Sequence[Path]) -> list[str]:
    """The names of the files; the paths where two files have the same name or one is given twice."""
    stems = [p.stem for p in paths]
    if len(set(stems)) == len(stems):
        return stems
    shown = [os.fspath(p) for p in paths]
    return shown if len(set(shown)) == len(shown) else [f"{i}: {s}" for i, s in enumerate(shown, 1)]
