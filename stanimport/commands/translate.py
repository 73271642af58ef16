"""`stanimport translate`: the Python text of a program."""
from __future__ import annotations

import argparse

from .. import api
from ..errors import UnknownPass
from . import parsing

HELP = "show what a stage makes of it: ast, typed, scheme, gprob, loops, python, or any pass by name"
EXAMPLES = (
    "translate coin.stan", "translate coin.stan --backend pyro --scheme mixed", "translate dogs.stan --dump loops",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parsing.add_program(parser)
    parser.add_argument("--dump", metavar="STAGE", default="python", help=HELP)
    parser.add_argument("--without", metavar="PASS", nargs="*", default=(), help="leave out passes, for debugging")


def run(options: argparse.Namespace) -> int:
    """Print what a stage makes of the program; an unknown stage or pass ends with exit code 2."""
    try:
        text = api.dump(
            options.file, options.dump, backend=options.backend, scheme=options.scheme,
            include_paths=options.include_path, without=options.without, functions=dict(options.function),
        )  # fmt: skip
    except UnknownPass as e:
        parsing.exit_with(str(e))
    parsing.print_program(text)
    return 0
