"""`stanimport stubs`: .pyi files beside Stan programs."""
from __future__ import annotations

import argparse
from pathlib import Path

from ..stubs import write_stubs
from . import parsing

EXAMPLES = ("stubs mypackage", "stubs models/coin.stan")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="PACKAGE_DIR", help="a folder with programs, or one .stan file")
    parsing.add_includes(parser)


def run(options: argparse.Namespace) -> int:
    for path in write_stubs(options.folder, include_paths=options.include_path):
        print(path)
    return 0
