"""Finding the files that `#include` names. Source: Stan Reference Manual, "Includes"."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from . import files
from .errors import Diagnostic, StanSyntaxError
from .source import Source, Span


class Includes:
    """Resolves includes in the given folders, else beside the program.

    `files` are the included ones. `seen` holds every place that was looked at, with the digest of what was there or
    nothing: a file that appears in an earlier folder would be taken instead. `texts` are read in place of files of
    these resolved paths. `named` has all texts by what the program calls their files.
    """

    def __init__(self, program: Source, paths: Sequence[Path] = (), texts: Mapping[str, str] | None = None):
        self.program = program
        self.own = str(Path(program.name).resolve())
        self.paths = [Path(p) for p in paths] or [Path(program.name).parent]
        self.files: list[Path] = []
        self.seen: dict[Path, bytes] = {}
        self.texts = texts or {}
        self.named: dict[str, str] = {}

    def resolve(self, name: str, span: Span) -> Source:
        """The source of an included file.

        Raises:
            StanSyntaxError: if the file is missing, unreadable, or includes itself.
        """
        if not name:
            raise _error("#include names no file", span)
        if name in self.program.includes:
            return self._known(name, span)
        place = self._find(name)
        if place is None:
            folders = ", ".join(str(p) for p in self.paths)
            raise _error(f"there is no file {name!r} to include", span, f"looked in {folders}")
        path = place.resolve()
        if self._is_open(str(path), span):
            raise _error(f"{name!r} includes itself", span)
        try:
            known = self.texts.get(str(path))
            content = files.read_bytes(path) if known is None else known.encode()
            text = files.program_text(content)
        except (OSError, UnicodeDecodeError) as e:
            raise _error(f"{name!r} can't be read: {e}", span) from None
        self.files.append(path)
        self.seen[place] = files.digest(content)
        return self._source(str(path), name, text, span)

    def _known(self, name: str, span: Span) -> Source:
        """A file whose text is known, which may be there no more."""
        if self._is_open(name, span):
            raise _error(f"{name!r} includes itself", span)
        return self._source(name, name, self.program.includes[name], span)

    def _source(self, path: str, name: str, text: str, span: Span) -> Source:
        """A file's source, with its place among all that are included: a file that is included again has one."""
        self.named[name] = text
        before = takewhile(lambda other: other != name, self.named)
        return Source(path, text, span, base=sum(len(self.named[n]) + 1 for n in before))

    def _find(self, name: str) -> Path | None:
        """Where the file is named, which may be a link: another target of the link is another file.

        As in stanc the name is put behind the folder's: a slash in front names nothing of the root, `..` may leave it.
        """
        for folder in self.paths:
            place = folder.absolute() / name.lstrip("/")
            if files.is_file(place):
                return place
            self.seen[place] = files.state(place)
        return None

    def _is_open(self, path: str, span: Span) -> bool:
        """Whether a file is being read when an include is met: it stands in that file, or in one that includes it."""
        at: Span | None = span
        while at is not None and at.source.included_at is not None:
            if at.source.name == path:
                return True
            at = at.source.included_at
        return path == self.own


def _error(message: str, span: Span, hint: str = "") -> StanSyntaxError:
    return StanSyntaxError([Diagnostic(message, span, hint, code="include")])
