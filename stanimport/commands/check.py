"""`stanimport check`: the errors and warnings of programs."""
from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from .. import api
from ..errors import Diagnostic, StanError, record, render
from . import parsing

EXAMPLES = ("check models/*.stan", "check --strict --pedantic coin.stan", "check --format json coin.stan")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.stan",
                        help="- for the standard input")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="accept the language of Stan 2.39 and nothing else")
    parser.add_argument("--pedantic", action="store_true", help="warn of what is allowed but seldom meant, too")
    parser.add_argument("--format", choices=("text", "json"), default="text",
                        help="json: one list with the diagnostics of all files, for editors")  # fmt: skip
    parsing.add_functions(parser)
    parsing.add_includes(parser)


def run(options: argparse.Namespace) -> int:
    """Print the diagnostics of all files, as text or as one JSON list; 1 if any is wrong, or can't be read."""
    failed, found = False, list[Diagnostic]()
    for file in options.files:
        name, text = parsing.program_of(file)
        try:
            wrong, diagnostics = _checked(name, text, options)
        except OSError as e:
            parsing.tell(e)
            failed = True
            continue
        failed = failed or wrong
        found += diagnostics
        if options.format == "text":
            _show(name, wrong, diagnostics)
    if options.format == "json":
        print(json.dumps([record(d) for d in found], indent=2))
    return int(failed)


def _checked(file: Path, text: str | None, options: argparse.Namespace) -> tuple[bool, Sequence[Diagnostic]]:
    """Whether a program is wrong, and the diagnostics: its errors, or the warnings of one that is not."""
    try:
        return False, api.check(
            file, source=text, include_paths=options.include_path, strict=options.strict, pedantic=options.pedantic,
            functions=dict(options.function),
        )  # fmt: skip
    except StanError as e:
        diagnostics = getattr(e, "diagnostics", None)
        if diagnostics is None:
            raise
        return True, diagnostics


def _show(file: Path, wrong: bool, diagnostics: Sequence[Diagnostic]) -> None:
    for d in diagnostics:
        print(render(d))
    if not wrong:
        print(f"{file}: ok")
