"""The cache of translations: code objects in the user's cache folder.

A cached file is always complete: it is written beside its place and renamed, and carries a digest of itself. A file
that is damaged, foreign, or made from other text, options or another translator is ignored and written anew. A cache
that can't be written is no error. What others could have written is not read: it is code.
"""
from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType

from . import files, ownership
from .errors import StanWarning
from .settings import Settings, user_cache

MAGIC = b"stanimport cache 1\n"
_DIGEST = hashlib.sha256().digest_size
PLAIN = 2  # the version of marshal whose bytes depend on the code alone, not on what else refers to its parts


@dataclass(frozen=True)
class Entry:
    """A translation as it is kept: the code, the readable text, and what decided its includes.

    `includes` are the places where included files were looked for, with the digest of what was there: empty if there
    was nothing.
    """

    code: CodeType
    text: str
    includes: tuple[tuple[str, bytes], ...]

    def is_current(self) -> bool:
        """Whether the included files are still what they were, and no others would be found before them."""
        return all(files.state(Path(name)) == known for name, known in self.includes)


def key(text: str, settings: Settings) -> bytes:
    """What a translation depends on, but for its includes: text, options, translator, Python."""
    parts = [
        text, settings.backend, settings.scheme, *map(str, settings.include_paths), fingerprint(),
        repr(settings.functions),
        str(sys.implementation.cache_tag), sys.version,
    ]  # fmt: skip
    return files.digest("\0".join(parts).encode())


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """A fingerprint of the translator: the sizes and times of its files, so that a changed one is noticed.

    Where they are no files, it is that of the archive they lie in, or of the frozen application.
    """
    root = Path(__file__).parent
    found = [*_states(str(root)), *_states(str(root.parent / "stanlib"), "../stanlib/")]
    if not found:
        archive = next((p for p in root.parents if p.is_file()), Path(sys.executable))
        found = [_state(archive.name, archive.stat())]
    return ";".join(found)


def _states(folder: str, below: str = "") -> Iterator[str]:
    """Those of all Python files in a folder and the folders in it, in the order of their names."""
    try:
        entries = sorted(os.scandir(folder), key=lambda e: e.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _states(entry.path, f"{below}{entry.name}/")
        elif entry.name.endswith(".py"):
            with contextlib.suppress(OSError):
                yield _state(below + entry.name, entry.stat())


def _state(name: str, status: os.stat_result) -> str:
    return f"{name}:{status.st_size}:{status.st_mtime_ns}"


def location(source: Path, settings: Settings) -> Path:
    """Where a translation lies: in the user's cache folder, never beside the program, which others may have written."""
    name = f"{source.name}.{settings.backend}-{settings.scheme}.{sys.implementation.cache_tag}.cache"
    return user_cache().joinpath(*source.absolute().parts[1:-1], name)


def load(source: Path, settings: Settings, wanted: bytes) -> Entry | None:
    """The cached translation with this key, if there is one that is the user's own, whole and current."""
    path = location(source, settings)
    try:
        content = ownership.read_private(path) if is_private(path.parent) else None
    except OSError:
        return None
    entry = _decode(content, wanted) if content else None
    return entry if entry is not None and entry.is_current() else None


def is_private(folder: Path) -> bool:
    """Whether nobody but the user can have written what is cached in a folder; a warning tells of one that is not used.

    Raises:
        OSError: if there is no such folder.
    """
    reason = ownership.why_not_private(folder)
    if reason:
        warnings.warn(f"the cache is not used, for {reason}", StanWarning, stacklevel=2)
    return not reason


def _decode(content: bytes, wanted: bytes) -> Entry | None:
    """The translation that a file holds; None if it has another format or key, or is damaged."""
    head = len(MAGIC)
    if not content.startswith(MAGIC) or content[head : head + _DIGEST] != wanted:
        return None
    payload = content[head + 2 * _DIGEST :]
    if files.digest(payload) != content[head + _DIGEST : head + 2 * _DIGEST]:
        return None
    try:
        code, text, includes = marshal.loads(payload)
    except (EOFError, ValueError, TypeError):
        return None
    return Entry(code, text, includes)


def store(source: Path, settings: Settings, wanted: bytes, entry: Entry) -> Path | None:
    """Write a translation, with its text beside, for the user alone; None where it can't be, which is no error."""
    if sys.dont_write_bytecode:
        return None
    payload = marshal.dumps((entry.code, entry.text, entry.includes), PLAIN)
    path = location(source, settings)
    try:
        ownership.make_private(path.parent)
        if ownership.why_not_private(path.parent):
            return None
        files.write(path, MAGIC + wanted + files.digest(payload) + payload, 0o600)
        files.write(path.with_suffix(".txt"), entry.text.encode(), 0o600)
    except OSError:
        return None
    return path
