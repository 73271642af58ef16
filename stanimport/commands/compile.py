"""`stanimport compile`: the translations that ship with a package."""
from __future__ import annotations

import argparse
from pathlib import Path

from ..compile import compile_package
from ..settings import BACKENDS, SCHEMES
from . import parsing

EXAMPLES = ("compile mypackage", "compile mypackage --backend numpyro --backend pyro")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="PACKAGE_DIR", help="the package, or one .stan file")
    parser.add_argument("--backend", action="append", default=[], choices=BACKENDS,
                        help="what to translate for; may be given several times (default: numpyro)")  # fmt: skip
    parser.add_argument("--scheme", action="append", default=[], choices=SCHEMES,
                        help="how to translate; may be given several times (default: mixed)")  # fmt: skip
    parsing.add_includes(parser)


def run(options: argparse.Namespace) -> int:
    written = compile_package(
        options.folder, backends=options.backend, schemes=options.scheme, include_paths=options.include_path
    )
    for path in written:
        print(path)
    return 0
