"""The documents of an editor: which program each belongs to, and what is known of that."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .. import files
from ..source import Source, Span
from .examination import Examination, Settings, examine
from .names import Names, includes_in, names_of

MOST_FILES = 200  # that are looked at for the program that includes a document


@dataclass(frozen=True)
class Examined:
    """A program that was examined, and the names in it."""

    path: Path
    examination: Examination

    @cached_property
    def names(self) -> Names:
        program = self.examination.program
        return Names() if program is None else names_of(program)

    def included_at(self, file: str, offset: int) -> Path | None:
        """The file that an `#include` at an offset of a file brings in."""
        for span, name in includes_in(self.examination.trivia, Source(file, "")):
            if span.start <= offset <= span.end:
                tail = Path(name.lstrip("/")).name
                return next((f for f in self.examination.files if f.name == tail and f.is_file()), None)
        return None


class Documents:
    """The texts that are open, by resolved path, and the programs examined so far.

    A document that another one includes is examined where it is included: it may be no program by itself.
    """

    def __init__(self, settings: Settings, texts: Callable[[], Mapping[str, str]]):
        self.settings, self._texts = settings, texts
        self._known: dict[Path, Examined] = {}

    def program_of(self, path: Path) -> Examined:
        """The program that a document is, or belongs to."""
        host = next((p for p in self._known.values() if path in p.examination.files), None)
        return host or self._examined(self._host_on_disk(path) or path)

    def changed(self, path: Path) -> list[Path]:
        """Forget what depends on a file; the result is the programs that were forgotten."""
        gone = [p for p, known in self._known.items() if path == p or path in known.examination.files]
        for p in gone:
            del self._known[p]
        return gone

    def forget_all(self) -> None:
        self._known.clear()

    def _examined(self, path: Path) -> Examined:
        if path not in self._known:
            texts = self._texts()
            text = texts.get(str(path))
            text = _text_of(path) if text is None else text
            self._known[path] = Examined(path, examine(Source(str(path), text), self.settings, texts))
        return self._known[path]

    def _host_on_disk(self, path: Path) -> Path | None:
        """A program near a document that includes it, for documents that have no blocks."""
        if _HAS_BLOCKS.search(self._texts().get(str(path), "")):
            return None
        directive = re.compile(rf'#include\s+["<]?[^\s">]*{re.escape(path.name)}\b')
        for candidate in _near(path):
            if directive.search(_text_of(candidate)):
                found = self._examined(candidate)
                if path in found.examination.files:
                    return candidate
        return None


_HAS_BLOCKS = re.compile(r"\b(?:functions|data|parameters|model|quantities)\s*\{")


def _text_of(path: Path) -> str:
    """The text of a program as it is loaded; with signs in the place of what is no text."""
    content = files.read_bytes(path)
    try:
        return files.program_text(content)
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace")


def _near(path: Path) -> Iterator[Path]:
    """The programs beside a file, and in the folder above."""
    found = [f for folder in (path.parent, path.parent.parent) for f in sorted(folder.glob("*.stan")) if f != path]
    yield from found[:MOST_FILES]


def place_in(span: Span, file: str) -> Span | None:
    """Where in a file a diagnostic belongs: its own place, or the `#include` that leads to it."""
    at: Span | None = span
    while at is not None:
        if at.source.name == file:
            return at
        at = at.source.included_at
    return None
