"""`stanimport lsp`: the language server for editors, over standard input and output."""
from __future__ import annotations

import argparse

from stanlib.extras import require

from ..editor.examination import Settings
from . import parsing

EXAMPLES = ("lsp", "lsp --include-path models/include --no-pedantic")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--strict", action="store_true", help="accept the language of Stan 2.39 and nothing else")
    parser.add_argument("--no-pedantic", action="store_true", help="don't tell what is allowed but seldom meant")
    parser.add_argument("--stdio", action="store_true", help="what editors may add; the server knows no other way")
    parsing.add_functions(parser)
    parsing.add_includes(parser)


def run(options: argparse.Namespace) -> int:
    require("pygls", extra="lsp")
    from ..editor.server import serve

    paths = tuple(p.resolve() for p in options.include_path)
    serve(Settings(paths, options.strict, not options.no_pedantic, tuple(options.function)))
    return 0
