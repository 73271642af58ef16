"""Interrupts (Ctrl-C), and the end of the time that there is, at safe places alone.

Python raises KeyboardInterrupt wherever the main thread happens to be. In the initialization of an extension module it
becomes an ImportError; in a callback of the garbage collector, of which JAX has one, it is printed and forgotten, and
sampling goes on. So while the functions of this package run, an interrupt is noted, and raised where it can do no harm:
between runs of compiled programs, while the main thread waits for them, and at the next line of a program that is
traced. Who interrupts twice is not kept waiting.
"""
from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, TypeVar

from stanlib.metadata import Program

T = TypeVar("T")
INTERVAL = 0.1  # seconds after which a wait looks for an interrupt


class _Noted:
    """Whether there was an interrupt, and what handles it."""

    pending = False
    handler: Any = None


def _note(number: int, frame: FrameType | None) -> None:
    """Note an interrupt, and let the next line of a program handle it."""
    if _Noted.pending:
        _settle()
        _Noted.handler(number, frame)
    _Noted.pending = True
    if sys.gettrace() is None:  # else a debugger has it
        while frame is not None and not _is_of_program(frame):
            frame = frame.f_back
        if frame is not None:
            frame.f_trace = _at_line
        sys.settrace(_at_call)


def _settle() -> None:
    """An interrupt waits no longer."""
    _Noted.pending = False
    if sys.gettrace() is _at_call:
        sys.settrace(None)


def _is_of_program(frame: FrameType) -> bool:
    """The code of a program is a safe place; the libraries' that it calls is none."""
    return isinstance(frame.f_globals.get("stan"), Program)


def _at_call(frame: FrameType, event: str, argument: object) -> Any:
    """Python calls this for every function that begins: those of a program are looked at line by line."""
    return _at_line if _is_of_program(frame) else None


def _at_line(frame: FrameType, event: str, argument: object) -> Any:
    if event == "line":
        frame.f_trace = None
        check()
    return _at_line


@contextmanager
def collected() -> Iterator[None]:
    """Inside, an interrupt waits for the next `check`, or for the end."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler) or handler is _note:
        yield
        return
    _Noted.handler, _Noted.pending = handler, False
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if sys.gettrace() is _at_call:
            sys.settrace(None)
        check()


@contextmanager
def immediate() -> Iterator[None]:
    """Inside, an interrupt is handled at once: for loops of other packages, which know nothing of `check`."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not _note:
        yield
        return
    check()
    signal.signal(signal.SIGINT, _Noted.handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _note)


_DEADLINE: ContextVar[float | None] = ContextVar("stanimport_deadline", default=None)
_ENDED: ContextVar[Callable[[], bool] | None] = ContextVar("stanimport_ended", default=None)


@contextmanager
def ended_if(is_ended: Callable[[], bool]) -> Iterator[None]:
    """Inside, a `check` of this thread raises KeyboardInterrupt once that is so."""
    token = _ENDED.set(is_ended)
    try:
        yield
    finally:
        _ENDED.reset(token)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Inside, the first `check` of this thread after so many seconds raises TimeoutError; None for no end.

    In the main thread, where there are such signals, a program's own code is ended then too: it may loop for ever.
    """
    token = _DEADLINE.set(None if seconds is None else time.monotonic() + seconds)
    try:
        with contextlib.nullcontext() if seconds is None else _alarm(seconds):
            yield
    finally:
        _DEADLINE.reset(token)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Inside, what runs after so many seconds is looked at again and again, unless alarms are somebody else's."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGALRM, _look)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, INTERVAL), INTERVAL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _look(number: int, frame: FrameType | None) -> None:
    if frame is not None and _is_of_program(frame):
        check()


def check() -> None:
    """Handle an interrupt that was noted. Raises KeyboardInterrupt, unless the caller has another handler for it.

    Raises TimeoutError after the deadline, and KeyboardInterrupt in a thread whose work is to end.
    """
    end, is_ended = _DEADLINE.get(), _ENDED.get()
    if end is not None and time.monotonic() > end:
        raise TimeoutError("the time that was given is over")
    if is_ended is not None and is_ended():
        raise KeyboardInterrupt
    if _Noted.pending and threading.current_thread() is threading.main_thread():
        _settle()
        _Noted.handler(signal.SIGINT, sys._getframe())


def result_of(future: Future[T]) -> T:
    """The result of a future; waiting for it can be interrupted."""
    while True:
        check()
        try:
            return future.result(INTERVAL)
        except NotYet:
            if future.done():  # then it is the future's own
                return future.result()
