"""Where an error came from, as far as it tells whoever reads it something."""
from __future__ import annotations

from types import TracebackType

from .errors import StanError

_INNER = {"stanimport", "stanlib", "numpyro", "pyro", "jax", "torch", "numpy", "scipy", "contextlib", "functools"}


def of_others(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the lines of both packages, and of the libraries that they call."""
    lines, kept = [], None
    while traceback is not None:
        lines.append(traceback)
        traceback = traceback.tb_next
    for line in reversed(lines):
        if line.tb_frame.f_globals.get("__name__", "").partition(".")[0] not in _INNER:
            kept = TracebackType(kept, line.tb_frame, line.tb_lasti, line.tb_lineno)
    return kept


class briefly:
    """Around what users call: a StanError tells of the lines inside only those of others, as of the program."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        if isinstance(error, StanError):
            error.__traceback__ = of_others(traceback)
