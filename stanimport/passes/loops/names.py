"""Fresh names for the variables that passes over loops introduce."""
from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass
class Names:
    """Fresh names for helper variables."""

    count: int = 0

    def new(self, name: str) -> str:
        self.count += 1
        return f"_{re.sub('__[0-9]+$', '', name.lstrip('_'))}_{self.count}"
