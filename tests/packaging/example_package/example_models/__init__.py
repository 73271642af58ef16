"""Stan programs that ship in a wheel."""
from __future__ import annotations

import importlib.resources
import json
from typing import Any

import stanimport  # noqa: F401  (installs the import hook)


def data(name: str) -> dict[str, Any]:
    """The data set that ships beside a program."""
    text = importlib.resources.files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
