"""Files that are whole or not there, and what libraries read binary ones from."""
from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from ... import files


def atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file beside `path`, then move it there; what was there before stays if it fails.

    Raises:
        OSError: naming the path, for a disk that is full or a place that can't be written.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.", suffix=path.suffix)
        os.close(descriptor)
    except OSError as e:
        raise OSError(e.errno, f"can't be written: {e.strerror}", str(path)) from None
    temporary = Path(name)
    try:
        write(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as e:
        temporary.unlink(missing_ok=True)
        if isinstance(e, (OSError, RuntimeError)):  # HDF5 reports a full disk as a RuntimeError too
            code = getattr(e, "errno", None) or errno.EIO
            raise OSError(code, f"can't be written, nothing is kept of it: {e}", str(path)) from e
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def readable(path: Path) -> Path | io.BytesIO:
    """What libraries read a binary file from: its path, or, of a file inside an archive, its content.

    Raises:
        OSError: if a file inside an archive can't be read.
    """
    return path if path.exists() or not files.is_file(path) else io.BytesIO(files.read_bytes(path))
