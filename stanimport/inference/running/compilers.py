"""Threads that compile, for which a program that Ctrl-C ends does not wait.

XLA can't be stopped while it compiles, and Python waits at its end for the threads of its pools: for minutes where a
program is large. For these it does not. A program that ends otherwise waits for them here, so that what they compile is
stored. One that ends by an interrupt that nobody handled leaves as Python does, after the functions of `atexit` by the
signal, but at once.
"""
from __future__ import annotations

import atexit
import contextlib
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
_INTERRUPTED_ON_WINDOWS = 0xC000013A  # what Python returns there


class Compilers:
    """A pool of threads like `ThreadPoolExecutor`, for which Python does not wait."""

    def __init__(self, count: int):
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._missing, self._lock = count, threading.Lock()

    def submit(self, function: Callable[P, T], *args: P.args, **options: P.kwargs) -> Future[T]:
        """What the function will return."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(function(*args, **options))
            except BaseException as e:
                future.set_exception(e)

        _End.unfinished.add(future)
        future.add_done_callback(_End.unfinished.discard)
        _be_first_at_the_end()
        self._tasks.put(run)
        self._start()
        return future

    def _start(self) -> None:
        """Start another thread, if there may be more."""
        with self._lock:
            self._missing -= 1
            if self._missing >= 0:
                threading.Thread(target=self._work, name=f"stanimport-compile_{self._missing}", daemon=True).start()

    def _work(self) -> None:
        while True:
            self._tasks.get()()


class _End:
    """What is to be waited for at the end, and how many functions of `atexit` there were with ours the last of them."""

    unfinished: set[Future[Any]] = set()
    functions: int | None = None


def _registered() -> int | None:
    count: Callable[[], int] | None = getattr(atexit, "_ncallbacks", None)
    return None if count is None else count()


def _be_first_at_the_end() -> None:
    """Register `_end` behind all others: what is registered last is called first."""
    if _End.functions is None or _End.functions != _registered():
        atexit.unregister(_end)
        atexit.register(_end)
        _End.functions = _registered()


def _end() -> None:
    """Wait for what is compiled, or leave."""
    if not _End.unfinished:
        return
    if _is_interrupted() and _End.functions is not None and _End.functions == _registered():
        atexit.unregister(_end)
        atexit._run_exitfuncs()  # those of others, all of which are still to come
        _leave()
    try:
        wait(list(_End.unfinished))
    except KeyboardInterrupt:
        _leave()


def _is_interrupted() -> bool:
    """Whether Python ends because of an interrupt that nobody handled; at a prompt one may be long ago."""
    at_prompt = hasattr(sys, "ps1") or sys.flags.inspect or sys.flags.interactive
    return getattr(sys, "last_type", None) is KeyboardInterrupt and not at_prompt


def _leave() -> None:
    """End the process as Python does after an interrupt, with everything written that waits in buffers."""
    for file in [f for f in gc.get_objects() if issubclass(type(f), io.IOBase)]:
        with contextlib.suppress(Exception):
            file.flush()
    if os.name == "posix":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(_INTERRUPTED_ON_WINDOWS)
