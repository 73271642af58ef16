"""What tells one version of a package from another, without importing it."""
from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path


@cache
def text_of(package: str) -> bytes:
    """The file in which a package tells its version; else the version as its metadata have it, which take 20 ms."""
    spec = importlib.util.find_spec(package)
    try:
        return (Path(str(spec and spec.origin)).parent / "version.py").read_bytes()
    except OSError:  # of a package without, or in an archive
        from importlib import metadata

        return metadata.version(package).encode()
