"""stanc's list of signatures as one line per function: its name, how many overloads it has, and a digest of them.

    stanc --dump-stan-math-signatures | python tests/stanlib/stanc_signatures.py > tests/stanlib/stanc_signatures.txt

The digest is of the overloads in alphabetical order, written as stanc writes them, without the qualifier `data`.
"""
from __future__ import annotations

import collections
import hashlib
import pathlib
import re
import sys
from collections.abc import Iterable

TABLE = pathlib.Path(__file__).with_suffix(".txt")
_LINE = re.compile(r"\s*([A-Za-z]\w*)(\(.*\) => .*)$")


def entry(overloads: Iterable[str]) -> tuple[int, str]:
    """The number of overloads and their digest."""
    lines = sorted({o.replace("data ", "") for o in overloads})
    return len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def read() -> dict[str, tuple[int, str]]:
    """The table beside this file."""
    rows = (line.split() for line in TABLE.read_text().splitlines())
    return {name: (int(count), digest) for name, count, digest in rows}


def main() -> None:
    found: dict[str, set[str]] = collections.defaultdict(set)
    for match in filter(None, map(_LINE.match, sys.stdin)):
        found[match[1]].add(match[2])
    for name in sorted(found):
        print(name, *entry(found[name]))


if __name__ == "__main__":
    main()
