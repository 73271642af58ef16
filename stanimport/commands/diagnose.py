"""`stanimport diagnose`: what the draws of a saved fit say of the sampler and of convergence."""
from __future__ import annotations

import argparse

from . import fitting

EXAMPLES = ("diagnose fit.nc", "diagnose coin-20250102030405_*.csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    fitting.add_fit(parser)


def run(options: argparse.Namespace) -> int:
    """Print the diagnosis of Markov chains; 1 if something is wrong, and for the fits of other methods."""
    from . import parsing

    with fitting.session():
        fit = fitting.saved_fit(options.fit)
        if fit.method != "sample":
            parsing.exit_with(f"only draws of Markov chains can be diagnosed, not those of {fit.method}", 1)
        diagnosis = fit.diagnose()
        print(diagnosis)
    return 0 if diagnosis.ok else 1
