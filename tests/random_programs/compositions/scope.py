"""What a composition has declared, and the numbers and texts that its parts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..choices import Choices

Lines = list[str]


@dataclass(frozen=True)
class Shape:
    """A type: `base` in arrays; `arrays` and `sizes`, those of a vector or matrix, are texts of sizes.

    `values` are the sizes as numbers, those of arrays first.
    """

    base: str = "real"
    arrays: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    values: tuple[int, ...] = ()

    def declared(self, name: str, constraint: str = "") -> str:
        """`array[2] vector<lower=0>[3] name`."""
        own = f"[{', '.join(self.sizes)}]" if self.sizes else ""
        arrays = f"array[{', '.join(self.arrays)}] " if self.arrays else ""
        return f"{arrays}{self.base}{constraint}{own} {name}"

    @property
    def unsized(self) -> str:
        return f"array[{',' * (len(self.arrays) - 1)}] {self.base}" if self.arrays else self.base

    @property
    def element(self) -> "Shape":
        return Shape(self.base, (), self.sizes, self.values[len(self.arrays) :])

    @property
    def is_empty(self) -> bool:
        return 0 in self.values


@dataclass
class Program:
    """The blocks of a program while it is made, with its data.

    `reals` are texts of finite reals of parameters, moderate in size; `size_n` and `size_k` the numbers of rows and
    columns, where a topic has one of each.
    """

    choices: Choices
    data: dict[str, Any] = field(default_factory=dict)
    blocks: dict[str, Lines] = field(default_factory=dict)
    reals: list[str] = field(default_factory=list)
    count: int = 0
    size_n: int = 0
    size_k: int = 0

    def add(self, block: str, *lines: str) -> None:
        self.blocks.setdefault(block, []).extend(lines)

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def size(self, low: int = 0, high: int = 3) -> tuple[str, int]:
        """A size of the data, or a literal; 2 is the simplest."""
        value = self.choices.pick([v for v in (2, 3, 1, 0) if low <= v <= high])
        if self.choices.chance(50):
            return str(value), value
        name = self.fresh("N")
        self.add("data", f"int {name};")
        self.data[name] = value
        return name, value

    def datum(self, shape: Shape, value: Any = None) -> str:
        """The name of a new variable of the data block."""
        name = self.fresh("d")
        self.add("data", shape.declared(name) + ";")
        self.data[name] = value if value is not None else drawn(self.choices, shape.values)
        return name

    def real(self) -> str:
        """A real of parameters, between -2 and 2 or so."""
        return self.choices.pick([*self.reals, "0.3"])


def drawn(c: Choices, sizes: Sequence[int]) -> Any:
    """Numbers of these sizes."""
    if not sizes:
        return (c.below(31) - 12) / 10
    return [drawn(c, sizes[1:]) for _ in range(sizes[0])]
