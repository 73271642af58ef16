"""Libraries that belong to an extra of the package: who lacks one is told what to install."""
from __future__ import annotations

import importlib.util

from .errors import MissingLibraryError


def require(*libraries: str, extra: str) -> None:
    """Raise MissingLibraryError, which names the extra, unless the libraries are installed."""
    for library in libraries:
        if importlib.util.find_spec(library) is None:
            raise MissingLibraryError(f"this needs {library}: pip install 'stanimport[{extra}]'")
