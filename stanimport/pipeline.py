"""The one place that knows the order of the stages: source, AST, typed program, GProb, passes, Python."""
from __future__ import annotations

import ast as python_ast
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from . import passes
from .errors import Diagnostic, Diagnostics
from .frontend import ast
from .frontend.checker.program import check as check_types
from .frontend.parser import parse
from .includes import Includes
from .ir.fresh import Fresh
from .middle import comprehensive, generative, gprob, guides, mixed, networks, printer, typed
from .source import Source
from .targets import module
from .targets.module import Options

__all__ = ["Options", "Translation", "analyse", "compile_program", "translate"]

SCHEMES: dict[str, Callable[[typed.TypedProgram, Fresh], gprob.Program]] = {
    "comprehensive": comprehensive.compile, "mixed": mixed.compile, "generative": generative.compile,
}  # fmt: skip
_RECURSION_LIMIT = 20_000  # deep enough for programs as deep as the parser lets through


@dataclass(frozen=True)
class Translation:
    """A translated program: the Python module, its readable text, the warnings, the files that it includes.

    `seen` are the places where includes were looked for, with the digest of what was there, empty for nothing.
    """

    tree: python_ast.Module
    warnings: tuple[Diagnostic, ...]
    files: tuple[Path, ...]
    seen: tuple[tuple[str, bytes], ...] = ()

    @property
    def text(self) -> str:
        with _deep():
            return python_ast.unparse(self.tree) + "\n"


def analyse(
    source: Source, include_paths: Sequence[Path] = (), strict: bool = False
) -> tuple[typed.TypedProgram, Diagnostics, Includes]:
    """Parse and check a program.

    Raises:
        StanSyntaxError, StanSemanticError: with everything that is wrong with it.
    """
    diagnostics, includes = Diagnostics(), Includes(source, include_paths)
    with _deep():
        program = parse(source, includes.resolve, diagnostics, strict)
        return check_types(program, diagnostics, strict), diagnostics, includes


def pedantic_warnings(program: typed.TypedProgram) -> list[Diagnostic]:
    """What a checked program does that is allowed but seldom meant."""
    from .frontend.pedantic import warnings  # most translations don't ask

    return list(warnings(program))


def compile_program(program: typed.TypedProgram, options: Options, names: Fresh) -> gprob.Program:
    """The GProb of a checked program, after all passes; `names` supplies those that they need.

    Raises:
        StanSemanticError: where the scheme can't express the program.
    """
    program, declared = networks.with_lifted_arguments(program)
    made = guides.compile(program, SCHEMES[options.scheme](program, names), names)
    return passes.run(replace(made, networks=declared), names, options.without)


def translate(
    source: Source, name: str, options: Options, include_paths: Sequence[Path] = (), strict: bool = False
) -> Translation:
    """The Python module of a program.

    Raises:
        StanSyntaxError, StanSemanticError: for what is wrong with the program, or not built yet.
    """
    checked, diagnostics, includes = analyse(source, include_paths, strict)
    names = Fresh()
    with _deep():
        tree = module.build(compile_program(checked, options, names), names, source, name, options)
    seen = tuple((str(path), state) for path, state in includes.seen.items())
    return Translation(tree, tuple(diagnostics.warnings), tuple(includes.files), seen)


@contextmanager
def _deep() -> Iterator[None]:
    """Room on Python's stack for recursion over deep programs."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


STAGES = ("ast", "typed", "gprob", "loops", "python")


def dump(stage: str, source: Source, name: str, options: Options, include_paths: Sequence[Path] = ()) -> str:
    """What a stage makes of a program, as text; `stage` is one of STAGES.

    "gprob" shows the program after the passes over the whole of it, "loops" the bodies after those over loops.
    """
    diagnostics, includes = Diagnostics(), Includes(source, include_paths)
    program: ast.Program = parse(source, includes.resolve, diagnostics)
    if stage == "ast":
        return repr(program)
    checked = check_types(program, diagnostics)
    if stage == "typed":
        return repr(checked)
    names = Fresh()
    with _deep():
        if stage == "gprob":
            return printer.program(compile_program(checked, options, names))
        if stage == "loops":
            bodies = module.bodies(compile_program(checked, options, names), names, source, name, options)
            return "\n\n".join(printer.block(b) for b in bodies if b) + "\n"
    return translate(source, name, options, include_paths).text
