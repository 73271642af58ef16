"""The cache of translations: code objects beside the Stan file, in names of their own.

A cached file is always complete: it is written beside its place and renamed, and carries a digest of itself. A file
that is damaged, foreign, or made from other text, options or another translator is ignored and written anew. A cache
that can't be written is no error.
"""
from __future__ import annotations

import hashlib
import marshal
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType

from . import files
from .settings import Settings

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
        text, settings.backend, settings.scheme, *map(str, settings.include_paths), _translator(),
        str(sys.implementation.cache_tag), sys.version,
    ]  # fmt: skip
    return files.digest("\0".join(parts).encode())


@lru_cache(maxsize=1)
def _translator() -> str:
    """A fingerprint of the translator: the sizes and times of its files, so that a changed one is noticed."""
    root = Path(__file__).parent
    states = []
    for folder in (root, root.parent / "stanlib"):
        for path in sorted(folder.rglob("*.py")):
            try:
                status = path.stat()
            except OSError:
                continue
            states.append(f"{path.relative_to(root.parent)}:{status.st_size}:{status.st_mtime_ns}")
    return ";".join(states)


def locations(source: Path, settings: Settings) -> Iterator[Path]:
    """Where a translation may lie, the preferred place first."""
    tag = sys.implementation.cache_tag
    name = f"{source.name}.{settings.backend}-{settings.scheme}.{tag}.cache"
    override = os.environ.get("STANIMPORT_CACHE_DIR")
    if override:
        yield _mirror(Path(override), source) / name
        return
    if sys.pycache_prefix is not None:
        yield _mirror(Path(sys.pycache_prefix), source) / name
    else:
        yield source.parent / "__pycache__" / name
    yield _mirror(_user_cache(), source) / name


def _mirror(root: Path, source: Path) -> Path:
    """A folder under root for the folder of a source, as Python does with PYTHONPYCACHEPREFIX."""
    parent = source.absolute().parent
    return root.joinpath(*parent.parts[1:]) if parent.is_absolute() else root / parent


def _user_cache() -> Path:
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("stanimport"))


def load(source: Path, settings: Settings, wanted: bytes) -> Entry | None:
    """The cached translation with this key, if there is one that is whole and current."""
    for path in locations(source, settings):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        entry = _decode(content, wanted)
        if entry is not None and entry.is_current():
            return entry
    return None


def _decode(content: bytes, wanted: bytes) -> Entry | None:
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
    """Write a translation to the first place that takes it, with its text beside; None if there is none."""
    if sys.dont_write_bytecode:
        return None
    payload = marshal.dumps((entry.code, entry.text, entry.includes), PLAIN)
    content = MAGIC + wanted + files.digest(payload) + payload
    for path in locations(source, settings):
        if _write(path, content):
            _write(path.with_suffix(".txt"), entry.text.encode())
            return path
    return None


def _write(path: Path, content: bytes) -> bool:
    """Write a file whole; whether it could be written: a full disk or a read-only folder is no error."""
    try:
        files.write(path, content)
    except OSError:
        return False
    return True
