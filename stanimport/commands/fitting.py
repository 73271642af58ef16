"""What the commands that fit a model share: the module, and showing the fit."""
from __future__ import annotations

import argparse
import contextlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import api
from ..errors import MissingLibraryError

if TYPE_CHECKING:
    from stanlib.program import Module

    from ..inference import Fit

ROWS = 60  # of a table on the terminal


def module_of(options: argparse.Namespace, backend: str | None = None) -> Module:
    """The translated module of the program named on the command line."""
    return api.load(
        options.file, backend=backend or options.backend, scheme=options.scheme, include_paths=options.include_path,
        functions=dict(options.function),
    )


def add_fit(parser: argparse.ArgumentParser) -> None:
    """A saved fit."""
    parser.add_argument("fit", nargs="+", type=Path, metavar="FILE",
                        help="one that --output saved, a --journal, or CmdStan's CSV files of all chains")  # fmt: skip


def add_observed(parser: argparse.ArgumentParser) -> None:
    """The observations that count."""
    parser.add_argument("--variable", metavar="NAME", help="the observed one, or log_lik, where there are several")


def saved_fit(paths: Sequence[Path]) -> Fit:
    """The fit in a file, in the journal of a run, or in the CSV files of its chains.

    Raises:
        StanDataError: for files that hold none.
    """
    from ..inference import Fit, from_csv
    from ..inference.methods.journals import is_journal

    alone = paths[0]
    if len(paths) == 1 and (is_journal(alone) if alone.is_dir() else alone.suffix.lower() != ".csv"):
        return Fit.load(alone)
    return from_csv(paths[0] if len(paths) == 1 else list(paths))


@contextlib.contextmanager
def session() -> Iterator[None]:
    """Warnings are printed as single lines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.showwarning = lambda message, *_, **__: _warn(message)
        yield


def _warn(message: Warning | str) -> None:
    """Print a warning, unless nobody reads it any more, which does not end what it warns of."""
    with contextlib.suppress(OSError):
        print(f"warning: {message}", file=sys.stderr)


def report(fit: Fit, options: argparse.Namespace) -> int:
    """Save what was asked for, print the table and what is wrong: whether or not one can, the other is done."""
    try:
        saved = list(_saved(fit, options))
    finally:
        _show(fit)
    for path in saved:
        print(f"saved {path}")
    return 130 if fit.interrupted else 0


def _saved(fit: Fit, options: argparse.Namespace) -> Iterator[Path]:
    if options.output:
        yield fit.save(options.output)
    if options.csv:
        yield from fit.save_csvfiles(options.csv)
    if getattr(options, "plot", None):
        yield picture(fit, Path(options.plot))


def _show(fit: Fit) -> None:
    from ..inference.fits.diagnosis import diagnose
    from ..inference.fits.summary import table

    print(f"{fit.program.name}: {fit.method}, seed {fit.seed}")
    made = table(fit)
    print(made.text(ROWS))
    if fit.method == "sample":
        print(f"\n{diagnose(fit, made)}")


def picture(fit: Fit, path: Path, kind: str | None = None, names: Sequence[str] | None = None) -> Path:
    """Save a plot: by default of the parameters, traces for Markov chains, marginal posteriors for other draws."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingLibraryError("pictures need ArviZ and Matplotlib: pip install 'stanimport[inference]'")
    import matplotlib

    matplotlib.use("Agg")
    from ..inference.fits.plots import save_figure

    chosen = kind or ("trace" if fit.method == "sample" else "posterior")
    save_figure(getattr(fit, f"plot_{chosen}")(names or _shown(fit, chosen)), path)
    return path


def _shown(fit: Fit, kind: str) -> list[str] | None:
    """The variables of a plot where none are named: the parameters; of replications, what is replicated."""
    parameters = list(fit.program.names("parameters"))
    return None if kind == "ppc" else [n for n in fit.variables if n.partition(".")[0] in parameters] or None


def progress(options: argparse.Namespace) -> bool:
    """Whether to draw a progress bar: not where the standard error is no terminal."""
    from ..inference.running.progress import on_terminal

    return not options.no_progress and on_terminal()
