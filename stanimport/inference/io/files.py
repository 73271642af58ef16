"""Files that are whole or not there."""
from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path


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
