"""`stanimport sample`: NUTS, in double precision."""
from __future__ import annotations

import argparse

from . import fitting, parsing

EXAMPLES = (
    "sample models/coin.stan --data models/coin.json",
    "sample schools.stan --data schools.json --adapt-delta 0.95 --output draws.nc --plot schools.png",
    "sample schools.stan --resume draws.nc --draws 4000 --output more.nc",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The program, its data, the options of `sample` by their names there, and where the draws go."""
    parsing.add_program(parser)
    parsing.add_data(parser)
    _add_chains(parser)
    _add_kept(parser)
    _add_run(parser)
    parsing.add_output(parser)


def _add_chains(parser: argparse.ArgumentParser) -> None:
    """How many chains there are, how long they are, and how they adapt."""
    parser.add_argument("--chains", type=int, metavar="N", help="default: 4")
    parser.add_argument("--parallel-chains", type=int, metavar="N", help="chains that run at the same time")
    parser.add_argument("--threads-per-chain", type=int, metavar="N", help="threads that share the rows of large data")
    parser.add_argument("--iter-warmup", "--warmup", type=int, metavar="N", help="default: 1000")
    parser.add_argument("--iter-sampling", "--draws", type=int, metavar="N", help="default: 1000")
    parser.add_argument("--thin", type=int, metavar="N", help="keep every N-th draw; default: 1")
    parser.add_argument("--adapt-delta", type=float, metavar="P", help="default: 0.8")
    parser.add_argument("--max-treedepth", type=int, metavar="N", help="default: 10")
    parser.add_argument("--metric", metavar="NAME",
                        help="auto (default), diag_e, dense_e, unit_e, low_rank or a JSON file")  # fmt: skip
    parser.add_argument("--step-size", type=float, metavar="X", help="to start the adaptation from")
    parser.add_argument("--inits", metavar="X", help="a radius, a JSON file, or pathfinder")


def _add_kept(parser: argparse.ArgumentParser) -> None:
    """Which draws are kept."""
    parser.add_argument("--save-warmup", action="store_true", default=None, help="keep the draws of the warm-up")
    parser.add_argument("--keep", metavar="NAMES", type=lambda names: names.split(","),
                        help="the variables whose draws are kept, with commas between them; default: all")  # fmt: skip
    parser.add_argument("--leave-out", metavar="NAMES", type=lambda names: names.split(","),
                        help="the variables whose draws are not kept")  # fmt: skip


def _add_run(parser: argparse.ArgumentParser) -> None:
    """What draws, and how a run is kept or goes on."""
    parser.add_argument("--fixed-param", action="store_true", default=None,
                        help="only run generated quantities, at the inits")  # fmt: skip
    parser.add_argument("--method", help="nuts (default), walnuts, chees, meads, numpyro, blackjax or nutpie")
    parser.add_argument("--keep-stranded", action="store_true", help="let no chain begin anew during warm-up")
    parser.add_argument("--journal", metavar="FOLDER", help="a new folder to which draws go as they come")
    parser.add_argument("--resume", metavar="PATH", help="go on with a run: a fit that --output saved, or a journal")


def run(options: argparse.Namespace) -> int:
    """Draw samples and report them; options that are not given keep the defaults of `sample`."""
    with fitting.session():
        from ..inference import sample

        names = ("chains", "parallel_chains", "threads_per_chain", "seed", "iter_warmup", "iter_sampling", "thin",
                 "max_treedepth", "metric", "step_size", "adapt_delta", "save_warmup", "fixed_param", "method",
                 "journal", "resume", "keep", "leave_out")  # fmt: skip
        chosen = {n: getattr(options, n) for n in names if getattr(options, n) is not None}
        if options.keep_stranded:
            chosen["restart_stranded"] = False
        with parsing.usage_errors():
            fit = sample(
                fitting.module_of(options), options.data, inits=inits(options.inits),
                show_progress=fitting.progress(options), **chosen,
            )  # fmt: skip
        return fitting.report(fit, options)


def inits(text: str | None) -> str | float | None:
    """What `--inits` gives: a number is a radius."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
