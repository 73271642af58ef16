"""What the modules of inference offer to users, told by themselves.

A module says in `__all__` what `stanimport.inference` has of it, and in `AT_TOP` what `stanimport` has, too.

    python -m stanimport.inference.offered

writes that into the `__init__.py` of both, between lines that begin with MARK: into imports that type checkers read,
and into tables by which names are found when they are first used.
"""
from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from pathlib import Path

MARK = "# --- by `python -m stanimport.inference.offered`"
_FOLDER = Path(__file__).parent


def offered() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """By module the names in its `__all__` and in its `AT_TOP`, read and not imported."""
    found = {}
    for path in sorted(_FOLDER.rglob("*.py")):
        told = _lists_of(ast.parse(path.read_text("utf-8"))) if path.name != "__init__.py" else {}
        if told:
            module = ".".join(path.relative_to(_FOLDER).with_suffix("").parts)
            found[module] = (told.get("__all__", ()), told.get("AT_TOP", ()))
    return found


def _lists_of(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    """The values of those lists of a module that it has."""
    found: dict[str, tuple[str, ...]] = {}
    for s in tree.body:
        match s:
            case ast.Assign(targets=[ast.Name(id=("__all__" | "AT_TOP") as name)], value=value):
                found[name] = tuple(ast.literal_eval(value))
    return found


def texts() -> dict[Path, str]:
    """Both files as they should be."""
    found = offered()
    own = [(module, name) for module, (names, _) in found.items() for name in sorted(names)]
    top = sorted(name for _, names in found.values() for name in names)
    imports = [f"    from .{module} import {name} as {name}" for module, name in own]
    homes = _table("_HOME", "{", (f'"{name}": "{module}"' for module, name in own), "}")
    every = _table("__all__", "[", (f'"{name}"' for name in sorted(name for _, name in own)), "]")
    above = [f"    from .inference import {name} as {name}" for name in top]
    at_top = _table("_INFERENCE", "(", (f'"{name}"' for name in top), ")")
    parts = {_FOLDER: [imports, [*homes, "", *every]], _FOLDER.parent: [above, at_top]}
    return {folder / "__init__.py": _between(folder / "__init__.py", lists) for folder, lists in parts.items()}


def _table(name: str, opening: str, items: Iterable[str], closing: str) -> list[str]:
    """An assignment of items, in lines of at most 118 characters."""
    inside = ", ".join(item.replace(" ", "\0") for item in items) + ","  # an item stays in one line
    lines = textwrap.wrap(inside, 118, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return [f"{name} = {opening}", *(line.replace("\0", " ") for line in lines), f"{closing}  # fmt: skip"]


def _between(path: Path, parts: list[list[str]]) -> str:
    """A file's text with other lines between the first pair of marks, the second, and so on."""
    out: list[str] = []
    inside, left = False, iter(parts)
    for line in path.read_text("utf-8").splitlines():
        if line.lstrip().startswith(MARK):
            inside = not inside
            out += [line, *next(left)] if inside else [line]
        elif not inside:
            out.append(line)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    for file, text in texts().items():
        file.write_text(text, "utf-8")
