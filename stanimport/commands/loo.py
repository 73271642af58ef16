"""`stanimport loo`: the expected log predictive density of a saved fit, by Pareto-smoothed importance sampling."""
from __future__ import annotations

import argparse

from . import fitting

EXAMPLES = ("loo fit.nc", "loo coin-20250102030405_*.csv --variable log_lik")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    fitting.add_fit(parser)
    fitting.add_observed(parser)


def run(options: argparse.Namespace) -> int:
    with fitting.session():
        from ..inference.fits.cross_validation import leave_one_out

        print(leave_one_out(fitting.saved_fit(options.fit), options.variable))
    return 0
