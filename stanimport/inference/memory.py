"""What draws need of memory or disk, known before they are made: a run that needs more says so at once."""
from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stanlib.errors import StanError

_SHOWN = 3  # of the largest variables
_LEAST = 2**28  # bytes below which nobody asks
_LIMITS = (("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
           ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"))  # fmt: skip


class NotEnoughMemoryError(StanError, MemoryError):
    """Draws that memory or disk can't hold."""


def require(sizes: Mapping[str, int], draws: int, advice: str, folder: Path | None = None) -> None:
    """See to it that there is room for draws.

    Args:
        sizes: bytes of each variable of one draw.
        draws: how many of them.
        advice: what needs less.
        folder: where their files go; None for memory.

    Raises:
        NotEnoughMemoryError: if there is none; it names the largest variables.
    """
    needed = draws * sum(sizes.values())
    free = None if needed < _LEAST else memory() if folder is None else disk(folder)
    if free is None or needed <= free:
        return
    largest = sorted(sizes, key=lambda n: -sizes[n])[:_SHOWN]
    named = ", ".join(f"{n} {shown(sizes[n])}" for n in largest)
    where = "memory" if folder is None else f"disk ({folder})"
    raise NotEnoughMemoryError(
        f"{draws:,} draws need {shown(needed)} of {where}, where {shown(free)} are free: {shown(sum(sizes.values()))} "
        f"each, of which {named}. {advice}"
    )


def give_back() -> None:
    """Let the system have what was freed and the allocator keeps: glibc's keeps what lay between arrays still used."""
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def shown(size: float) -> str:
    """Bytes as a person reads them."""
    units = ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        del units[0]
    return f"{size:.0f} {units[0]}" if units[0] == "bytes" or size >= 100 else f"{size:.3g} {units[0]}"


def memory() -> int | None:
    """Bytes that this process can still have, by what the system and its control group say; None if neither does."""
    found = [left for left in (_system(), *(_group(*names) for names in _LIMITS)) if left is not None]
    return min(found) if found else None


def disk(folder: Path) -> int:
    """Free bytes where a folder is, or is to be."""
    there = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    return shutil.disk_usage(there).free


def _system() -> int | None:
    """Bytes that the system has available, or all that it has if it does not say; None if it tells neither."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:  # all there is: better than nothing where the system does not say what is free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _group(limit: str, used: str) -> int | None:
    try:
        return int(Path(limit).read_text()) - int(Path(used).read_text()) + _pages_of_files(Path(used).parent)
    except (OSError, ValueError):  # there is no such group, or it has no limit ("max")
        return None


def _pages_of_files(group: Path) -> int:
    """Bytes of files that a group has in memory, data in memory maps among them: they make room when it is needed."""
    try:
        found = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except OSError:
        return 0
    own = "total_" if "total_inactive_file" in found else ""  # with the groups below it, in the first version
    return sum(int(found.get(f"{own}{kind}_file", 0)) for kind in ("active", "inactive"))
