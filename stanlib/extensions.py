"""Functions and distributions of other packages.

A distribution package names the modules that hold its records under the entry point group `stanlib`:

    [project.entry-points."stanlib"]
    angles = "my_package.angles"

Only packages that are installed are asked, not what lies in the working folder. The modules are imported with the
library's own. What they register is known to the checker, to both backends and to the loops
that run at once, like any other record; names that Stan has already can't be taken.
"""
from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import installed

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "stanlib"
OWN = "stanlib."
loaded: list[str] = []  # the modules of other packages


def load(known: Callable[[], Iterable[str]]) -> None:
    """Import the modules of all installed packages, in the order of their names.

    `known` lists the Stan names that there are.

    Raises:
        ImportError: naming the entry point, for a module that can't be imported or that takes a name of Stan's.
    """
    for point in sorted(_entry_points(), key=lambda e: (e.name, e.value)):
        _load(point, known)


def _entry_points() -> set[EntryPoint]:
    """Those of our group, of distributions that somebody has installed."""
    named = [f for f in installed.folders() if _may_name_group(f)]
    if not named:
        return set()
    from importlib.metadata import distributions  # only now: it takes longer to import than to look for the group

    return {e for d in distributions(path=[str(f) for f in named]) for e in d.entry_points if e.group == GROUP}


def _may_name_group(folder: Path) -> bool:
    """Whether a distribution in a folder may have entry points of our group; archives are not looked into."""
    if not folder.is_dir():
        return folder.exists()
    header = f"[{GROUP}]".encode()
    for name in os.listdir(folder):
        if name.lower().endswith((".dist-info", ".egg-info")) or name.lower() == "egg-info":
            with contextlib.suppress(OSError), open(f"{folder}/{name}/entry_points.txt", "rb") as points:
                if header in points.read():
                    return True
    return False


def _verify_installed(point: EntryPoint) -> None:
    """Python looks for modules in the working folder too: what is found there must not run."""
    spec = find_spec(point.value.partition(".")[0])
    if spec is None or spec.origin is None or not installed.has_package(Path(spec.origin)):
        raise ImportError("it is not the installed one that Python finds")


def _load(point: EntryPoint, known: Callable[[], Iterable[str]]) -> None:
    """Import the module of one entry point and note its name.

    Raises:
        ImportError: naming the entry point, for a module that can't be imported or that takes a name of Stan's.
    """
    before = Counter(known())
    try:
        _verify_installed(point)
        loaded.append(point.load().__name__)
    except Exception as e:
        raise ImportError(f"the records of {point.value} (entry point {point.name!r}) can't be imported: {e}") from e
    taken = sorted(n for n, count in Counter(known()).items() if n in before and count > before[n])
    if taken:
        raise ImportError(f"{point.value} (entry point {point.name!r}) defines {taken[0]}, which Stan has already")


def origins(functions: Iterable[object]) -> Iterator[Path]:
    """The files of other packages in which records of functions stand."""
    if not loaded:
        return
    for module in sorted({m for f in functions for m in _modules(f) if not m.startswith(OWN)}):
        file = getattr(sys.modules.get(module), "__file__", None)
        if file is not None:
            yield Path(file)


def names_in(functions: Iterable[Any]) -> set[str]:
    """What generated code calls those of some records of functions by that stand in other packages, and their laws."""
    others = [f for f in functions if any(not m.startswith(OWN) for m in _modules(f))] if loaded else []
    return {f.symbol for f in others} | {f.distribution.name for f in others if f.distribution is not None}


def _modules(function: Any) -> set[str]:
    law = function.distribution
    bodies = [function.body] if law is None else law.methods.values()
    return {b.__module__ for b in bodies}
