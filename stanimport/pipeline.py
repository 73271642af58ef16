"""The one place that knows the order of the stages (source, AST, typed program, GProb, Python) and of the passes."""
from __future__ import annotations

import ast as python_ast
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stanlib import extensions
from stanlib.metadata import POINTWISE, SIMULATION
from stanlib.registry import Function
from stanlib.types import Type

from . import files
from .discrete import parameters
from .emit import module, text
from .errors import Diagnostic, Diagnostics, StanSyntaxError, UnknownPass, nearest
from .frontend import ast
from .frontend.checker.program import check as check_types
from .frontend.lexer import TokenStream, Trivia
from .frontend.parser import parse
from .includes import Includes
from .ir import gprob, printer, traversal, typed
from .ir.fresh import Fresh
from .ir.phases import Phase
from .ir.targets import TARGETS, Options
from .passes import (
    added,
    control,
    counting,
    effects,
    fusion,
    lasting_sizes,
    normalize,
    predictors,
    specialise,
    target_reads,
)
from .passes.callees import Functions
from .passes.loops import branching, decided, inlining, lanes, positions, sinking, sizes, unfolding, widening
from .passes.surroundings import Prepare, Surroundings, blocks, natural, sizes_of
from .room import deep
from .schemes import comprehensive, generative, guides, mixed, networks, pointwise, simulation
from .source import Source

__all__ = ["Options", "Translation", "analyse", "compile_program", "translate"]

SCHEMES: dict[str, Callable[[typed.TypedProgram, Fresh], gprob.Program]] = {
    "comprehensive": comprehensive.compile, "mixed": mixed.compile, "generative": generative.compile,
    "simulation": simulation.compile, "pointwise": pointwise.compile,
}  # fmt: skip


@dataclass(frozen=True)
class Pass:
    """A pass over the program, or over one body of it.

    `takes` and `gives` are the phases before and after it. One that is `optional` may be left out, for debugging; one
    that is `traced` is only for backends that trace control flow.
    """

    name: str
    run: Callable[..., Any]
    takes: Phase
    gives: Phase
    over_bodies: bool = False
    optional: bool = False
    traced: bool = False


PASSES = (
    # first: fewer forms for all that follow
    Pass("normalize", normalize.run, Phase.COMPILED, Phase.NORMAL),
    # before all that asks for the sizes of a variable
    Pass("lasting_sizes", lasting_sizes.run, Phase.NORMAL, Phase.NORMAL),
    # while densities stand as the program has them
    Pass("fusion", fusion.run, Phase.NORMAL, Phase.NORMAL, optional=True),
    # before anything moves expressions: calls that add to the target become statements
    Pass("effects", effects.run, Phase.NORMAL, Phase.EXPLICIT),
    # all that adds to the target is a statement by now
    Pass("target_reads", target_reads.run, Phase.EXPLICIT, Phase.TRACKED),
    # from here on it is known what depends on data alone; before all that looks into loops
    Pass("inlining", inlining.run, Phase.TRACKED, Phase.TRACKED, over_bodies=True, optional=True),
    # before all that tells loops apart by the shapes in them
    Pass("counting", counting.run, Phase.TRACKED, Phase.TRACKED, over_bodies=True),
    # before all that asks what an iteration needs of those before
    Pass("positions", positions.run, Phase.TRACKED, Phase.TRACKED, over_bodies=True, optional=True),
    # before all that asks what is known while a model is traced
    Pass("decided", decided.run, Phase.TRACKED, Phase.TRACKED, over_bodies=True, optional=True, traced=True),
    # before calls become loops and ranges, which ask for no sizes
    Pass("sizes", sizes.run, Phase.TRACKED, Phase.TRACKED, over_bodies=True),
    # before operations on arrays become loops over the components that each iteration has
    Pass("widening", widening.run, Phase.TRACKED, Phase.TRACKED, over_bodies=True, optional=True),
    # before the others: a loop in which no shape differs any more is traced
    Pass("unfolding", unfolding.run, Phase.TRACKED, Phase.TRACKED, over_bodies=True, optional=True),
    # before loops are looked at, which may not be left from inside
    Pass("control", control.run, Phase.TRACKED, Phase.STRUCTURED, over_bodies=True, traced=True),
    # loops: less in each, then each as a whole
    Pass("branching", branching.run, Phase.STRUCTURED, Phase.STRUCTURED, over_bodies=True, optional=True),
    Pass("sinking", sinking.run, Phase.STRUCTURED, Phase.STRUCTURED, over_bodies=True, optional=True),
    Pass("lanes", lanes.run, Phase.STRUCTURED, Phase.LANES, over_bodies=True, optional=True),
    # last: it hides sums from whoever looks for them
    Pass("predictors", predictors.run, Phase.LANES, Phase.PREDICTORS, over_bodies=True, optional=True, traced=True),
    # once increments and what they are made of are as they stay
    Pass("added", added.run, Phase.PREDICTORS, Phase.PREDICTORS, over_bodies=True, optional=True),
    # which bodies there are, each of which goes through those before; how control flow runs is decided here
    Pass("specialise", specialise.run, Phase.PREDICTORS, Phase.SPECIALISED),
)
*_WHOLE, SPECIALISE = (p for p in PASSES if not p.over_bodies)
OVER_PROGRAM = tuple(_WHOLE)
OVER_BODIES = tuple(p for p in PASSES if p.over_bodies)
OPTIONAL = tuple(p.name for p in PASSES if p.optional)
Bound = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Translation:
    """A translated program: the Python module, its readable text, the warnings, the files that it includes.

    `seen` are the places where includes were looked for, and the files of other packages' functions, with the digest
    of what was there, empty for nothing.
    """

    tree: python_ast.Module
    warnings: tuple[Diagnostic, ...]
    files: tuple[Path, ...]
    seen: tuple[tuple[str, bytes], ...] = ()

    @property
    def text(self) -> str:
        with deep():
            return text.written(self.tree)


def analyse(
    source: Source, include_paths: Sequence[Path] = (), strict: bool = False, functions: Bound = ()
) -> tuple[typed.TypedProgram, Diagnostics, Includes]:
    """Parse and check a program; `functions` are where Python finds those that it declares without a body.

    Raises:
        StanSyntaxError, StanSemanticError: with everything that is wrong with it.
    """
    diagnostics, includes = Diagnostics(), Includes(source, include_paths)
    with deep():
        program = syntax_of(source, includes, diagnostics, strict)
        return types_of(program, diagnostics, strict, functions), diagnostics, includes


def syntax_of(
    source: Source, includes: Includes, diagnostics: Diagnostics, strict: bool = False,
    trivia: list[Trivia] | None = None,
) -> ast.Program:  # fmt: skip
    """The syntax tree of a program; comments and includes are added to `trivia`. Raises StanSyntaxError."""
    return parse(source, includes.resolve, diagnostics, strict, trivia)


def types_of(
    program: ast.Program, diagnostics: Diagnostics, strict: bool = False, functions: Bound = ()
) -> typed.TypedProgram:  # fmt: skip
    """The typed program of a syntax tree. Raises StanSemanticError, which holds what `diagnostics` does."""
    return check_types(program, diagnostics, strict, dict(functions))


def formatted(
    source: Source, include_paths: Sequence[Path] = (), canonicalize: Collection[str] = (), width: int = 78,
    strict: bool = False,
) -> str:  # fmt: skip
    """The text of a program in stanc's layout.

    Raises:
        StanSyntaxError: for a text that is no program.
    """
    from .frontend.formatting import layout  # no translation asks

    with deep():
        return layout.formatted(source, lambda s: Includes(s, include_paths).resolve, canonicalize, width, strict)


def included(source: Source, include_paths: Sequence[Path] = ()) -> list[Path]:
    """The files that a program includes, one behind the other, up to the first that can't be read."""
    found = Includes(source, include_paths)
    tokens = TokenStream(source, found.resolve, Diagnostics(), strict=False)
    try:
        while tokens.token() is not None:
            pass
    except StanSyntaxError:
        pass
    return found.files


def pedantic_warnings(program: typed.TypedProgram) -> list[Diagnostic]:
    """What a checked program does that is allowed but seldom meant."""
    from .frontend.pedantic import warnings  # most translations don't ask

    return list(warnings(program))


def _without_discrete(
    program: typed.TypedProgram, names: Fresh, scheme: str
) -> tuple[typed.TypedProgram, tuple[gprob.Declare, ...]]:
    """The program without its discrete parameters, and their declarations; what sums them out loads for them alone."""
    if not parameters.declared(program):
        return program, ()
    from .discrete.ancestral import drawn_from_laws
    from .discrete.compile import summed_out

    return drawn_from_laws(program, names) if scheme == SIMULATION else summed_out(program, names, scheme == POINTWISE)


def compile_program(
    program: typed.TypedProgram, options: Options, names: Fresh, last: str = OVER_PROGRAM[-1].name
) -> gprob.Program:
    """The GProb of a checked program, after the passes over the whole of it up to the one called `last`.

    Raises:
        StanSemanticError: where the scheme can't express the program.
    """
    program, discrete = _without_discrete(program, names, options.scheme)
    program, declared = networks.with_lifted_arguments(program)
    made = guides.compile(program, SCHEMES[options.scheme](program, names), names)
    summed = tuple(comprehensive.variables(discrete))
    made = replace(made, networks=declared, externals=program.externals, discrete=summed)
    made = _verified(made, "scheme", Phase.COMPILED)
    for p in _up_to(last, OVER_PROGRAM, options.without):
        made = _verified(p.run(made, names), p.name, p.gives)
    return made


def _verified(program: gprob.Program, made_by: str, phase: Phase) -> gprob.Program:
    """The program, after a test of what holds in its phase where tests ask for that."""
    if os.environ.get("STANIMPORT_VERIFY"):
        from .ir import verify  # users never need it

        with verify.naming(made_by):
            verify.program(program, phase)
    return program


def _verified_body(
    body: tuple[gprob.Stmt, ...], made_by: Pass, given: Mapping[str, Type], functions: Mapping[str, gprob.FunDef]
) -> tuple[gprob.Stmt, ...]:
    if os.environ.get("STANIMPORT_VERIFY"):
        from .ir import verify

        with verify.naming(made_by.name):
            verify.body(body, made_by.gives, given, functions)
    return body


def prepare(options: Options, last: str = OVER_BODIES[-1].name) -> Prepare:
    """All passes over a body up to the one called `last`, as one function."""
    chosen = _up_to(last, OVER_BODIES, options.without)

    def run(body: tuple[gprob.Stmt, ...], around: Surroundings) -> tuple[gprob.Stmt, ...]:
        for p in chosen:
            if around.traces or not p.traced:
                body = _verified_body(p.run(body, around), p, around.given, around.functions.by_key)
        return body

    return run


def specialised(program: gprob.Program, options: Options, names: Fresh) -> specialise.Specialised:
    """The functions of the module, after all passes.

    Raises:
        StanSemanticError: for what the backend can't express.
    """
    traces = TARGETS[options.backend].traces
    made: specialise.Specialised = SPECIALISE.run(program, names, prepare(options), traces)
    _verified_functions(made)
    return made


def _verified_functions(made: specialise.Specialised) -> None:
    """Tests what is promised of the functions of a module, and of the data that they read."""
    variants = {v.definition.name: v.definition for v in made.variants}
    for label, b in blocks(made.program).items():
        _verified_body(made.blocks[label], SPECIALISE, b.given, variants)
    for f in variants.values():
        _verified_body(f.body, SPECIALISE, {p.name: p.type for p in f.parameters}, variants)
    if os.environ.get("STANIMPORT_VERIFY"):
        from .ir import verify

        with verify.naming(SPECIALISE.name):
            verify.variables(made.program.data, SPECIALISE.gives)


def _up_to(last: str, passes: Sequence[Pass], without: frozenset[str]) -> list[Pass]:
    end = next(i for i, p in enumerate(passes) if p.name == last) + 1
    return [p for p in passes[:end] if p.name not in without]


def verify_left_out(without: Iterable[str]) -> None:
    """
    Raises:
        UnknownPass: for what is no pass that may be left out, with the one that was probably meant.
    """
    for name in without:
        if name not in OPTIONAL:
            if any(p.name == name for p in PASSES):
                raise UnknownPass(f"the pass {name!r} can't be left out; those that can: {', '.join(OPTIONAL)}")
            meant = nearest(name, OPTIONAL)
            hint = f"; did you mean {meant!r}?" if meant else f"; there are {', '.join(OPTIONAL)}"
            raise UnknownPass(f"there is no pass {name!r}{hint}")


def translate(
    source: Source, name: str, options: Options, include_paths: Sequence[Path] = (), strict: bool = False
) -> Translation:
    """The Python module of a program.

    Raises:
        StanSyntaxError, StanSemanticError: for what is wrong with the program, or not built yet.
        UnknownPass: for passes to leave out that can't be.
    """
    verify_left_out(options.without)
    checked, diagnostics, includes = analyse(source, include_paths, strict, options.functions)
    names = Fresh()
    with deep():
        made = specialised(compile_program(checked, options, names), options, names)
        tree = module.build(made, names, source, name, options, includes.named)
    places = includes.seen | {path: files.state(path) for path in extensions.origins(_called(made))}
    seen = tuple((str(path), state) for path, state in places.items())
    return Translation(tree, tuple(diagnostics.warnings), tuple(includes.files), seen)


def _called(made: specialise.Specialised) -> Iterator[Function]:
    """The functions of the library that a program calls, densities in laws too."""
    for _, body in made.bodies():
        for node in traversal.walk(body):
            f = node.function if isinstance(node, gprob.Apply) else getattr(node, "lpdf", None)
            if isinstance(f, Function):
                yield f


STAGES = ("ast", "typed", "scheme", *(p.name for p in PASSES), "python")
ALIASES = {"gprob": OVER_PROGRAM[-1].name, "loops": OVER_BODIES[-1].name}  # after all passes of a kind


def dump(stage: str, source: Source, name: str, options: Options, include_paths: Sequence[Path] = ()) -> str:
    """What a stage makes of a program, as text; `stage` is one of STAGES or ALIASES.

    A pass over bodies shows those of functions as they are compiled for arguments that depend on parameters.

    Raises:
        StanError: for what is wrong with the program.
        UnknownPass: for an unknown stage, and passes to leave out that can't be.
    """
    verify_left_out(options.without)
    stage = ALIASES.get(stage, stage)
    if stage not in STAGES:
        raise UnknownPass(f"there is no stage {stage!r}; there are {', '.join((*STAGES, *ALIASES))}")
    if stage == "python":
        return translate(source, name, options, include_paths).text
    diagnostics, includes = Diagnostics(), Includes(source, include_paths)
    with deep():
        program = syntax_of(source, includes, diagnostics)
        if stage == "ast":
            return repr(program)
        checked = types_of(program, diagnostics, functions=options.functions)
        return repr(checked) if stage == "typed" else _shown(stage, checked, options)


def _shown(stage: str, checked: typed.TypedProgram, options: Options) -> str:
    """A checked program as text after its scheme or a pass: whole, or from specialisation on body by body."""
    names = Fresh()
    if stage == "scheme":
        program, _ = networks.with_lifted_arguments(_without_discrete(checked, names, options.scheme)[0])
        return printer.program(SCHEMES[options.scheme](program, names))
    if any(p.name == stage for p in OVER_PROGRAM):
        return printer.program(compile_program(checked, options, names, stage))
    compiled = compile_program(checked, options, names)
    if stage == SPECIALISE.name:
        made = specialised(compiled, options, names).bodies()
        shown: Iterable[tuple[str, tuple[gprob.Stmt, ...]]] = made
    else:
        shown = bodies(compiled, names, options, stage)
    return "\n\n".join(f"{label}:\n{printer.block(body, 1)}" for label, body in shown if body) + "\n"


def bodies(
    program: gprob.Program, names: Fresh, options: Options, last: str = OVER_BODIES[-1].name
) -> Iterator[tuple[str, tuple[gprob.Stmt, ...]]]:
    """The bodies of a program after the passes over them, with the names of their functions."""
    run, functions, traces = prepare(options, last), Functions(program), TARGETS[options.backend].traces
    sizes = sizes_of(program)
    for f in program.functions:
        given = {p.name: p.type for p in f.parameters}
        around = Surroundings(names, functions, tuple(given), given, sizes, (), f.result, traces, True)
        yield f.name, run(f.body, around)
    for label, b in blocks(program).items():
        around = Surroundings(
            names, functions, b.dynamic, b.given, sizes, natural(program), traces=traces,
            random_is_dynamic=b.random_is_dynamic,
        )  # fmt: skip
        yield label, run(b.body, around)
