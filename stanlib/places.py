"""Where in the Stan text errors arise.

Generated code stands at the lines and columns of its Stan text, so that its innermost frame in a traceback tells the
place. Whatever an array library raises there becomes an error of this package. Densities that a backend computes
later, when the generated function has returned, keep the place of their statement.
"""
from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING

from .errors import (
    Place,
    StanDataError,
    StanDerivativeError,
    StanError,
    StanIndexError,
    StanRuntimeError,
    StanTracingError,
    StanUnsupportedError,
)

if TYPE_CHECKING:
    from .metadata import Program

Handle = tuple["Program", CodeType, int]  # a program, and an instruction of its code

_running: ContextVar[tuple[Program, str] | None] = ContextVar("running", default=None)
_MISFITS = (  # what the array libraries say of operands whose sizes differ
    "dot_general requires contracting", "ncompatible shapes for broadcasting", "could not be broadcast together",
    "size mismatch", "shapes cannot be multiplied", "mismatch in its core dimension", "must match the size of tensor",
    "inconsistent tensor size", "cannot be broadcast to a single shape",
)  # fmt: skip
_FIRST_ORDER = "forward-mode autodiff (jvp) to a custom_vjp"  # what JAX says of what has derivatives in reverse alone
_ARGUMENT = re.compile(r"depends on the values? of the arguments? (.+)\.$", re.MULTILINE)  # what JAX says of a tracer
_ENDS = re.compile(r"\r\n|\r|\n")  # of lines
_PASSED_ON = ("pyro.", "numpyro.")  # their handlers leave a model by exceptions


class running:
    """Around a call of a generated function: what is raised inside becomes a StanError that tells the Stan text.

    Raises:
        StanRuntimeError: for errors of Python and the array libraries, which are its cause.
    """

    __slots__ = ("program", "filename", "token")

    def __init__(self, function: Callable[..., object], program: Program):
        self.program, self.filename = program, function.__code__.co_filename

    def __enter__(self) -> None:
        self.token = _running.set((self.program, self.filename))

    def __exit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        _running.reset(self.token)
        if isinstance(error, StanError):
            _locate(error, _innermost(self.program, self.filename, traceback))
        elif isinstance(error, Exception) and not _is_passed_on(error):
            made = _translated(error)
            _locate(made, _innermost(self.program, self.filename, traceback))
            raise made from error


def here() -> Handle | None:
    """The place of the generated code that is running, to be told later."""
    found = _running.get()
    if found is None:
        return None
    program, filename = found
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return None if frame is None else (program, frame.f_code, frame.f_lasti)


class blamed:
    """Around what is computed later for a statement: errors tell its place."""

    __slots__ = ("handle",)

    def __init__(self, handle: Handle | None):  # written out: every density enters one
        self.handle = handle

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, Exception):
            return
        place = None if self.handle is None else place_of(*self.handle)
        if isinstance(error, StanError):
            _locate(error, place)
        elif self.handle is not None and not _is_passed_on(error):
            made = _translated(error)
            _locate(made, place)
            raise made from error


def _is_passed_on(error: Exception) -> bool:
    """Whether an exception is a signal and no error: of effect handlers, of the end of the time, a warning to raise."""
    return isinstance(error, (Warning, TimeoutError)) or type(error).__module__.startswith(_PASSED_ON)


def _translated(error: Exception) -> StanError:
    """The error of this package for one of Python or an array library."""
    if any(c.__name__ == "JAXTypeError" for c in type(error).__mro__):
        return _untraceable(error)
    message = str(error).strip().partition("\n")[0]
    if _FIRST_ORDER in message:
        return StanDerivativeError("something here has first derivatives only, as loops in loops of parameters have")
    if any(words in message for words in _MISFITS):
        return StanIndexError(f"the sizes of the operands don't go together: {message}")
    if isinstance(error, RecursionError):
        return StanRuntimeError("the function calls itself deeper than Python goes: no end was found that data decide")
    kind = StanUnsupportedError if isinstance(error, NotImplementedError) else StanRuntimeError
    return kind(f"{type(error).__name__}: {message}" if message else type(error).__name__)


def _untraceable(error: Exception) -> StanError:
    """The error for a value that JAX traces where it must be known, with the argument from which it comes."""
    made = StanTracingError(
        "a value that is known only at run time decides a size or a choice here: this can't be compiled"
    )
    if found := _ARGUMENT.search(str(error)):
        made.add_note(
            f"The value depends on {found[1]}, an argument of what is compiled. Data that decide about sizes must be "
            "bound before: jax.jit(functools.partial(f, **data)), and not jit_model_args=True."
        )
    return made


def _locate(error: StanError, place: Place | None) -> None:
    if place is not None and error.place is None and not isinstance(error, StanDataError):
        error.place = place


def _innermost(program: Program, filename: str, traceback: TracebackType | None) -> Place | None:
    """The place of the innermost frame of generated code in a traceback."""
    found = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == filename:
            found = traceback.tb_frame.f_code, traceback.tb_lasti
        traceback = traceback.tb_next
    return None if found is None else place_of(program, *found)


def place_of(program: Program, code: CodeType, instruction: int) -> Place | None:
    """The Stan text that an instruction of generated code stands for."""
    positions = list(code.co_positions())
    line, end_line, column, end_column = positions[instruction // 2]
    if line is None:
        return None
    text = "".join(_ENDS.split(program.source)[line - 1 : line])
    if not text or column is None or end_column is None:
        return Place(program.filename, line, 0, text.strip())
    if column > len(text):
        behind, directive = len(text) + 1, Place(program.filename, line, text=text.strip())
        return _included(program.includes, column - behind, end_column - behind, directive)
    quoted = text[column : end_column if end_line == line else None].strip()
    return Place(program.filename, line, column + 1, quoted)


def _included(includes: Sequence[tuple[str, str]], start: int, end: int, directive: Place) -> Place:
    """The place of characters [start, end) of the texts of all included files: see `stanimport.emit.asty`."""
    for name, text in includes:
        if start <= len(text):
            *before, last = _ENDS.split(text[:start])
            quoted, *_ = _ENDS.split(text[start:end])
            return Place(name, len(before) + 1, len(last) + 1, quoted.strip(), directive)
        start, end = start - len(text) - 1, end - len(text) - 1
    return directive
