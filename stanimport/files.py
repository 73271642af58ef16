"""Reading files that may lie inside a zip archive on the module path, and writing files whole or not at all."""
from __future__ import annotations

import codecs
import hashlib
import os
import pkgutil
import zipimport
from pathlib import Path
from typing import Any


def read_bytes(path: Path) -> bytes:
    """The content of a file, also of one inside an archive ("models.zip/pkg/coin.stan").

    Raises:
        OSError: if there is no such file, or it can't be read.
    """
    try:
        return path.read_bytes()
    except OSError:
        archive = archive_of(path)
        if archive is None:
            raise
        return archive.get_data(str(path))


def as_path(given: Any) -> Any:
    """What was given; for a file in an archive as `importlib.resources.files` has it, which is no path, one that is."""
    return Path(str(given)) if type(given).__module__.partition(".")[0] == "zipfile" else given


def as_paths(given: Any) -> Any:
    """`as_path`, also of each in a list."""
    return [as_path(one) for one in given] if type(given) in (list, tuple) else as_path(given)


def program_text(content: bytes) -> str:
    """The text of a Stan program: UTF-8, where bytes that are none count as Latin-1.

    Stan allows any bytes in comments and strings, and old programs have Latin-1 there; elsewhere the lexer refuses what
    comes out.

    Raises:
        UnicodeDecodeError: if it is none of both, as UTF-16 is, whose bytes are 0 for half of a program.
    """
    errors = "strict" if b"\0" in content else "stanimport_latin1"
    return content.decode("utf-8-sig", errors)


def _as_latin1(e: UnicodeError) -> tuple[str, int]:
    if not isinstance(e, UnicodeDecodeError):
        raise e
    return e.object[e.start : e.end].decode("latin-1"), e.end


codecs.register_error("stanimport_latin1", _as_latin1)


def digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def state(path: Path) -> bytes:
    """The digest of a file's content; nothing for a file that is not there or can't be read."""
    try:
        return digest(read_bytes(path))
    except (OSError, ValueError):
        return b""


def is_file(path: Path) -> bool:
    """Whether a path names a file, on disk or inside an archive; no file has a name too long or with a NUL in it."""
    try:
        if path.is_file():
            return True
        archive = archive_of(path)
        return archive is not None and archive.get_data(str(path)) is not None
    except (OSError, ValueError):
        return False


def archive_of(path: Path) -> zipimport.zipimporter | None:
    """The importer of the archive that a path leads into; None for a path outside of archives."""
    container = next((p for p in path.parents if p.exists()), None)
    if container is None or container.is_dir():
        return None
    importer = pkgutil.get_importer(str(container))
    return importer if isinstance(importer, zipimport.zipimporter) else None


def write(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file whole or not at all: beside its place first, then renamed. `mode` is what the umask leaves of it.

    Raises:
        OSError: naming the file, if it can't be written, for want of space too.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = f"{path}.{os.urandom(8).hex()}"  # the number of a process may be that of one that was killed
    try:
        _create(temporary, content, mode)
        os.replace(temporary, path)
    except OSError as e:
        _remove(temporary)
        raise OSError(e.errno, e.strerror, str(path)) from e
    except BaseException:
        _remove(temporary)
        raise


def _create(path: str, content: bytes, mode: int) -> None:
    # Not tempfile: its files are for their owner alone, and a folder of modules is often shared.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    with os.fdopen(descriptor, "wb") as f:
        f.write(content)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
