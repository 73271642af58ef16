"""`stanimport cache`: how much the caches hold, and clearing them."""
from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from .. import settings

EXAMPLES = ("cache", "cache --clear")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clear", action="store_true", help="remove what is there; it is made again when needed")


def run(options: argparse.Namespace) -> int:
    for title, folder, found in _caches():
        files = list(found)
        size = sum(f.stat().st_size for f in files)
        done = _clear(files) if options.clear else 0
        told = f", {done} removed" if options.clear else ""
        print(f"{title}: {len(files)} files, {_shown(size)}{told} ({folder})")
    return 0


def _caches() -> Iterator[tuple[str, Path, Iterator[Path]]]:
    """The caches: what they hold, where, and their files."""
    user, jit = settings.user_cache(), settings.jit_cache() or settings.user_cache() / "jit"
    yield "translations", user, (f for f in user.rglob("*.stan.*") if f.is_file() and jit not in f.parents)
    yield "compiled by XLA", jit, (f for f in jit.rglob("*") if f.is_file())


def _clear(files: list[Path]) -> int:
    """Remove files; how many could be removed."""
    removed = 0
    for file in files:
        try:
            file.unlink()
            removed += 1
        except OSError as e:
            print(f"{file}: {e.strerror}")
    return removed


def _shown(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
