"""`stanimport translate`: the Python text of a program."""
from __future__ import annotations

import argparse

from .. import api
from . import parsing

STAGES = ("ast", "typed", "gprob", "loops", "python")
EXAMPLES = (
    "translate coin.stan", "translate coin.stan --backend pyro --scheme mixed", "translate dogs.stan --dump loops",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parsing.add_program(parser)
    parser.add_argument("--dump", choices=STAGES, default="python", help="show what this stage makes of it")
    parser.add_argument("--without", metavar="PASS", nargs="*", default=(), help="leave out passes, for debugging")


def run(options: argparse.Namespace) -> int:
    text = api.dump(
        options.file, options.dump, backend=options.backend, scheme=options.scheme,
        include_paths=options.include_path, without=options.without,
    )  # fmt: skip
    print(text, end="")
    return 0
