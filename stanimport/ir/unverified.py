"""The error of a program in the middle that breaks a promise."""
from __future__ import annotations

from typing import NoReturn

from ..source import Span


class Unverified(AssertionError):
    """A pass has broken a promise."""


def fail(node: object, reason: str) -> NoReturn:
    where = getattr(node, "span", None)
    line = f" in line {where.in_main().line}" if isinstance(where, Span) else ""
    raise Unverified(f"{type(node).__name__}{line}: {reason}")
