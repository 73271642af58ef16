"""The shell's commands, one module each: `EXAMPLES`, `add_arguments(parser)`, `run(options)`; imported when called."""
from __future__ import annotations

import argparse
import importlib
from types import ModuleType

COMMANDS = {
    "check": "check programs without translating them",
    "format": "print programs in stanc's layout, or write them so",
    "lsp": "serve editors: errors as you type, completion, definitions, documentation",
    "translate": "print the Python that a program becomes",
    "info": "list a program's variables, or the versions installed",
    "sample": "draw from the posterior by NUTS",
    "optimize": "find the mode of the posterior, or the maximum likelihood",
    "variational": "fit an approximation by stochastic variational inference",
    "pathfinder": "draw from an approximation found along optimization paths",
    "laplace": "draw from the normal approximation at the mode",
    "generate": "run generated quantities for the draws of a saved fit",
    "summary": "print the table of a saved fit",
    "diagnose": "tell what is wrong with the draws of a saved fit",
    "plot": "save a picture of a saved fit",
    "loo": "estimate how well a saved fit predicts, by leave-one-out cross-validation",
    "compare": "rank saved fits by how well they predict",
    "compile": "translate the programs of a package ahead of time",
    "stubs": "write .pyi files for editors and type checkers",
    "cache": "tell the size of the caches, or clear them",
}


def load(name: str) -> ModuleType:
    """The module of a command."""
    return importlib.import_module(f"{__name__}.{name}")


def parser_of(
    name: str, parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser
) -> argparse.ArgumentParser:  # fmt: skip
    """The parser of one command's arguments."""
    command = load(name)
    epilog = "examples:\n" + "\n".join(f"  stanimport {line}" for line in command.EXAMPLES)
    parser = parser_class(
        prog=f"stanimport {name}", description=f"{COMMANDS[name].capitalize()}.", epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    command.add_arguments(parser)
    parser.set_defaults(run=command.run)
    return parser
