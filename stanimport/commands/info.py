"""`stanimport info`: the variables of a program, or what is installed."""
from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

from .. import api, settings
from . import parsing

EXAMPLES = ("info", "info schools.stan", "info schools.stan --json")
PACKAGES = ("jax", "jaxlib", "numpy", "numpyro", "scipy", "ply", "torch", "pyro-ppl", "arviz", "arviz-base", "blackjax",
            "nutpie")  # fmt: skip
BLOCKS = ("data", "transformed_data", "parameters", "transformed_parameters", "generated_quantities")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE.stan")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parsing.add_includes(parser)


def run(options: argparse.Namespace) -> int:
    described = _installed() if options.file is None else _program(options)
    print(json.dumps(described, indent=2) if options.json else _text(described))
    return 0


def _installed() -> dict[str, str]:
    """The versions of Python, stanimport and the packages that it works with, and where the caches are."""
    from .. import __version__

    found = {"stanimport": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found | {"cache": str(settings.user_cache()), "compiled by XLA": str(settings.jit_cache() or "off")}


def _program(options: argparse.Namespace) -> dict[str, object]:
    """The declarations of every block, by variable."""
    stan = api.load(options.file, include_paths=options.include_path).stan
    return {block: {v.name: v.declaration for v in getattr(stan, block)} for block in BLOCKS}


def _text(described: dict[str, Any]) -> str:
    if not any(isinstance(v, dict) for v in described.values()):
        width = max(map(len, described))
        return "\n".join(f"{name:{width}}  {value}" for name, value in described.items())
    lines = []
    for block, variables in described.items():
        if variables:
            lines += [block.replace("_", " "), *(f"  {d}" for d in variables.values())]
    return "\n".join(lines)
