"""From a Stan text to the code of its module: from the cache, or translated."""
from __future__ import annotations

import ast
import linecache
import types
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from stanlib.dataclass import dataclass

from . import cache, files, shipped
from .errors import Diagnostic, StanDeprecationWarning, StanSyntaxError, StanWarning
from .settings import Settings
from .source import Source, Span

if TYPE_CHECKING:
    from stanlib.batches import Rows
    from stanlib.program import Program
    from stanlib.unobserved import Observations

    from .pipeline import Options, Translation


@dataclass(frozen=True)
class StanFile:
    """A program to load: its text, the name it has in messages, the path it was read from and its title, if any.

    The name is the path as it was given; `path` is absolute, so that it stays the same file when the working folder
    changes. `includes` are the texts of the files that it includes, where those are not to be read.
    """

    name: str
    text: str
    path: Path | None
    title: str = ""
    includes: tuple[tuple[str, str], ...] = ()

    @property
    def source(self) -> Source:
        return Source(self.name, self.text, includes=dict(self.includes))

    @property
    def model_name(self) -> str:
        return self.title or Path(self.name).stem

    @property
    def filename(self) -> str:
        """What the module calls the file: in tracebacks and in `stan`."""
        return str(self.path or self.name)


# Functions of `stanimport` that other packages have as methods of a model.
_METHODS = ("sample", "optimize", "variational", "advi", "pathfinder", "laplace_sample", "generate_quantities",
            "log_prob", "prior_predictive")  # fmt: skip


class StanModule(types.ModuleType):
    """A translated module. It pickles by name or with its program, so that it can be sent to other processes."""

    def __reduce__(self) -> Any:
        spec = self.__spec__
        reference = getattr(None if spec is None else spec.loader, "reference", None)
        return super().__reduce__() if reference is None else reference(None)

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError for what a module does not have; for a method of inference with where it is."""
        meant = f": it is a function of the package, stanimport.{name}(module, data)" if name in _METHODS else ""
        own = self.__dict__.get("__name__")
        raise AttributeError(f"module {own!r} has no attribute {name!r}{meant}", name=name, obj=self)

    def _repr_html_(self) -> str:
        """What notebooks show: the program, and what it takes and gives."""
        import html

        stan: Any = self.__dict__["stan"]
        rows = ""
        for block in ("data", "parameters", "transformed_parameters", "generated_quantities"):
            declared = "<br>".join(html.escape(v.declaration) for v in getattr(stan, block))
            rows += f"<tr><th>{block.replace('_', ' ')}</th><td><code>{declared}</code></td></tr>" if declared else ""
        title = f"<b>{html.escape(stan.name)}</b>: {stan.backend}, {stan.scheme}"
        text = f"<details><summary>{title}</summary><pre>{html.escape(stan.source)}</pre></details>"
        return f"{text}<table>{rows}</table>"


def read(path: Path) -> StanFile:
    """The program in a file, which may lie inside an archive.

    Raises:
        OSError: if it can't be read.
        StanSyntaxError: if it is no text.
    """
    content, name = files.read_bytes(path), str(path)
    try:
        text = files.program_text(content)
    except UnicodeDecodeError as e:
        good = content[: e.start].decode("utf-8", "replace")
        span = Span(Source(name, good + "?"), len(good), len(good) + 1)
        raise StanSyntaxError([Diagnostic("the file is not UTF-8 text", span, code="encoding")]) from None
    return StanFile(name, text, path.absolute())


def included(program: StanFile, include_paths: Sequence[Path]) -> list[Path]:
    """The files that a program includes, up to the first that can't be read."""
    from . import pipeline

    return pipeline.included(program.source, include_paths)


def code_of(program: StanFile, settings: Settings) -> types.CodeType:
    """The module's code, compiled under the Stan file's name; kept in the cache where the program is a file."""
    return relocate(entry_of(program, settings).code, program.filename)


def entry_of(program: StanFile, settings: Settings) -> cache.Entry:
    """The translation of a program: the one that ships with it, else from the cache, else made now.

    Raises:
        StanSyntaxError, StanSemanticError: for what is wrong with the program.
    """
    if program.path is not None:
        ready = shipped.load(program.path, program.text, settings)
        if ready is not None:
            return ready
    wanted = cache.key(program.text, settings)
    if program.path is not None:
        known = cache.load(program.path, settings, wanted)
        if known is not None:
            return known
    entry = _translate(program, settings)
    if program.path is not None:
        cache.store(program.path, settings, wanted, entry)
    return entry


def _translate(program: StanFile, settings: Settings) -> cache.Entry:
    translation = translation_of(program, settings)
    code = compile_tree(translation.tree, program.name)
    return cache.Entry(code, translation.text, translation.seen)


def translation_of(program: StanFile, settings: Settings) -> Translation:
    """Translate a program and issue its warnings. Raises StanSyntaxError and StanSemanticError."""
    from . import pipeline  # only now: a cached program needs neither PLY nor the library

    folders = include_folders(program, settings)
    translation = pipeline.translate(program.source, program.model_name, _options(settings), folders)
    issue(translation.warnings)
    return translation


# A module is asked what its program says of it: that which it was made from, whatever stands in the files by now.


def rows_of(program: Program, sizes: Sequence[str], guide: bool) -> dict[str, Rows]:
    """What of a model, or guide, depends on rows of the data: see `questions.rows_of`."""
    from . import questions

    return questions.rows_of(*_as_made(program), sizes, guide)


def unpredictable(program: Program, guide: bool) -> dict[str, str]:
    """The data that a model, or guide, can't draw, and why: see `questions.unpredictable`."""
    from . import questions

    return questions.unpredictable(*_as_made(program), guide)


def computed_from(program: Program) -> dict[str, frozenset[str]]:
    """The transformed data that may depend on the values of each of the data: see `questions.computed_from`."""
    from . import questions

    return questions.computed_from(*_as_made(program))


def observations(program: Program) -> Observations:
    """What the log likelihood of a program can tell apart: see `questions.observations`."""
    from . import questions

    return questions.observations(*_as_made(program))


def _as_made(program: Program) -> tuple[Source, Options]:
    """The texts and the options that a module was made from."""
    from .pipeline import Options

    source = Source(program.filename, program.source, includes=dict(program.includes))
    return source, Options(program.backend, program.scheme, functions=program.functions)


def _options(settings: Settings) -> Options:
    from .pipeline import Options

    return Options(settings.backend, settings.scheme, functions=settings.functions)


def include_folders(program: StanFile, settings: Settings) -> tuple[Path, ...]:
    """The folders in which `#include` looks: the program's own if none are given."""
    return settings.include_paths or ((program.path.parent,) if program.path else ())


def compile_tree(tree: ast.Module, filename: str) -> types.CodeType:
    return compile(tree, filename, "exec", dont_inherit=True, optimize=0)  # -OO would drop the source in the docstring


def relocate(code: types.CodeType, name: str) -> types.CodeType:
    """The code of a module under another file name: the folder may have moved since it was compiled."""
    if code.co_filename == name:
        return code
    # The file name that `stan` reports is a constant of the module's own code.
    moved = [name if isinstance(c, str) and c == code.co_filename else c for c in code.co_consts]
    return _renamed(code.replace(co_consts=tuple(moved)), name)


def _renamed(code: types.CodeType, name: str) -> types.CodeType:
    constants = tuple(_renamed(c, name) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=name, co_consts=constants)


def issue(diagnostics: tuple[Diagnostic, ...]) -> None:
    """Hand the warnings of a translation to Python's, at their Stan lines."""
    for d in diagnostics:
        category: type[Warning] = StanDeprecationWarning if d.severity == "deprecation" else StanWarning
        text = f"{d.message}: {d.hint}" if d.hint else d.message
        warnings.warn_explicit(text, category, d.filename, d.line)


def execute(module: types.ModuleType, program: StanFile, entry: cache.Entry) -> None:
    """Fill a module from the translation of its program; what only an earlier one had, such as a guide, goes."""
    if program.path is None:  # tracebacks find the lines of a program that is no file
        lines = program.text.splitlines(keepends=True)
        linecache.cache[program.name] = (len(program.text), None, lines, program.name)
    code = relocate(entry.code, program.filename)
    exec(code, module.__dict__)
    for name in set(_names.get(module, ())).difference(code.co_names):  # of its text before it was reloaded
        if not name.startswith("__"):
            module.__dict__.pop(name, None)
    _names[module] = code.co_names


_names: WeakKeyDictionary[types.ModuleType, tuple[str, ...]] = WeakKeyDictionary()  # in the code of each module
