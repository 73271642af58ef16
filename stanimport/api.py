"""The package's functions: load programs from paths and texts, check and translate them."""
from __future__ import annotations

import errno
import hashlib
import importlib.machinery
import importlib.util
import os
import re
import sys
import threading
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import files, loading, permissions, settings
from .cache import Entry
from .errors import Diagnostic, StanSemanticError, StanSyntaxError, nearest
from .importer import StanLoader
from .loading import StanFile
from .settings import configure
from .source import Source

if TYPE_CHECKING:
    from .frontend.called import Called
    from .frontend.profiles import Profiled

__all__ = ["check", "configure", "format", "load", "loads", "translate"]

PathLike = str | os.PathLike[str]
_loaded: dict[tuple[Any, ...], tuple[types.ModuleType, Entry]] = {}
_replacing = threading.Lock()


def load(
    path_or_module_name: PathLike, *, backend: str | None = None, scheme: str | None = None,
    include_paths: Sequence[PathLike] = (), functions: Mapping[str, str] | None = None,
) -> types.ModuleType:  # fmt: skip
    """The translated module of a Stan file at any path ("schools-1.stan"), or of an importable one by module name.

    Args:
        path_or_module_name: a path, or a dotted module name such as "models.eight_schools".
        backend: "numpyro" or "pyro".
        scheme: "comprehensive", "mixed" or "generative".
        include_paths: folders in which `#include` looks; the program's own folder if there are none.
        functions: where Python finds the functions that the program declares without a body:
            {"foo": "package.module.foo"}.

    Returns:
        The same module for the same file, options and content, that of included files too.

    Raises:
        FileNotFoundError: if there is no such file or module.
        StanError: for what is wrong with the program.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> coin.stan.names("data", "parameters")
        ('flips', 'heads', 'bias')
    """
    __tracebackhide__ = True  # for pytest and IPython
    program = _read(_path_of(path_or_module_name), "loads() takes the text of a program")
    chosen = dict(backend=backend, scheme=scheme, include_paths=tuple(include_paths), functions=functions)
    return _module(program, chosen)


def loads(
    source: str, *, name: str = "model", backend: str | None = None, scheme: str | None = None,
    include_paths: Sequence[PathLike] = (), functions: Mapping[str, str] | None = None,
) -> types.ModuleType:  # fmt: skip
    """The translated module of a program given as text; `name` is what messages call it. Raises StanError.

    Examples:
        >>> wait = stanimport.loads("parameters { real<lower=0> t; } model { t ~ exponential(2); }", name="wait")
        >>> wait.stan.parameters[0].constraint
        'lower=0'
    """
    __tracebackhide__ = True
    if re.fullmatch(r"\s*[^\s{}]+\.stan\s*", source):
        raise ValueError(f"{source!r} is a path, and loads() takes the text of a program: load() reads files")
    chosen = dict(backend=backend, scheme=scheme, include_paths=tuple(include_paths), functions=functions)
    return _module(_of_text(source, name), chosen)


def loads_with(
    source: str, includes: Sequence[tuple[str, str]], *, name: str, backend: str, scheme: str,
    functions: Mapping[str, str] | None,
) -> types.ModuleType:  # fmt: skip
    """The same of a text with those of the files that it includes, by what it calls them: see `Program.includes`."""
    chosen = dict(backend=backend, scheme=scheme, functions=functions)
    return _module(replace(_of_text(source, name), includes=tuple(includes)), chosen)


def _of_text(source: str, name: str) -> StanFile:
    return StanFile(f"<{name}-{hashlib.sha256(source.encode()).hexdigest()[:8]}.stan>", source, None, name)


def check(
    path: PathLike, *, source: str | None = None, include_paths: Sequence[PathLike] = (), strict: bool = False,
    pedantic: bool = False, functions: Mapping[str, str] | None = None,
) -> list[Diagnostic]:
    """Check a program without translating it.

    Args:
        path: the file, or with `source` only the name that messages use.
        source: the program's text.
        include_paths: folders in which `#include` looks.
        strict: accept the language of Stan 2.39 and nothing else.
        pedantic: warn of what is allowed but seldom meant, too: parameters without a prior, arguments outside of
            what a distribution is defined for, ...
        functions: as for `load`.

    Returns:
        The warnings.

    Raises:
        StanError: with all errors found.

    Examples:
        >>> stanimport.check("models/coin.stan")
        []
        >>> try:
        ...     stanimport.check("typo.stan", source="parameters { real x; } model { x ~ norml(0, 1); }")
        ... except stanimport.StanError as error:
        ...     print(error)
        typo.stan:1:36: error: there is no distribution 'norml'
          1 | parameters { real x; } model { x ~ norml(0, 1); }
            |                                    ^^^^^
          did you mean 'normal'?
    """
    from . import pipeline

    program, diagnostics, _ = pipeline.analyse(
        _source(path, source), [Path(p) for p in include_paths], strict, settings.current(functions=functions).functions
    )  # fmt: skip
    if not pedantic:
        return diagnostics.warnings
    found = [*diagnostics.warnings, *pipeline.pedantic_warnings(program)]
    return sorted(found, key=lambda d: d.span.in_main().start)


def translate(
    path: PathLike, *, source: str | None = None, backend: str | None = None, scheme: str | None = None,
    include_paths: Sequence[PathLike] = (), strict: bool = False, functions: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """The Python text that a program is translated to. Arguments as for `check` and `load`. Raises StanError.

    Examples:
        >>> text = stanimport.translate("wait.stan", source="parameters { real<lower=0> t; } model { }")
        >>> [line for line in text.splitlines() if "parameter(" in line]
        ["    t = ppl.parameter('t', lower=0.0)"]
    """
    from . import pipeline

    chosen = settings.current(backend=backend, scheme=scheme, include_paths=tuple(include_paths), functions=functions)
    options = pipeline.Options(chosen.backend, chosen.scheme, functions=chosen.functions)
    text = _source(path, source)
    return pipeline.translate(text, Path(text.name).stem, options, chosen.include_paths, strict).text


def format(
    path: PathLike, *, source: str | None = None, include_paths: Sequence[PathLike] = (),
    canonicalize: bool | Sequence[str] = (), max_line_length: int = 78, strict: bool = False,
) -> str:  # fmt: skip
    """The text of a program in stanc's layout: the same program, with its comments and includes.

    What is left of the old syntax (arrays as `real x[3]`, `<-`, comments with #) is written as it is today.

    Args:
        path: the file, or with `source` only the name that messages use.
        source: the program's text.
        include_paths: folders in which `#include` looks; the program's own folder if there are none.
        canonicalize: rewrite to fewer forms: "deprecations" (what Stan has removed since is written as today; no
            declarations of functions that are defined, too), "parentheses" (none that say nothing), "braces" (around
            all bodies), "includes" (files in place of their includes), "strip-comments". True stands for all but the
            last.
        max_line_length: lines are broken before they are longer, where they can be.
        strict: accept the language of Stan 2.39 and nothing else.

    Raises:
        StanSyntaxError: for a text that is no program, and where an include holds only a part of a statement.
        ValueError: for a canonicalization that is not there.

    Examples:
        >>> print(stanimport.format("m.stan", source="parameters{real x;}model{x~normal(0,1);//prior\\n}"), end="")
        parameters {
          real x;
        }
        model {
          x ~ normal(0, 1); //prior
        }
    """
    from . import pipeline

    chosen = _canonicalizations(canonicalize)
    folders = [Path(p) for p in include_paths]
    return pipeline.formatted(_source(path, source), folders, chosen, max_line_length, strict)


CANONICALIZATIONS = ("deprecations", "parentheses", "braces", "includes", "strip-comments")


def _canonicalizations(given: bool | Sequence[str]) -> list[str]:
    """The canonicalizations by name, all but the last for True.

    Raises:
        ValueError: for a name that is none of them, with the one that was probably meant.
    """
    if isinstance(given, bool):
        return list(CANONICALIZATIONS[:-1]) if given else []
    names = given.split(",") if isinstance(given, str) else list(given)
    for name in names:
        if name not in CANONICALIZATIONS:
            meant = nearest(name, CANONICALIZATIONS)
            hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(CANONICALIZATIONS)}"
            raise ValueError(f"there is no canonicalization {name!r}; {hint}")
    return names


def dump(
    path: PathLike, stage: str, *, source: str | None = None, backend: str | None = None, scheme: str | None = None,
    include_paths: Sequence[PathLike] = (), without: Sequence[str] = (), functions: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """What one stage of the translation makes of a program, as text: see `stanimport.pipeline.STAGES`.

    Args:
        without: names of passes to leave out, for debugging.

    Raises:
        StanError: for what is wrong with the program.
    """
    from . import pipeline

    chosen = settings.current(backend=backend, scheme=scheme, include_paths=tuple(include_paths), functions=functions)
    options = pipeline.Options(chosen.backend, chosen.scheme, frozenset(without), chosen.functions)
    text = _source(path, source)
    return pipeline.dump(stage, text, Path(text.name).stem, options, chosen.include_paths)


def profiled(
    path: PathLike, *, source: str | None = None, include_paths: Sequence[PathLike] = (),
    includes: Sequence[tuple[str, str]] = (),
) -> list[Profiled]:  # fmt: skip
    """The `profile` blocks of a program, with the programs that tell what each costs. Raises StanSyntaxError.

    `includes` are as for `loads_with`.
    """
    from . import questions

    whole = replace(_source(path, source), includes=dict(includes))
    return questions.profiled(whole, [Path(p) for p in include_paths])


def called(
    path: PathLike, *, source: str | None = None, include_paths: Sequence[PathLike] = (),
    includes: Sequence[tuple[str, str]] = (), functions: Sequence[tuple[str, str]] = (),
) -> Called:  # fmt: skip
    """The functions and distributions of the library that a program calls; `includes` are as for `loads_with`."""
    from . import questions

    whole = replace(_source(path, source), includes=dict(includes))
    return questions.called(whole, [Path(p) for p in include_paths], functions)


def _source(path: PathLike, source: str | None) -> Source:
    if source is not None:
        return Source(os.fspath(path), source)
    program = _read(Path(files.as_path(path)), "source= takes the text of a program, beside a name for it")
    return Source(program.name, program.text)


def _read(path: Path, for_text: str) -> StanFile:
    """The program in a file; `for_text` is what to do with the text of one, which is given in place of a path at times.

    Raises:
        FileNotFoundError: if there is none, with what was probably meant.
    """
    try:
        return loading.read(path)
    except FileNotFoundError as e:
        raise FileNotFoundError(e.errno, f"{e.strerror}{_hint(path, for_text)}", str(path)) from None
    except OSError as e:
        if e.errno != errno.ENAMETOOLONG:
            raise
        raise FileNotFoundError(e.errno, f"{e.strerror}{_hint(path, for_text)}", f"{str(path)[:60]}...") from None


def _path_of(path_or_module_name: PathLike) -> Path:
    text = os.fspath(files.as_path(path_or_module_name))
    path = Path(text)
    if isinstance(path_or_module_name, str) and path.suffix != ".stan" and re.fullmatch(r"\w+(\.\w+)*", text):
        spec = importlib.util.find_spec(text)
        if spec is not None and isinstance(spec.loader, StanLoader):
            return Path(spec.loader.path)
        raise FileNotFoundError(f"there is no Stan program {text!r} on the module path")
    return path


def _hint(path: Path, for_text: str) -> str:
    """What was meant by a path where there is no file."""
    if "{" in str(path):
        return f"; {for_text}"
    try:
        there = [p.name for p in path.parent.iterdir() if p.suffix in (".stan", ".stanfunctions") and p.exists()]
    except OSError:
        return ""
    similar = nearest(path.name, there)
    return f"; did you mean {similar!r}?" if similar else ""


def _module(program: StanFile, chosen: Mapping[str, object]) -> types.ModuleType:
    __tracebackhide__ = True
    try:
        return _known_or_new(program, settings.current(**chosen))
    except (StanSyntaxError, StanSemanticError) as e:
        raise e.with_traceback(None) from None  # the Stan line says it all


def _known_or_new(program: StanFile, current: settings.Settings) -> types.ModuleType:
    """A program's module: the one that is loaded while its includes are what they were, else a new one."""
    identity = (program.filename, program.text, program.includes, current)
    known = _loaded.get(identity)
    if known is not None and known[1].is_current():
        return known[0]
    made = _new_module(program, current)
    with _replacing:
        if _loaded.get(identity) is known:  # else another thread was faster
            _loaded[identity] = made
            sys.modules[made[0].__name__] = made[0]
        return _loaded[identity][0]


def _new_module(program: StanFile, current: settings.Settings) -> tuple[types.ModuleType, Entry]:
    """A module that has run, and its translation; the name differs with text, settings and included files."""
    entry = loading.entry_of(program, current)
    identity = (program.filename, program.text, program.includes, current, entry.includes)
    tag = hashlib.sha256(repr(identity).encode()).hexdigest()[:8]
    stem = re.sub(r"\W", "_", program.model_name.strip("<>"))
    name = f"stanimport_loaded_{stem}_{tag}"
    loader = _Loader(name, program, current)
    spec = importlib.machinery.ModuleSpec(name, loader, origin=program.filename)
    spec.has_location = program.path is not None
    module = importlib.util.module_from_spec(spec)
    loading.execute(module, program, entry)
    loader.included = module.stan.includes
    return module, entry


class _Loader(StanLoader):
    """The loader of a module that has no place on the module path: it pickles with its program."""

    def __init__(self, name: str, program: StanFile, current: settings.Settings):
        super().__init__(name, program.filename)
        self._program, self._settings = program, current
        self.included: tuple[tuple[str, str], ...] = ()  # texts of the files that it includes, by their names in it

    def program(self) -> StanFile:
        return self._program

    def settings(self) -> settings.Settings:
        return self._settings

    def network_access(self, module: str) -> str:
        return permissions.access(module, None, settings.current().network_packages)

    def reference(self, attribute: str | None) -> tuple[Any, tuple[Any, ...]]:
        return restore_loaded, (self._program, self._settings, attribute, self.included)


def restore_loaded(
    program: StanFile, current: settings.Settings, attribute: str | None,
    included: tuple[tuple[str, str], ...] | None = None,
) -> Any:  # fmt: skip
    """Unpickle a module made by `load` or `loads`, or an attribute of it: with the texts of the files it included."""
    chosen = dict(backend=current.backend, scheme=current.scheme, include_paths=current.include_paths,
                  functions=current.functions)  # fmt: skip
    module = _with_included(program, chosen, included)
    return module if attribute is None else getattr(module, attribute)


def _with_included(
    program: StanFile, chosen: Mapping[str, object], included: tuple[tuple[str, str], ...] | None
) -> types.ModuleType:  # fmt: skip
    """The module of a program whose included files held these texts, which may be edited by now, or gone."""
    try:
        module = _module(program, chosen)
    except (StanSyntaxError, StanSemanticError):
        if not included:
            raise
    else:
        if included in (None, module.stan.includes):
            return module
    return _module(replace(program, path=None, title=program.model_name, includes=included or ()), chosen)
