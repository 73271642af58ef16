"""Files for libraries that an error of the system takes down in the middle of their work: it is told afterwards."""
from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any


class PatientFile(io.RawIOBase):
    """A new file that takes everything: what can't be written is dropped, and the first error kept.

    HDF5 can't close a file that has no room for its last part, and ends the process. Python's errors don't reach it
    either, for it calls back from C.

    Args:
        path: of the file; what is there is overwritten.

    Attributes:
        error: the first error of the system, None if all is written.

    Raises:
        OSError: if there can be no file.
    """

    def __init__(self, path: Path):
        self._file, self._at = path.open("w+b", buffering=0), 0
        self.error: OSError | None = None

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: os.fstat(self._file.fileno()).st_size}[whence]
        self._at = start + offset
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        self._file.seek(self._at)
        count = self._file.readinto(buffer) or 0
        self._at += count
        return count

    def write(self, content: Any, /) -> int:
        """Write all of it, at once."""
        rest = memoryview(content).cast("B")
        size, start = len(rest), self._at
        self._at += size
        while len(rest) and self.error is None:
            try:
                self._file.seek(start)
                count = self._file.write(rest)
                start, rest = start + count, rest[count:]
            except OSError as e:
                self.error = e
        return size

    def truncate(self, size: int | None = None, /) -> int:
        wanted = self._at if size is None else size
        try:
            self._file.truncate(wanted)
        except OSError as e:
            self.error = self.error or e
        return wanted

    def close(self) -> None:
        self._file.close()
        super().close()
