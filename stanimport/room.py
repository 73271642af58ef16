"""Room for deep programs: on Python's stack, and without a search for cycles among nodes."""
from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_RECURSION_LIMIT = 20_000  # deep enough for programs as deep as the parser lets through


class _Room:
    """How many translations run; before the first the limit of recursion, and whether garbage was collected."""

    lock, users, limit, collects = threading.Lock(), 0, 0, True


@contextmanager
def deep() -> Iterator[None]:
    """Room on Python's stack for recursion over deep programs, and no search for cycles among nodes that have none.

    Both are one for all threads. For long programs the garbage collector would take a third of the time.
    """
    with _Room.lock:
        if not _Room.users:
            _Room.limit, _Room.collects = sys.getrecursionlimit(), gc.isenabled()
            sys.setrecursionlimit(max(_Room.limit, _RECURSION_LIMIT))
            gc.disable()
        _Room.users += 1
    try:
        yield
    finally:
        with _Room.lock:
            _Room.users -= 1
            if not _Room.users:
                sys.setrecursionlimit(_Room.limit)
                if _Room.collects:
                    gc.enable()
