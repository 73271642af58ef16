"""`stanimport format`: programs in stanc's layout."""
from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from .. import api, files
from ..errors import StanError
from . import parsing

EXAMPLES = (
    "format coin.stan", "format --overwrite models/*.stan", "format --check models/*.stan",
    "format --canonicalize braces,parentheses coin.stan",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which programs, and how they are laid out and shown."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.stan",
                        help="- for the standard input, which is printed in any case")  # fmt: skip
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--overwrite", action="store_true", help="write the files (default: print what they become)")
    what.add_argument("--check", action="store_true", help="show what would change, and end with exit code 1 if any")
    parser.add_argument("--canonicalize", default="", metavar="LIST",
                        help=f"rewrite to fewer forms, with commas: {', '.join(api.CANONICALIZATIONS)}")  # fmt: skip
    parser.add_argument("--max-line-length", type=int, default=78, metavar="N", help="default: 78")
    parsing.add_includes(parser)


def run(options: argparse.Namespace) -> int:
    """Show or write the files in stanc's layout; 1 if one is no program or has to change and is only looked at."""
    chosen = options.canonicalize.split(",") if options.canonicalize else []
    code = 0
    for file in options.files:
        try:
            name, text = parsing.program_of(file)
            made = api.format(name, source=text, include_paths=options.include_path, canonicalize=chosen,
                              max_line_length=options.max_line_length)  # fmt: skip
        except StanError as e:
            print(e, file=sys.stderr)
            code = 1
        except OSError as e:
            parsing.tell(e)
            code = 1
        except ValueError as e:
            parsing.exit_with(str(e))
        else:
            code = max(code, _done(name, text, made, options))
    return code


def _done(file: Path, text: str | None, made: str, options: argparse.Namespace) -> int:
    """Show or write what a file, or a text, becomes; 1 if it has to change and is only looked at, or can't be."""
    before = files.program_text(files.read_bytes(file)) if text is None else text
    if options.check:
        names = str(file), f"{file} (formatted)"
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), made.splitlines(True), *names))
        return int(before != made)
    if not options.overwrite or text is not None:
        parsing.print_program(made)
    elif before != made:
        try:
            files.write(file.resolve(), made.encode("utf-8"), file.stat().st_mode & 0o777)
        except OSError as e:
            parsing.tell(e)
            return 1
        print(file)
    return 0
