"""Finding the files that `#include` names. Source: Stan Reference Manual, "Includes"."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import files
from .errors import Diagnostic, StanSyntaxError
from .source import Source, Span


class Includes:
    """Resolves includes in the given folders, else beside the program.

    `files` are the included ones. `seen` holds every place that was looked at, with the digest of what was there or
    nothing: a file that appears in an earlier folder would be taken instead.
    """

    def __init__(self, program: Source, paths: Sequence[Path] = ()):
        self.program = program
        self.paths = [Path(p) for p in paths] or [Path(program.name).parent]
        self.files: list[Path] = []
        self.seen: dict[Path, bytes] = {}

    def resolve(self, name: str, span: Span) -> Source:
        """The source of an included file.

        Raises:
            StanSyntaxError: if the file is missing, unreadable, or includes itself.
        """
        if not name:
            raise _error("#include names no file", span)
        place = self._find(name)
        if place is None:
            folders = ", ".join(str(p) for p in self.paths)
            raise _error(f"there is no file {name!r} to include", span, f"looked in {folders}")
        path = place.resolve()
        if str(path) in self._open_files(span):
            raise _error(f"{name!r} includes itself", span)
        try:
            content = files.read_bytes(path)
            text = content.decode("utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise _error(f"{name!r} can't be read: {e}", span) from None
        self.files.append(path)
        self.seen[place] = files.digest(content)
        return Source(str(path), text, span)

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

    def _open_files(self, span: Span) -> set[str]:
        """The files that are being read when an include is met: the one it stands in and those that include it."""
        files, at = {str(Path(span.source.name).resolve())}, span.source.included_at
        while at is not None:
            files.add(str(Path(at.source.name).resolve()))
            at = at.source.included_at
        return files


def _error(message: str, span: Span, hint: str = "") -> StanSyntaxError:
    return StanSyntaxError([Diagnostic(message, span, hint, code="include")])
