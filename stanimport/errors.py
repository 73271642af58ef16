"""Diagnostics, and the errors that carry them: what is wrong, the Stan line with a caret, what was expected."""
from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence

from stanlib.dataclass import dataclass
from stanlib.errors import (
    MissingLibraryError,
    StanDataError,
    StanDomainError,
    StanError,
    StanFatalError,
    StanIndexError,
    StanReject,
)  # fmt: skip

from .source import Span, include_chain

__all__ = [
    "Diagnostic", "Diagnostics", "InternalError", "MissingLibraryError", "StanDataError", "StanDeprecationWarning",
    "StanDomainError", "StanError", "StanFatalError", "StanIndexError", "StanReject", "StanSemanticError",
    "StanSyntaxError", "StanWarning", "nearest", "record", "render", "warn",
]  # fmt: skip


_OURS = ("stanimport", "stanlib", "contextlib", "functools")  # the last two call what they decorate


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the program that called this package, through however many of its functions."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class StanWarning(UserWarning):
    """A Stan program that is accepted but probably not what was meant."""


class StanDeprecationWarning(StanWarning):
    """A Stan program that uses what newer versions of Stan have removed."""


@dataclass(frozen=True)
class Diagnostic:
    """One complaint. `severity` is "error", "warning" or "deprecation"; `hint` says what to do.

    `upgrade` is what a deprecation writes today where its span is: a name, or the operator of an expression.
    """

    message: str
    span: Span
    hint: str = ""
    severity: str = "error"
    code: str = ""
    upgrade: str = ""

    @property
    def line(self) -> int:
        return self.span.line

    @property
    def column(self) -> int:
        return self.span.column

    @property
    def filename(self) -> str:
        return self.span.source.name

    def __str__(self) -> str:
        return render(self)


def render(d: Diagnostic) -> str:
    """A diagnostic as text: place, message, source line with a caret, hint, chain of includes."""
    line, column = d.span.source.position(d.span.start)
    text = d.span.source.line(line)
    width = max(1, min(d.span.end - d.span.start, len(text) - column + 1))
    indent = "".join("\t" if c == "\t" else " " for c in text[: column - 1])
    number = str(line)
    lines = [
        f"{d.filename}:{line}:{column}: {d.severity}: {d.message}",
        f"  {number} | {text}",
        f"  {' ' * len(number)} | {indent}{'^' * width}",
    ]
    if d.hint:
        lines.append(f"  {d.hint}")
    for at in include_chain(d.span):
        lines.append(f"  {_included(at)}")
    return "\n".join(lines)


def record(d: Diagnostic) -> dict[str, object]:
    """A diagnostic for editors: lines and columns from 1, the end exclusive, the chain of includes innermost first."""
    line, column = d.span.source.position(d.span.start)
    end_line, end_column = d.span.source.position(max(d.span.end, d.span.start + 1))
    return {
        "file": d.filename, "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "severity": d.severity, "code": d.code, "message": d.message, "hint": d.hint,
        "included_from": [{"file": at.source.name, "line": at.line} for at in include_chain(d.span)],
    }  # fmt: skip


class _ProgramError(StanError, SyntaxError):
    """An error in a program: a SyntaxError whose file, line and text are Stan's."""

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0]
        source, (line, column) = first.span.source, first.span.source.position(first.span.start)
        end = source.position(max(first.span.end, first.span.start + 1))
        text = source.line(line)
        end_column = end[1] if end[0] == line else len(text) + 1
        super().__init__(first.message, (source.name, line, column, text, line, end_column))
        for note in _notes(self.diagnostics):
            self.add_note(note)

    def __str__(self) -> str:
        return "\n".join(map(render, self.diagnostics))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.diagnostics,))


def _notes(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """What Python does not show of errors in programs: a hint, the chain of includes, and all errors but the first."""
    first, *others = diagnostics
    notes = [first.hint] if first.hint else []
    notes += [_included(at) for at in include_chain(first.span)]
    return notes + [render(d) for d in others]


def _included(at: Span) -> str:
    return f"included from {at.source.name}:{at.line}"


class StanSyntaxError(_ProgramError):
    """The text is not a Stan program."""


class StanSemanticError(_ProgramError):
    """The program breaks one of Stan's rules: types, scopes, blocks, unknown names, ..."""


class SettingError(ValueError):
    """A setting that there isn't, or that has a value that it can't have, from the caller or the environment."""


class UnknownPass(ValueError):
    """A stage or pass of the translation that there isn't, or that can't be left out."""


class InternalError(RuntimeError):
    """A defect of stanimport itself, not of the program."""

    def __init__(self, message: str):
        super().__init__(f"{message}. This is a defect of stanimport: please report it with the program")


class Diagnostics:
    """The list that the stages of one translation write to."""

    def __init__(self) -> None:
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    def error(self, message: str, span: Span, hint: str = "", code: str = "") -> None:
        self.errors.append(Diagnostic(message, span, hint, "error", code))

    def warn(self, message: str, span: Span, hint: str = "", severity: str = "warning", code: str = "") -> None:
        self.warnings.append(Diagnostic(message, span, hint, severity, code))

    def deprecate(self, message: str, span: Span, hint: str = "", upgrade: str = "") -> None:
        self.warnings.append(Diagnostic(message, span, hint, "deprecation", "deprecated", upgrade))


def nearest(name: str, known: Iterable[str], cutoff: float = 0.7) -> str | None:
    """The known name that a misspelt one most resembles, or None; one in other letters' case before all others.

    `n` is no misspelt `N`, as it may be meant for the variable of a loop that has ended.
    """
    known = list(known)
    same = [k for k in known if k.casefold() == name.casefold()]
    if same and (len(name) > 1 or name.isupper()):
        return same[0]
    found = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return found[0] if found else None
