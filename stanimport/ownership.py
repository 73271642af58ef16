"""Which files nobody but the user can have written: code is read from no others.

On POSIX systems owners and permissions tell. Elsewhere nothing is checked: the user's cache folder on Windows lies in
the user's profile, which other users can't write by default.
"""
from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

POSIX = os.name == "posix"
_SYSTEM = 0  # the superuser, who can write everywhere anyway
_LINKS = 40  # as many as Linux follows


def why_not_private(folder: Path) -> str:
    """Why somebody else could have put a file into a folder, or the folder into its place; nothing if nobody could.

    Raises:
        OSError: if there is no such folder.
    """
    if not POSIX:
        return ""
    *above, (last, status) = _way(folder)
    for step, found in above:
        reason = _shared(step, found, sticky=True)
        if reason:
            return reason
    if status.st_uid != os.geteuid():
        return f"{last} belongs to another user"
    return _shared(last, status, sticky=False)


def read_private(path: Path) -> bytes | None:
    """The content of a file in a private folder, if it belongs to the user and nobody else can write it; else None.

    Raises:
        OSError: if there is no such file, or it can't be read.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as f:
        found = os.fstat(f.fileno())
        if POSIX and (not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or _writable(found)):
            return None
        return f.read()


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the user alone. Raises OSError."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)


def _way(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The folders and links that lead to a path, from the root on, and what lies there at the end."""
    at = Path(path.absolute().anchor)
    waiting, links = list(reversed(path.absolute().parts[1:])), 0
    yield at, at.lstat()
    while waiting:
        part = waiting.pop()
        step = at.parent if part == ".." else at / part
        status = step.lstat()
        yield step, status
        if not stat.S_ISLNK(status.st_mode):
            at = step
            continue
        links += 1
        if links > _LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = Path(os.readlink(step))
        at = Path(target.anchor) if target.is_absolute() else at
        waiting += reversed(target.parts[1:] if target.is_absolute() else target.parts)


def _shared(path: Path, found: os.stat_result, sticky: bool) -> str:
    """Why somebody else can replace what lies in a folder; in a sticky one only its owner can."""
    if found.st_uid not in (os.geteuid(), _SYSTEM):
        return f"{path} belongs to another user"
    if not stat.S_ISLNK(found.st_mode) and _writable(found) and not (sticky and found.st_mode & stat.S_ISVTX):
        return f"others can write in {path}"
    return ""


def _writable(found: os.stat_result) -> bool:
    """Whether others can write, a group among them unless it is the user's own."""
    group = found.st_mode & stat.S_IWGRP and not _is_own_group(found.st_gid)
    return bool(found.st_mode & stat.S_IWOTH or group)


def _is_own_group(group: int) -> bool:
    """Whether a group is the one that many systems make for each user alone."""
    if group != os.geteuid():
        return False
    import grp
    import pwd

    try:
        return set(grp.getgrgid(group).gr_mem) <= {pwd.getpwuid(os.geteuid()).pw_name}
    except KeyError:
        return False
