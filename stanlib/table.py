"""The table of all library functions for the documentation, from their records.

    python -m stanlib.table docs/functions.md

writes it into the file, below the line that MARK is. No array library is imported.
"""
from __future__ import annotations

import pathlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence

from . import distribution, registry
from .registry import Function

MARK = "<!-- The tables below are written by `python -m stanlib.table docs/functions.md`. -->"
BACKENDS = ("numpyro", "pyro")
_TAILS = ("cdf", "lcdf", "lccdf")


def tables() -> str:
    """The tables of functions by chapter and of distributions, as Markdown."""
    registry.load()
    chapters = _chapters()
    parts = [_section(title, chapters[title]) for title in sorted(chapters)]
    return "\n\n".join(["## Functions", *parts, "## Distributions", _distributions()]) + "\n"


def _chapters() -> dict[str, dict[str, list[Function]]]:
    """The records of functions that belong to no distribution and can stand in a program, by chapter and Stan name."""
    out: dict[str, dict[str, list[Function]]] = defaultdict(lambda: defaultdict(list))
    for function in registry.SYMBOLS.values():
        if function.distribution is None and function.is_named:
            out[_title(function.body.__module__)][function.name].append(function)
    return out


def _title(module: str) -> str:
    """The first sentence of the docstring of the module that a body stands in."""
    text = (sys.modules[module].__doc__ or module).strip().splitlines()[0]
    return text.partition(". ")[0].rstrip(".:")


def _section(title: str, functions: dict[str, list[Function]]) -> str:
    rows = [_row(name, functions[name]) for name in sorted(functions, key=str.lower)]
    return f"### {title}\n\n" + _markdown(("Function", "Signatures", "NumPyro", "Pyro", "Notes"), rows)


def _row(name: str, records: list[Function]) -> tuple[str, ...]:
    count = sum(len(s.overloads) for f in records for s in f.signatures)
    status = "yes" if all(f.built for f in records) else "refused at translation"
    return f"`{name}`", str(count) if count else "variadic", status, status, _notes(records)


def _notes(records: list[Function]) -> str:
    """What a user has to know beyond the signature."""
    f = records[0]
    notes = []
    if f.removed:
        notes.append(f"removed in Stan {f.removed}: write {f.successor}")
    if f.raw:
        notes.append("takes a function")
    if f.random:
        notes.append("random")
    if f.effect:
        notes.append("adds to the target")
    if f.shape_only:
        notes.append("of the sizes alone")
    if f.sizes:
        notes.append(f"{', '.join(f'`{s}`' for s in f.sizes)} decides sizes, so must be data")
    return "; ".join(notes)


def _distributions() -> str:
    head = ("Distribution", "Density", "Distribution functions", "Random numbers", "NumPyro's class", "Pyro's class")
    laws = distribution.DISTRIBUTIONS
    return _markdown(head, [_law(laws[name]) for name in sorted(laws)])


def _law(d: distribution.Distribution) -> tuple[str, ...]:
    classes = [d.native.on(b) if d.native else None for b in BACKENDS]
    tails = ", ".join(f"`{t}`" for t in _TAILS if t in d.methods)
    return (
        f"`{d.name}`", f"`{d.density}`", tails, "`rng`" if "rng" in d.methods else "",
        *(f"`{c}`" if c else "own" for c in classes),
    )  # fmt: skip


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def updated(text: str) -> str:
    """A page with its tables written anew; what stands above the mark stays."""
    above, mark, _ = text.partition(MARK)
    if not mark:
        raise ValueError(f"the page has no line {MARK}")
    return f"{above}{MARK}\n\n{tables()}"


def main(path: str) -> None:
    page = pathlib.Path(path)
    page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
