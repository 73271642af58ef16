"""Translating a package's programs ahead of time, so that where it is installed nothing is translated."""
from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from . import cache, files, loading, settings, shipped, trees
from .errors import StanError
from .settings import Settings

PathLike = str | os.PathLike[str]


def compile_package(
    folder: PathLike, *, backends: Sequence[str] = (), schemes: Sequence[str] = (),
    include_paths: Sequence[PathLike] = (),
) -> list[Path]:  # fmt: skip
    """Write the translation of every `.stan` file in a folder and the folders below beside it, as `.stanc` files.

    A file that other programs include, and that is no program by itself, is left out.

    Args:
        folder: the package; a single `.stan` file is taken too.
        backends: what to translate for: "numpyro", "pyro" or both; the configured one if there are none.
        schemes: how to translate, in all combinations with the backends; the configured scheme if there are none.
        include_paths: folders in which `#include` looks; each program's own folder if there are none.

    Returns:
        The files written.

    Raises:
        FileNotFoundError: if there is no such folder, or no program in it.
        StanError: for the first program that is wrong.
        OSError: for a file that can't be written; no file is left half-written.

    Examples:
        >>> import shutil, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = shutil.copy("models/coin.stan", folder)
        >>> [path.name for path in stanimport.compile.compile_package(folder, backends=["numpyro", "pyro"])]
        ['coin.numpyro-mixed.stanc', 'coin.pyro-mixed.stanc']
    """
    programs, written = find_programs(Path(folder)), []
    for backend in backends or (None,):
        for scheme in schemes or (None,):
            chosen = settings.current(backend=backend, scheme=scheme, include_paths=tuple(include_paths))
            written += each_program(programs, lambda path: _compile(path, chosen), include_paths)
    return written


def find_programs(folder: Path) -> list[Path]:
    """The `.stan` files of a folder and the folders below, in order; hidden folders are left out.

    Raises:
        FileNotFoundError: if there is none.
    """
    if folder.is_file():
        return [folder]
    found = sorted(p for p in folder.rglob("*.stan") if not _hidden(p.relative_to(folder).parts))
    if not found:
        raise FileNotFoundError(2, "there is no Stan program", str(folder))
    return found


def _hidden(parts: Iterable[str]) -> bool:
    return any(p.startswith(".") or p == "__pycache__" for p in parts)


def each_program(
    programs: Sequence[Path], action: Callable[[Path], Path], include_paths: Sequence[PathLike]
) -> list[Path]:  # fmt: skip
    """The results of an action on all programs, but for the files that fail and that others include: parts of them."""
    done: list[Path] = []
    failed: dict[Path, StanError] = {}
    for path in programs:
        try:
            done.append(action(path))
        except StanError as e:
            failed[path] = e
    folders = settings.current(include_paths=tuple(include_paths)).include_paths
    right = [path for path in programs if path not in failed]
    for including in (programs, right) if failed else ():  # what only wrong programs include is told after those
        parts = _included(including, folders)
        for path, error in failed.items():
            if path.resolve() not in parts:
                raise error
    return done


def _included(programs: Sequence[Path], include_paths: Sequence[Path]) -> set[Path]:
    """The files that some programs include."""
    return {part for path in programs for part in loading.included(loading.read(path), include_paths)}


def _compile(path: Path, options: Settings) -> Path:
    """Translate one program. Its file names no folder of this machine: loading puts the file's own name there."""
    program = loading.read(path)
    translation = loading.translation_of(program, options)
    name = f"{path.resolve().parent.name}/{path.name}"
    tree = _named(translation.tree, program.name, name)
    entry = cache.Entry(loading.compile_tree(tree, name), replace(translation, tree=tree).text, ())
    folders = [*options.include_paths, path.parent]
    includes = [(_include_name(p, folders), files.read_bytes(p)) for p in translation.files]
    target = shipped.path_of(path, options)
    files.write(target, shipped.encode(program.text, entry, trees.encode(tree), includes, options))
    return target


def _named(tree: ast.Module, old: str, new: str) -> ast.Module:
    """The tree with another file name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value == old:
            node.value = new
    return tree


def _include_name(path: Path, folders: Sequence[Path]) -> str:
    """How an included file is named in the folder that it was found in; seen from the last where it lies in none."""
    for folder in folders:
        if path.is_relative_to(folder.resolve()):
            return path.relative_to(folder.resolve()).as_posix()
    return Path(os.path.relpath(path, folders[-1].resolve())).as_posix()
