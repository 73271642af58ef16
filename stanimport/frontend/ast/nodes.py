"""What all nodes are, and names."""
from __future__ import annotations

from stanlib.dataclass import dataclass

from ...source import Span


@dataclass(frozen=True, slots=True)
class Node:
    """Base of all nodes."""


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier at one place of the text."""

    text: str
    span: Span
