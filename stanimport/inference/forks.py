"""Processes that were forked off one in which XLA had run: its threads stayed behind, and they would wait for them."""
from __future__ import annotations

import os

from stanlib.errors import StanError


class _State:
    ran, stranded = False, False


def note() -> None:
    """XLA has been started in this process."""
    _State.ran = True


def verify() -> None:
    """Raise StanError in a process that would wait for ever."""
    if _State.stranded:
        raise StanError("this process was forked off one in which JAX had run, and would wait for its threads "
                        "for ever: start worker processes by 'spawn' or 'forkserver'")  # fmt: skip


def _begin() -> None:
    """In a forked process."""
    _State.stranded = _State.stranded or _State.ran


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)
