"""Translating a package's programs ahead of time, so that where it is installed nothing is translated."""
from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from . import cache, files, loading, settings, shipped, trees
from .errors import StanError
from .settings import Settings

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Compiled:
    """One program translated ahead of time: the file that was written, the files that the program includes."""

    path: Path
    includes: tuple[Path, ...]


def compile_package(
    folder: PathLike, *, backends: Sequence[str] = (), schemes: Sequence[str] = (),
    include_paths: Sequence[PathLike] = (),
) -> list[Path]:  # fmt: skip
    """Write the translation of every `.stan` file in a folder and the folders below beside it, as `.stanc` files.

    A file that other programs include, and that is no program by itself, is left out.

    Args:
        folder: the package; a single `.stan` file is taken too.
        backends, schemes: what to translate for, in all combinations; the configured ones if there are none.
        include_paths: folders in which `#include` looks; each program's own folder if there are none.

    Returns:
        The files written.

    Raises:
        FileNotFoundError: if there is no such folder, or no program in it.
        StanError: for the first program that is wrong.
        OSError: for a file that can't be written; no file is left half-written.
    """
    programs = find_programs(Path(folder))
    chosen = [
        settings.current(backend=b, scheme=s, include_paths=tuple(include_paths))
        for b in backends or (None,) for s in schemes or (None,)
    ]  # fmt: skip
    attempts = [_attempt(path, options) for options in chosen for path in programs]
    included = {f.resolve() for a in attempts if isinstance(a, Compiled) for f in a.includes}
    for path, attempt in zip(programs * len(chosen), attempts):
        if isinstance(attempt, StanError) and path.resolve() not in included:
            raise attempt
    return [a.path for a in attempts if isinstance(a, Compiled)]


def _attempt(path: Path, options: Settings) -> Compiled | StanError:
    try:
        return _compile(path, options)
    except StanError as e:
        return e


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


def _compile(path: Path, options: Settings) -> Compiled:
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
    return Compiled(target, translation.files)


def _named(tree: ast.Module, old: str, new: str) -> ast.Module:
    """The tree with another file name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value == old:
            node.value = new
    return tree


def _include_name(path: Path, folders: Sequence[Path]) -> str:
    """How an included file is named in the folder that it was found in."""
    for folder in folders:
        if path.is_relative_to(folder.resolve()):
            return path.relative_to(folder.resolve()).as_posix()
    return path.name
