"""Translations that ship with a package: `coin.numpyro-mixed.stanc` beside coin.stan.

Such a file is to `.stan` what `.pyc` is to `.py`, but stays valid wherever and however the package is installed: it
depends on no absolute path, on no version of stanimport beyond the interface that its code calls, and it holds the
syntax tree beside the code, so that another version of Python can compile it anew, with the Stan lines.

    magic line | header, one line of JSON | marshalled code | zlib(syntax tree as JSON) | zlib(readable text)
"""
from __future__ import annotations

import hashlib
import importlib.util
import marshal
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import files
from .cache import PLAIN, Entry
from .settings import Settings

MAGIC = b"stanimport translation 1\n"
SUFFIX = ".stanc"


def path_of(source: Path, settings: Settings) -> Path:
    """Where the translation of a program lies that ships with it."""
    return source.with_name(f"{source.stem}.{settings.backend}-{settings.scheme}{SUFFIX}")


def load(source: Path, text: str, settings: Settings) -> Entry | None:
    """The translation that ships with a program.

    None if there is none, or not of this text, these options, this interface; or if it may be anybody's.
    """
    path = path_of(source, settings)
    try:
        content = files.read_bytes(path)
    except OSError:
        return None
    if not _is_trusted(path, content, settings):
        return None
    import zlib

    try:
        header, body = _parts(content)
        if not _fits(header, text, settings):
            return None
        seen = _includes(header["includes"], settings.include_paths or (source.parent,))
        return None if seen is None else Entry(_code(header, body), zlib.decompress(body[2]).decode(), seen)
    except (ValueError, KeyError, TypeError, EOFError, zlib.error):
        return None


def _is_trusted(path: Path, content: bytes, settings: Settings) -> bool:
    """Whether a translation, which is code, is that of an installed distribution, or the user trusts its folder."""
    if any(path.resolve().is_relative_to(folder.resolve()) for folder in settings.trusted_folders):
        return True
    from stanlib import installed  # only where there is such a file

    return installed.holds(path, content)


def encode(
    text: str, entry: Entry, nodes: Sequence[object], includes: Sequence[tuple[str, bytes]], settings: Settings
) -> bytes:
    """The content of a translation's file.

    Args:
        text: the Stan text.
        entry: its translation.
        nodes: the syntax tree, as `trees.encode` gives it.
        includes: names of the included files, as found in their include folders, with their contents.
        settings: what it was translated with.
    """
    import json
    import zlib

    parts = [
        marshal.dumps(entry.code, PLAIN), zlib.compress(json.dumps(nodes, separators=(",", ":")).encode(), 9),
        zlib.compress(entry.text.encode(), 9),
    ]  # fmt: skip
    header = {
        "interface": _interface(), "name": entry.code.co_filename, "source": _digest_text(text),
        "backend": settings.backend, "scheme": settings.scheme, "functions": dict(settings.functions),
        "includes": [[name, _digest(content)] for name, content in includes],
        "python": importlib.util.MAGIC_NUMBER.hex(), "sizes": [len(p) for p in parts],
        "digest": _digest(b"".join(parts)),
    }  # fmt: skip
    return MAGIC + json.dumps(header, sort_keys=True).encode() + b"\n" + b"".join(parts)


def _parts(content: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The header and the parts of a file. Raises ValueError for a damaged or foreign one."""
    import json

    if not content.startswith(MAGIC):
        raise ValueError("no translation")
    line, _, body = content[len(MAGIC) :].partition(b"\n")
    header = json.loads(line)
    if header["digest"] != _digest(body):
        raise ValueError("a damaged translation")
    return header, list(_split(body, header["sizes"]))


def _split(body: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    start = 0
    for size in sizes:
        yield body[start : start + size]
        start += size


def _fits(header: dict[str, Any], text: str, settings: Settings) -> bool:
    made_for = (header["interface"], header["backend"], header["scheme"], header["source"], header.get("functions", {}))
    return made_for == (_interface(), settings.backend, settings.scheme, _digest_text(text), dict(settings.functions))


def _includes(included: Sequence[tuple[str, str]], folders: Sequence[Path]) -> tuple[tuple[str, bytes], ...] | None:
    """Where included files are looked for, and what is there, as `Entry` keeps it; None if one is another than it was.

    They may be missing: the translation holds what came of them.
    """
    seen = {}
    for name, digest in included:
        for place in (folder / name for folder in folders):
            state = seen[str(place)] = files.state(place)
            if state and state.hex() != digest:
                return None
            if state:
                break
    return tuple(seen.items())


def _code(header: dict[str, Any], parts: list[bytes]) -> types.CodeType:
    """The code that was marshalled, if by this version of Python; else compiled anew from the syntax tree beside it."""
    if header["python"] == importlib.util.MAGIC_NUMBER.hex():
        code: types.CodeType = marshal.loads(parts[0])
        return code
    import json
    import zlib

    from . import trees

    tree = trees.decode(json.loads(zlib.decompress(parts[1])))
    return compile(tree, header["name"], "exec", dont_inherit=True, optimize=0)


def _interface() -> int:
    from stanlib.backend import ABI_VERSION

    return ABI_VERSION


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_text(text: str) -> str:
    return _digest(text.encode())
