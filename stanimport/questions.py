"""What is asked of a program beside its translation: of the GProb in which what adds to the target is a statement."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stanlib.batches import Rows
from stanlib.metadata import SIMULATION

from . import pipeline
from .discrete import parameters
from .ir import gprob, outcomes
from .ir.fresh import Fresh
from .ir.typed import TypedProgram
from .room import deep
from .rows import analysis as rows
from .source import Source


def rows_of(
    source: Source, options: pipeline.Options, sizes: Sequence[str], guide: bool = False,
    include_paths: Sequence[Path] = (),
) -> dict[str, Rows]:  # fmt: skip
    """For each of some sizes of the data, what of the model, or guide, depends on its rows.

    Raises:
        StanSemanticError: naming the statements that depend on rows otherwise.
    """
    checked, _, _ = pipeline.analyse(source, include_paths, functions=options.functions)
    found = parameters.declared(checked)
    with deep():
        if found and options.scheme != SIMULATION:
            rows.verify_apart(_explicit(parameters.as_data(checked), options), sizes, found)
        program = _explicit(checked, options)
        return {size: rows.rows_of(program, size, guide) for size in sizes}


def unpredictable(
    source: Source, options: pipeline.Options, guide: bool = False, include_paths: Sequence[Path] = ()
) -> dict[str, str]:
    """The data that a model, or guide, can't draw where it is called with None for them: why, by name."""
    checked, _, _ = pipeline.analyse(source, include_paths, functions=options.functions)
    with deep():
        return outcomes.unpredictable(_explicit(checked, options), guide)


def _explicit(program: TypedProgram, options: pipeline.Options) -> gprob.Program:
    return pipeline.compile_program(program, options, Fresh(), "effects")
