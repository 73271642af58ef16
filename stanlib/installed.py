"""What belongs to installed distributions: their RECORDs list their files with digests.

Python's own search for distributions takes any folder on the module path, the working folder among them. Here only
folders count that somebody has installed into: those of site-packages, and those that PYTHONPATH names.
"""
from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit


def holds(path: Path, content: bytes) -> bool:
    """Whether a file with this content is that of an installed distribution, or came with a frozen application."""
    path = path.resolve()
    if _is_frozen(path):
        return True
    digest = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return digest in _recorded(path)


def has_package(origin: Path) -> bool:
    """Whether a top-level package or module, found in a file, is that of an installed distribution."""
    origin = origin.resolve()
    return _is_frozen(origin) or any(_recorded(origin)) or any(origin.is_relative_to(p) for p in _editable_projects())


def _recorded(path: Path) -> Iterator[str]:
    """The digests that RECORDs of the folder it was installed into have for a file."""
    for folder in folders():
        if path.is_relative_to(folder):
            name = path.relative_to(folder).as_posix()
            yield from (digest for record in _records(folder, name) for digest in _digests(record, name) if digest)


def folders() -> tuple[Path, ...]:
    """Where distributions are installed; entries of PYTHONPATH that depend on the working folder are none."""
    chosen = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    own = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages(), *user]
    paths = [Path(p) for p in (*chosen.split(os.pathsep), *own) if os.path.isabs(p)]
    return tuple(dict.fromkeys(p.resolve() for p in paths))


def _is_frozen(path: Path) -> bool:
    """Whether a file came with a frozen application, whose other files are its code."""
    bundle = getattr(sys, "_MEIPASS", None) if getattr(sys, "frozen", False) else None
    return bundle is not None and path.is_relative_to(Path(bundle).resolve())


def _records(folder: Path, name: str) -> Iterator[str]:
    """The RECORDs in a folder, or in an archive; first those of distributions that are called as the file's package."""
    if not folder.is_dir():
        from importlib.metadata import distributions

        yield from (d.read_text("RECORD") or "" for d in distributions(path=[str(folder)]))
        return
    top = name.partition("/")[0].lower()
    found = sorted(folder.glob("*.dist-info/RECORD"), key=lambda p: not p.parent.name.lower().startswith(f"{top}-"))
    yield from (p.read_text("utf-8", errors="replace") for p in found)


def _digests(record: str, name: str) -> Iterator[str]:
    lines = [line for line in record.splitlines() if name in line]
    return (digest for found, digest, *_ in csv.reader(lines) if found == name)


@lru_cache
def _editable_projects() -> tuple[Path, ...]:
    """The folders of projects that are installed in place."""
    from importlib.metadata import distributions

    found = []
    for distribution in distributions(path=[str(f) for f in folders()]):
        described = json.loads(distribution.read_text("direct_url.json") or "{}")
        if described.get("dir_info", {}).get("editable"):
            found.append(Path(unquote(urlsplit(described["url"]).path)).resolve())
    return tuple(found)
