"""Programs and their blocks."""
from __future__ import annotations

from stanlib.dataclass import dataclass

from ...source import Span
from .nodes import Node
from .statements import Statement

BLOCKS = (
    "networks", "functions", "data", "transformed data", "parameters", "transformed parameters", "model",
    "generated quantities", "guide parameters", "guide",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProgramBlock(Node):
    name: str
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Program(Node):
    """The blocks that are there, in the order of the text."""

    blocks: tuple[ProgramBlock, ...]
    span: Span

    def block(self, name: str) -> ProgramBlock | None:
        return next((b for b in self.blocks if b.name == name), None)
