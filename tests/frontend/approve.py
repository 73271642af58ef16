"""Writing what the front end says of programs beside them: python -m tests.frontend.approve [NAME ...]

`diagnostics/NAME.expected` holds every error and warning, in the order in which they are printed. Read the difference
before committing it.
"""
from __future__ import annotations

import sys
from pathlib import Path

import stanimport

FOLDER = Path(__file__).parent / "diagnostics"


def messages(path: Path) -> str:
    """The errors of a program, else its warnings, as `stanimport check` prints them, with paths from the folder."""
    try:
        found = list(map(str, stanimport.check(path)))
    except stanimport.StanError as e:
        found = [str(e)]
    return "\n".join(found).replace(f"{FOLDER}/", "").replace(str(FOLDER), "the folder") + "\n"


def main(names: list[str]) -> None:
    for path in sorted(FOLDER.glob("*.stan")):
        if names and path.stem not in names:
            continue
        expected, text = path.with_suffix(".expected"), messages(path)
        if not expected.exists() or expected.read_text() != text:
            print(text, end="")
            expected.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
