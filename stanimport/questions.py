"""What is asked of a program beside its translation, mostly of GProb in which what adds to the target stands alone."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stanlib.batches import Rows
from stanlib.metadata import POINTWISE, SIMULATION
from stanlib.unobserved import Observations

from . import pipeline
from .discrete import parameters
from .errors import Diagnostics
from .includes import Includes
from .ir import gprob, outcomes
from .ir.fresh import Fresh
from .ir.typed import TypedProgram
from .room import deep
from .rows import analysis as rows
from .schemes import comprehensive, pointwise
from .schemes.unobserved import computed_of_data, lines_of_sites, unobserved
from .source import Source

if TYPE_CHECKING:
    from .frontend.called import Called
    from .frontend.profiles import Profiled


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


def computed_from(
    source: Source, options: pipeline.Options, include_paths: Sequence[Path] = ()
) -> dict[str, frozenset[str]]:  # fmt: skip
    """The transformed data that may depend on the values of each of the data, by name."""
    checked, _, _ = pipeline.analyse(source, include_paths, functions=options.functions)
    with deep():
        return outcomes.computed_from(_explicit(checked, options))


def observations(source: Source, options: pipeline.Options, include_paths: Sequence[Path] = ()) -> Observations:
    """What the log likelihood of a program can tell apart."""
    checked, _, _ = pipeline.analyse(source, include_paths, functions=options.functions)
    with deep():
        given = parameters.as_data(checked)
        differs = pointwise.compile(given, Fresh()).model != comprehensive.compile(given, Fresh()).model
        differs = differs or bool(parameters.declared(checked))
        made = _explicit(given, replace(options, scheme=POINTWISE))
        return Observations(differs, tuple(unobserved(made)), lines_of_sites(made), computed_of_data(made))


def profiled(source: Source, include_paths: Sequence[Path] = ()) -> list[Profiled]:
    """The `profile` blocks of a program, with programs that tell what each costs. Raises StanSyntaxError."""
    from .frontend.profiles import profiles  # only for those who measure

    text = pipeline.formatted(source, include_paths, ("includes",))
    with deep():
        whole = Source(source.name, text)
        return profiles(pipeline.syntax_of(whole, Includes(whole), Diagnostics()), text)


def called(source: Source, include_paths: Sequence[Path] = (), functions: pipeline.Bound = ()) -> Called:
    """What a program calls of the library. Raises StanSyntaxError, StanSemanticError."""
    from .frontend.called import called as called_by  # only for those who ask

    diagnostics = Diagnostics()
    with deep():
        tree = pipeline.syntax_of(source, Includes(source, include_paths), diagnostics)
        return called_by(tree, pipeline.types_of(tree, diagnostics, functions=functions))


def _explicit(program: TypedProgram, options: pipeline.Options) -> gprob.Program:
    return pipeline.compile_program(program, options, Fresh(), "effects")
